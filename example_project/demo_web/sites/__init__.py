"""The eight sites, by name: those with a wrapper first."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from demo_web.site import Site
from demo_web.sites.courier_express import CourierExpress
from demo_web.sites.daily_harbour import DailyHarbour
from demo_web.sites.greenbank_gazette import GreenbankGazette
from demo_web.sites.meridian_today import MeridianToday
from demo_web.sites.northgate_post import NorthgatePost
from demo_web.sites.rheinufer_bote import RheinuferBote
from demo_web.sites.severnye_vesti import SevernyeVesti
from demo_web.sites.signal_live import SignalLive

SITES: Mapping[str, Site] = MappingProxyType(
    {
        site.name: site
        for site in (
            DailyHarbour(),
            NorthgatePost(),
            GreenbankGazette(),
            CourierExpress(),
            SignalLive(),
            MeridianToday(),
            RheinuferBote(),
            SevernyeVesti(),
        )
    }
)
