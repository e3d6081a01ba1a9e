"""What a store keeps for the report, as rows: counts, lost articles, and uncertain pages.

Counts
    A row for each site and day, and one for each site that says which days it has.
Losses
    Announced addresses that did not come out: a row for each site has a few examples of each fate,
    and the keys of those lost last. Each crawl asks for some of them again, every hour perhaps, and
    as a loss they are to count once.
Uncertain pages
    Those on which the model was least certain, to be labelled, or to fix a rule by them. A row for
    each site says which they are, and each has a row with its HTML.
"""

from __future__ import annotations

import json
import logging
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.files.untrusted import LARGEST_PAGE
from scrapy_mss.quality.counts import Counts, added, bounded
from scrapy_mss.storage.tables import DAY as MINUTES_A_DAY
from scrapy_mss.storage.tables import (
    LOSSES,
    MAX_UNSURE_PAGES,
    QUALITY,
    QUALITY_DAYS,
    UNSURE,
    UNSURE_PAGES,
    Change,
    Key,
    Row,
    Rows,
    Store,
    StoreError,
)

logger = logging.getLogger(__name__)

T = TypeVar("T")
DAMAGED: Final = (AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError)
AT_ONCE: Final = 100  # sites whose days are in memory

# Of losses.
EXAMPLES: Final = 3  # of a fate: somebody looks at each
MAX_KEYS: Final = 300  # of a site; a crawl asks for some two hundred
LONGEST_URL: Final = 500  # characters

SiteDay: TypeAlias = tuple[str, int]  # a site and a day, in days since 1970
Days: TypeAlias = dict[int, Counts]
Examples: TypeAlias = dict[str, dict[str, int]]  # addresses by the name of their fate, and when


def _read(value: bytes | None, made: Callable[[Any], T]) -> T | None:
    """What is *made* of the JSON in a row; None if there is no row, or if it is damaged."""
    try:
        return None if value is None else made(json.loads(value))
    except DAMAGED:
        return None


class QualityStore:
    """What the report is made of, in a store."""

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
        return dict(self.days(sorted(map(_site, keys)), since))

    def losses(self, sites: Iterable[str]) -> LossesOfSites:
        names = {LOSSES.key(site): site for site in sites}
        found = self._store.get(names, patient=False)
        return {names[row]: _losses(value) for row, value in found.items()}

    def uncertain(self) -> dict[str, list[UncertainPage]]:
        """The uncertain pages of each site, the least certain one first."""
        keys = [(UNSURE, key) for key in self._store.used_since(UNSURE, 0)]
        found = self._store.get(keys).items()
        sites = {_site(key): _unsure_pages(value) for (_, key), value in found}
        return {site: pages for site, pages in sorted(sites.items()) if pages}

    def uncertain_pages(self, site: str) -> Iterator[StoredPage]:
        """The pages of *site* with their HTML, the least certain one first."""
        row = UNSURE.key(site)
        for page in _unsure_pages(self._store.get([row]).get(row)):
            row = _page_row(site, page.url)
            body = self._store.get([row]).get(row)
            if body is not None:
                yield StoredPage(page.url, self._unpacked(page.url, body))

    def _unpacked(self, url: str, body: bytes) -> str:
        try:
            html = zlib.decompressobj().decompress(body, LARGEST_PAGE)
            return html.decode("utf-8", "surrogatepass")
        except (UnicodeDecodeError, zlib.error) as error:
            raise StoreError(f"{self.name}: the page {url!r} is damaged: {error}") from error


def _site(key: bytes) -> str:
    return key.decode("utf-8", "surrogatepass")


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
    return _read(value, lambda days: set(map(int, days))) or set()


def _counts(site: str, value: bytes) -> Counts:
    """The counts in a row; none if it is damaged: counting starts from zero."""
    counts = _read(value, lambda row: Counter({str(name): int(n) for name, n in row.items()}))
    if counts is None:
        logger.warning("scrapy-mss: the counts of %.253r on a day are damaged, and left out", site)
    return counts or Counter()


