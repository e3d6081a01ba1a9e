"""Monitors for Spidermon (extra `spidermon`), which fail if there is an alarm for a site.

    SPIDERMON_SPIDER_CLOSE_MONITORS = ("scrapy_mss.monitors.QualitySuite",)

They check stats, which the add-on has set by the time Spidermon closes. If you enable the
components by hand, list `MssExtension` in EXTENSIONS before Spidermon.
"""

from __future__ import annotations

from typing import ClassVar

from spidermon import Monitor, MonitorSuite, monitors

from scrapy_mss import stats
from scrapy_mss.stats import PREFIX


@monitors.name("Quality of sites")
class QualityMonitor(Monitor):  # type: ignore[misc]  # Spidermon is not typed
    """Fails if a site of the crawl gives nothing, nothing new, or worse than in its own past."""

    @monitors.name("There is no alarm for a site")  # type: ignore[untyped-decorator]
    def test_no_site_has_an_alarm(self) -> None:
        begin = PREFIX + stats.QUALITY_ALARM.name.partition("{")[0]
        alarms = sorted(
            name.removeprefix(begin) for name in self.data.stats if name.startswith(begin)
        )
        self.assertFalse(alarms, f"alarms: {', '.join(alarms)}; see `scrapy mss report`")

    @monitors.name("The quality of sites was stored")  # type: ignore[untyped-decorator]
    def test_quality_was_stored(self) -> None:
        """Fail where nothing was evaluated, or the store has failed."""
        watched = self.data.stats.get(stats.QUALITY_ALARMS.of())
        self.assertIsNotNone(watched, "nothing was evaluated: MSS_REPORT is off, or the add-on is")
        failures = self.data.stats.get(stats.QUALITY_FAILED.of(), 0)
        self.assertEqual(failures, 0, f"the store of the quality of sites failed {failures} times")


class QualitySuite(MonitorSuite):  # type: ignore[misc]
    """What to look at when a spider closes."""

    monitors: ClassVar[list[type]] = [QualityMonitor]
