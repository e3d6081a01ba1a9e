"""The quality of all sites, the worst first: the data of the page and the JSON.

A site has a row if the list of sites names it, or if something was counted in the last weeks. Sites
are ordered by the number of alarms, then by how little is left of what they had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from shlex import quote
from typing import Any, Final, TypeAlias

from scrapy_mss.blocks.lessons import Lessons, SiteLesson
from scrapy_mss.pages.kinds import SHELL
from scrapy_mss.quality.alarms import (
    DAY,
    RECENT,
    WINDOW,
    Activity,
    Figure,
    Incident,
    figures,
    hour_text,
    incidents,
)
from scrapy_mss.quality.counts import (
    ARTICLES,
    KIND,
    KNOWN,
    MEASURES,
    PAGES,
    Counts,
)
from scrapy_mss.quality.fates import Coverage
from scrapy_mss.quality.store import Days, Losses, QualityStore
from scrapy_mss.storage.tables import Store

EPOCH: Final = date(1970, 1, 1)
MANY_SHELLS: Final = 0.1  # of a site's pages in a week; below it they are single odd pages
REPAIR: Final = "scrapy mss suggest"
RENDER: Final = "MSS_RENDER = 'auto' asks for them through a browser"
Alarm: TypeAlias = Figure | Incident


@dataclass(frozen=True, slots=True)
class RecentShare:
    """A share of the last week beside that of the weeks before, of what *text* says."""

    text: str
    now: float
    before: float | None


@dataclass(frozen=True, slots=True)
class SiteReport:
    """A site: what was counted of it on each of its *days*, how that compares, what is wrong.

    *activity* is what was tried and when; of a site without articles in these days, ever.
    """

    site: str
    days: Days
    figures: Mapping[str, Figure]
    activity: Activity
    incidents: Sequence[Incident] = ()
    is_listed: bool = False  # by `MSS_SITES`, or given to `NewsSpider`
    learned: SiteLesson | None = None  # by its labelled pages, ever
    losses: Losses = field(default_factory=Losses)  # examples

    @property
    def total(self) -> Counts:
        return sum(self.days.values(), Counter())

    @property
    def coverage(self) -> Coverage:
        return Coverage.of(self.total, self.losses)

    @property
    def alarms(self) -> list[Alarm]:
        """Declines and incidents, each measure once."""
        declined = [figure for figure in self.figures.values() if figure.declined]
        known = {figure.measure for figure in declined}
        return [*(each for each in self.incidents if each.measure not in known), *declined]

    @property
    def left(self) -> float:
        """How much is left of the measure that has declined most."""
        return min(
            (each.now / each.before for each in self.figures.values() if each.before), default=1.0
        )

    @property
    def error(self) -> str | None:
        last = self.activity.last_failure
        return None if last is None else self.activity.failed[last]

    @property
    def last_success(self) -> str:
        if self.activity.last_answer is not None:
            return hour_text(self.activity.last_answer)
        if self.activity.attempts or self.activity.tried:
            return "never"
        return "unknown" if self.days else "not tried"  # by an earlier version, that is

    def value(self, measure: str) -> float | None:
        """The current value of *measure*, or that of all days; None if nothing is known."""
        figure = self.figures.get(measure)
        return MEASURES[measure].value(self.total) if figure is None else figure.now

    def kinds(self, today: int) -> Iterator[RecentShare]:
        recent, earlier = Counter[str](), Counter[str]()
        for day, counts in self.days.items():
            (recent if day > today - RECENT else earlier).update(counts)
        for name in sorted(recent.keys() | earlier.keys()):
            if name.startswith(KIND):
                before = earlier[name] / earlier[KNOWN] if earlier[KNOWN] else None
                now = recent[name] / recent[KNOWN] if recent[KNOWN] else 0.0
                yield RecentShare(name.removeprefix(KIND), now, before)


@dataclass(frozen=True, slots=True)
class Report:
    """All sites by *today*, the worst first."""

    today: int
    sites: Sequence[SiteReport]
    rules: Mapping[str, str] = field(default_factory=dict)  # the file of each site's rule

    @property
    def first(self) -> int:
        return self.today - WINDOW + 1

    @property
    def alarms(self) -> list[Alarm]:
        return [alarm for site in self.sites for alarm in site.alarms]

    @property
    def total(self) -> Counts:
        return sum((site.total for site in self.sites), Counter())

    @property
    def advice(self) -> list[str]:
        repairs = [
            f"{site.site}: its rule may be outdated: {REPAIR} https://{site.site}/ --replace "
            f"{quote(self.rules[site.site])}"
            for site in self.sites
            if site.site in self.rules
            and any(alarm.measure.startswith("rule") for alarm in site.alarms)
        ]
        shells = [
            f"{site.site} ({kind.now:.0%})"
            for site in self.sites
            for kind in site.kinds(self.today)
            if kind.text == SHELL and kind.now >= MANY_SHELLS
        ]
        shown = f"pages that only scripts fill: {', '.join(shells)}; {RENDER}"
        return [*repairs, shown] if shells else repairs


def report_of(
    stored: Store, now: int, listed: Collection[str] = (), lessons: Lessons | None = None
) -> Report:
    """The report on the last weeks before the hour *now*, with all sites *listed*.

    *lessons* are those that crawls with the store have learned.
    """
    store = QualityStore(stored)
    sites = store.sites(now // DAY - WINDOW + 1)
    sites |= {site: {} for site in listed if site not in sites}
    found = report(sites, now, listed, with_past(store, sites))
    known = lessons or Lessons()
    losses = store.losses(sites)
    complete = []
    for site in found.sites:
        learned = known.of_site(f"https://{site.site}/")
        lost = losses.get(site.site, Losses())
        complete.append(replace(site, learned=learned, losses=lost))
    return replace(found, sites=complete)


def with_past(store: QualityStore, sites: Mapping[str, Days]) -> dict[str, Days]:
    """The days of *sites*, all that are stored of those without an article on these days.

    Whether such a site has ever worked, older days tell.
    """
    empty = (site for site, days in sites.items() if not any(d[ARTICLES] for d in days.values()))
    return {**sites, **dict(store.days(empty, 0))}


def report(
    sites: Mapping[str, Days],
    now: int,
    listed: Collection[str] = (),
    past: Mapping[str, Days] | None = None,
) -> Report:
    """What was counted of *sites*, evaluated in the hour *now*; in the *past* there may be more."""
    today, made = now // DAY, []
    for site, days in sites.items():
        known = (past or sites)[site]
        activity = Activity.of(known)
        is_listed = site in listed or activity.tried
        wrong = [*incidents(site, activity, now, is_listed=is_listed)]
        found = figures(site, days, today)
        made.append(SiteReport(site, days, found, activity, wrong, is_listed))
    made.sort(key=lambda each: (-len(each.alarms), each.left, each.site))
    return Report(today, made)


def plural(number: int, thing: str) -> str:
    """Such as "1 site" and "2 sites"."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def date_of(day: int) -> date:
    """The date of a *day*, in days since 1970."""
    return EPOCH + timedelta(days=day)