# --- losses ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class Losses:
    """Those of a site, the latest last."""

    examples: Examples = field(default_factory=dict)
    keys: dict[int, None] = field(default_factory=dict)

    def add(self, fate: str, url: str, minute: int) -> None:
        if len(url) <= LONGEST_URL:
            self.update(Losses({fate: {url: minute}}))

    def remove(self, fate: str, url: str, key: int) -> None:
        self.examples.get(fate, {}).pop(url, None)
        self.keys.pop(key, None)

    def update(self, later: Losses) -> None:
        for fate, urls in later.examples.items():
            known = {url: at for url, at in self.examples.get(fate, {}).items() if url not in urls}
            self.examples[fate] = dict([*known.items(), *urls.items()][-EXAMPLES:])
        keys = [key for key in self.keys if key not in later.keys]
        self.keys = dict.fromkeys([*keys, *later.keys][-MAX_KEYS:])


LossesOfSites: TypeAlias = dict[str, Losses]


def adding_losses(losses: Mapping[str, Losses], minute: int) -> Change:
    """The change that adds *losses* in this *minute*."""
    return Change([LOSSES.key(site) for site in losses], partial(_with_losses, losses, minute))


def _with_losses(losses: Mapping[str, Losses], minute: int, found: Rows) -> dict[Key, Row | None]:
    rows: dict[Key, Row | None] = {}
    for site, later in losses.items():
        row = LOSSES.key(site)
        total = _losses(found.get(row))
        total.update(later)
        written = {"examples": total.examples, "keys": [*total.keys]}
        rows[row] = Row(json.dumps(written).encode(), minute)
    return rows


def _losses(value: bytes | None) -> Losses:
    def losses(row: Any) -> Losses:  # noqa: ANN401 - from JSON
        examples = {
            str(fate): {str(url): int(at) for url, at in urls.items()}
            for fate, urls in row["examples"].items()
        }
        return Losses(examples, dict.fromkeys(map(int, row["keys"])))

    return _read(value, losses) or Losses()


# --- uncertain pages ------------------------------------------------------------------------------


class UncertainPage(NamedTuple):
    """A page that was read in a *minute* since 1970, and how sure its reading was, from 0 to 1."""

    url: str
    certainty: float
    minute: int


def adding_pages(pages: Mapping[str, Mapping[UncertainPage, bytes]]) -> Change:
    """The change that adds *pages* with their `compressed` HTML; the least certain are kept."""
    return Change([UNSURE.key(site) for site in pages], partial(_with_pages, pages))


def compressed(html: str) -> bytes:
    """*html* as it is stored."""
    return zlib.compress(html.encode("utf-8", "surrogatepass"))


def _with_pages(
    pages: Mapping[str, Mapping[UncertainPage, bytes]], found: Rows
) -> dict[Key, Row | None]:
    rows: dict[Key, Row | None] = {}
    for site, of_site in pages.items():
        known = {page.url: page for page in _unsure_pages(found.get(UNSURE.key(site)))}
        all_pages = {**known, **{page.url: page for page in of_site}}.values()
        least = sorted(all_pages, key=lambda page: (page.certainty, page.url))
        kept, left_out = least[:MAX_UNSURE_PAGES], least[MAX_UNSURE_PAGES:]
        rows |= {_page_row(site, page.url): None for page in left_out if page.url in known}
        new = ((page, body) for page, body in of_site.items() if page in kept)
        rows |= {_page_row(site, page.url): Row(body, page.minute) for page, body in new}
        latest = max(page.minute for page in kept)
        rows[UNSURE.key(site)] = Row(json.dumps(kept).encode(), latest)
    return rows


def _unsure_pages(value: bytes | None) -> list[UncertainPage]:
    """The pages in the row of a site, the least certain one first."""

    def pages(rows: Any) -> list[UncertainPage]:  # noqa: ANN401 - from JSON
        return [UncertainPage(str(url), float(sure), int(at)) for url, sure, at in rows]

    return _read(value, pages) or []


def _page_row(site: str, url: str) -> Key:
    return UNSURE_PAGES.key(f"{site} {url}")
