"""The quality of all sites, the worst first: the data of the page and the JSON.

Sites are ordered by how many measures have declined, then by how little is left of what they had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from typing import Any, Final

from scrapy_mss.quality.alarms import LAYOUT, RECENT, WINDOW, Figure, figures, silence
from scrapy_mss.quality.counts import (
    ARTICLES,
    LABELLED,
    PAGES,
    SCALES,
    SELECTOR,
    SHARES,
    Counts,
)
from scrapy_mss.quality.store import Days, DayStore

EPOCH: Final = date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class RuleSelector:
    """A selector of a site's rule: the share of labelled pages that it hit, of late and before."""

    text: str
    now: float
    before: float | None


@dataclass(frozen=True, slots=True)
class SiteReport:
    """A site: what was counted of it on each of its *days*, and how that compares."""

    site: str
    days: Days
    figures: Sequence[Figure]

    @property
    def total(self) -> Counts:
        """What was counted on all days."""
        return sum(self.days.values(), Counter())

    @property
    def declined(self) -> list[Figure]:
        """What has declined."""
        return [figure for figure in self.figures if figure.declined]

    @property
    def left(self) -> float:
        """Of what has lost most, how much is left."""
        return min((each.now / each.before for each in self.figures if each.before), default=1.0)

    def figure(self, measure: str) -> Figure | None:
        """How *measure* compares with before, if there is a before."""
        return next((each for each in self.figures if each.measure == measure), None)

    def value(self, measure: str) -> float | None:
        """What *measure* is now, without a before that of all days; None if nothing is known."""
        figure = self.figure(measure)
        return value(self.total, measure) if figure is None else figure.now

    def selectors(self, today: int) -> Iterator[RuleSelector]:
        """The selectors of the site's rule, those of the last week beside those before."""
        recent, earlier = self._split(today)
        names = sorted({name for name in recent + earlier if name.startswith(SELECTOR)})
        names += sorted(
            {name for counts in self.days.values() for name in counts if name.startswith(SELECTOR)}
            - set(names)
        )
        for name in sorted(names):
            before = earlier[name] / earlier[LABELLED] if earlier[LABELLED] else None
            now = recent[name] / recent[LABELLED] if recent[LABELLED] else 0.0
            yield RuleSelector(name.removeprefix(SELECTOR), now, before)

    def _split(self, today: int) -> tuple[Counts, Counts]:
        """What was counted in the last week, and before."""
        recent: Counts = Counter()
        earlier: Counts = Counter()
        for day, counts in self.days.items():
            (recent if day > today - RECENT else earlier).update(counts)
        return recent, earlier


@dataclass(frozen=True, slots=True)
class Report:
    """All sites by *today*, the worst first."""

    today: int
    sites: Sequence[SiteReport]

    @property
    def first(self) -> int:
        """The first day that is looked at."""
        return self.today - WINDOW + 1

    @property
    def declined(self) -> list[Figure]:
        """What has declined, on all sites."""
        return [figure for site in self.sites for figure in site.declined]

    @property
    def total(self) -> Counts:
        """What was counted, of all sites."""
        return sum((site.total for site in self.sites), Counter())


def report_of(store: DayStore, today: int) -> Report:
    """What *store* holds of the last weeks before *today*."""
    return report(store.sites(today - WINDOW + 1), today)


def report(sites: Mapping[str, Days], today: int) -> Report:
    """What was counted of *sites*, judged by *today*."""
    crawled = {day for days in sites.values() for day in days}
    made = []
    for site, days in sites.items():
        silent = silence(site, days, crawled)
        found = figures(site, days, today) + ([silent] if silent else [])
        made.append(SiteReport(site, days, found))
    made.sort(key=lambda each: (-len(each.declined), each.left, each.site))
    return Report(today, made)


def value(counts: Counts, measure: str) -> float | None:
    """What *measure* is of these *counts*: a share or a median; None if there is nothing to say."""
    for share in SHARES:
        if share.name == measure:
            return counts[share.counted] / counts[share.of] if counts[share.of] else None
    for scale in SCALES:
        if scale.name == measure:
            return scale.quantile(counts, 0.5)
    return None


def date_of(day: int) -> date:
    """The date of a *day*, in days since 1970."""
    return EPOCH + timedelta(days=day)


MEASURES: Final = (*(row.name for row in SHARES), *(row.name for row in SCALES), LAYOUT)


def as_json(found: Report) -> dict[str, Any]:
    """The report as JSON has it; days are dates, shares from 0 to 1."""
    return {
        "first": date_of(found.first).isoformat(),
        "last": date_of(found.today).isoformat(),
        "alarms": len(found.declined),
        "sites": [_site_json(site, found.today) for site in found.sites],
    }


def _site_json(site: SiteReport, today: int) -> dict[str, Any]:
    return {
        "site": site.site,
        "pages": site.total[PAGES],
        "articles": site.total[ARTICLES],
        "measures": {
            measure: _rounded(site.value(measure))
            for measure in MEASURES
            if site.value(measure) is not None
        },
        "alarms": [_figure_json(figure) for figure in site.declined],
        "selectors": [
            {**asdict(each), "now": _rounded(each.now), "before": _rounded(each.before)}
            for each in site.selectors(today)
        ],
        "days": [_day_json(day, counts) for day, counts in sorted(site.days.items())],
    }


def _figure_json(figure: Figure) -> dict[str, Any]:
    return {
        "measure": figure.measure,
        "before": _rounded(figure.before),
        "now": _rounded(figure.now),
        "pages": figure.pages,
        "since": date_of(figure.since).isoformat(),
        "summary": str(figure),
    }


def _day_json(day: int, counts: Counts) -> dict[str, Any]:
    measures = {name: _rounded(value(counts, name)) for name in MEASURES}
    return {
        "day": date_of(day).isoformat(),
        "pages": counts[PAGES],
        "articles_found": counts[ARTICLES],
        **{name: each for name, each in measures.items() if each is not None},
    }


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)
