"""The counts of each site and day, as rows of a store; a row for each site says which days it has.

A checkpoint adds what was counted since the last one.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Final, TypeAlias

from scrapy_mss.quality.counts import Counts, added, bounded
from scrapy_mss.storage.tables import DAY as MINUTES_A_DAY
from scrapy_mss.storage.tables import QUALITY, QUALITY_DAYS, Change, Key, Row, Rows, Store

logger = logging.getLogger(__name__)

AT_ONCE: Final = 100  # sites whose days are in memory

SiteDay: TypeAlias = tuple[str, int]  # a site and a day, in days since 1970
Days: TypeAlias = dict[int, Counts]


class QualityStore:
    """The counts of sites by day in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def name(self) -> str:
        return self._store.name

    def add(self, counted: Mapping[SiteDay, Counts]) -> None:
        """Add counts in a transaction of their own."""
        self._store.write([adding(counted)])

    def days(self, sites: Iterable[str], since: int) -> Iterator[tuple[str, Days]]:
        asked = list(sites)
        for at in range(0, len(asked), AT_ONCE):
            some = asked[at : at + AT_ONCE]
            of_sites = self._store.get([QUALITY.key(site) for site in some])
            days = {site: _days(of_sites.get(QUALITY.key(site))) for site in some}
            found = self._store.get(
                [_row(site, day) for site in some for day in days[site] if day >= since]
            )
            for site in some:
                rows = ((day, found.get(_row(site, day))) for day in days[site])
                yield site, {day: _counts(site, row) for day, row in rows if row is not None}

    def sites(self, since: int) -> dict[str, Days]:
        keys = self._store.used_since(QUALITY, since * MINUTES_A_DAY)
        return dict(self.days(sorted(key.decode("utf-8", "surrogatepass") for key in keys), since))


def adding(counted: Mapping[SiteDay, Counts]) -> Change:
    """The change that adds the counts of each site and day."""
    reads = [row for site, day in counted for row in (QUALITY.key(site), _row(site, day))]
    return Change(reads, partial(_with, dict(counted)))


def _with(counted: Mapping[SiteDay, Counts], found: Rows) -> dict[Key, Row | None]:
    rows: dict[Key, Row | None] = {}
    of_sites: dict[str, set[int]] = {}
    for (site, day), counts in counted.items():
        used, row = day * MINUTES_A_DAY, _row(site, day)
        total = added(_counts(site, found[row]), counts) if row in found else counts
        rows[row] = Row(json.dumps(bounded(+total)).encode(), used)
        known = of_sites.setdefault(site, _days(found.get(QUALITY.key(site))))
        known.add(day)
        kept = sorted(each for each in known if each > max(known) - QUALITY_DAYS.days)
        rows[QUALITY.key(site)] = Row(json.dumps(kept).encode(), max(known) * MINUTES_A_DAY)
    return rows


def _row(site: str, day: int) -> Key:
    return QUALITY_DAYS.key(f"{day}:{site}")


def _days(value: bytes | None) -> set[int]:
    """The days in the row of a site; none if it is damaged."""
    try:
        return set(map(int, json.loads(value or "[]")))
    except (OverflowError, RecursionError, TypeError, ValueError):
        return set()


def _counts(site: str, value: bytes) -> Counts:
    """The counts in a row; none if it is damaged: counting starts from zero."""
    try:
        return Counter({str(name): int(count) for name, count in json.loads(value).items()})
    except (AttributeError, OverflowError, RecursionError, TypeError, ValueError):
        logger.warning("scrapy-mss: the counts of %.253r on a day are damaged, and left out", site)
        return Counter()