def as_json(found: Report) -> dict[str, Any]:
    """The report as JSON has it; days are dates, shares from 0 to 1."""
    return {
        "first": date_of(found.first).isoformat(),
        "last": date_of(found.today).isoformat(),
        "alarms": len(found.alarms),
        "advice": found.advice,
        "sites": [_site_json(site, found.today) for site in found.sites],
    }


def _site_json(site: SiteReport, today: int) -> dict[str, Any]:
    return {
        "site": site.site,
        "pages": site.total[PAGES],
        "articles": site.total[ARTICLES],
        "lists": site.activity.lists,
        "last_success": _moment(site.activity.last_answer),
        "last_error": _moment(site.activity.last_failure),
        "error": site.error,
        "measures": _known({name: site.value(name) for name in MEASURES}),
        "alarms": [_alarm_json(alarm) for alarm in site.alarms],
        "learned": None if site.learned is None else _known(site.learned._asdict()),
        "kinds": [
            {"text": each.text, "now": _rounded(each.now), "before": _rounded(each.before)}
            for each in site.kinds(today)
        ],
        "coverage": site.coverage.as_json(),
        "days": [_day_json(day, counts) for day, counts in sorted(site.days.items())],
    }


def _alarm_json(alarm: Alarm) -> dict[str, Any]:
    known = {"measure": alarm.measure, "summary": str(alarm)}
    if isinstance(alarm, Incident):
        return {**known, "since": _moment(alarm.since)}
    return {
        **known,
        "since": date_of(alarm.since).isoformat(),
        "before": _rounded(alarm.before),
        "now": _rounded(alarm.now),
        "pages": alarm.pages,
    }


def _moment(hour: int | None) -> str | None:
    """An *hour* since 1970 as JSON has it."""
    if hour is None:
        return None
    return f"{date_of(hour // DAY).isoformat()}T{hour % DAY:02}:00Z"


def _day_json(day: int, counts: Counts) -> dict[str, Any]:
    return {
        "day": date_of(day).isoformat(),
        "pages": counts[PAGES],
        "articles_found": counts[ARTICLES],
        "fates": Coverage.of(counts, Losses()).as_json()["fates"],
        **_known({name: each.value(counts) for name, each in MEASURES.items()}),
    }


def _known(values: Mapping[str, float | None]) -> dict[str, float]:
    """Those of the *values* that are known, rounded."""
    return {name: round(value, 4) for name, value in values.items() if value is not None}


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)
