"""The pages on which the model was least certain, a few per site, as rows of a store.

These are the pages to inspect, in order to label them or to fix a rule. A row for each site says
which they are, and each has a row with its HTML.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Final, NamedTuple

from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.files.untrusted import LARGEST_PAGE
from scrapy_mss.storage.tables import (
    MAX_UNSURE_PAGES,
    UNSURE,
    UNSURE_PAGES,
    Change,
    Key,
    Row,
    Rows,
    Store,
    StoreError,
)

AT_MOST: Final = MAX_UNSURE_PAGES  # of a site


class UncertainPage(NamedTuple):
    """A page that was read in a *minute* since 1970, and how sure its reading was, from 0 to 1."""

    url: str
    certainty: float
    minute: int


class UncertainStore:
    """The least certain pages of sites in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def name(self) -> str:
        return self._store.name

    def pages(self) -> dict[str, list[UncertainPage]]:
        """The pages of each site, the least certain one first."""
        keys = [(UNSURE, key) for key in self._store.used_since(UNSURE, 0)]
        found = self._store.get(keys)
        sites = {_text(key): _pages(value) for (_, key), value in found.items()}
        return {site: pages for site, pages in sorted(sites.items()) if pages}

    def stored(self, site: str) -> Iterator[StoredPage]:
        """The pages of *site* with their HTML, the least certain one first."""
        row = UNSURE.key(site)
        for page in _pages(self._store.get([row]).get(row, b"")):
            body = self._store.get([_row(site, page.url)]).get(_row(site, page.url))
            if body is not None:
                yield StoredPage(page.url, self._unpacked(page.url, body))

    def _unpacked(self, url: str, body: bytes) -> str:
        try:
            html = zlib.decompressobj().decompress(body, LARGEST_PAGE)
            return html.decode("utf-8", "surrogatepass")
        except (UnicodeDecodeError, zlib.error) as error:
            raise StoreError(f"{self.name}: the page {url!r} is damaged: {error}") from error


def adding(pages: Mapping[str, Mapping[UncertainPage, bytes]]) -> Change:
    """The change that adds *pages* with their `compressed` HTML; the least certain are kept."""
    return Change([UNSURE.key(site) for site in pages], partial(_with, pages))


def compressed(html: str) -> bytes:
    """*html* as it is stored."""
    return zlib.compress(html.encode("utf-8", "surrogatepass"))


def _with(pages: Mapping[str, Mapping[UncertainPage, bytes]], found: Rows) -> dict[Key, Row | None]:
    rows: dict[Key, Row | None] = {}
    for site, of_site in pages.items():
        known = {page.url: page for page in _pages(found.get(UNSURE.key(site), b""))}
        all_pages = {**known, **{page.url: page for page in of_site}}.values()
        least = sorted(all_pages, key=lambda page: (page.certainty, page.url))
        rows |= {_row(site, page.url): None for page in least[AT_MOST:] if page.url in known}
        rows |= {
            _row(site, page.url): Row(body, page.minute)
            for page, body in of_site.items()
            if page in least[:AT_MOST]
        }
        rows[UNSURE.key(site)] = _row_of(least[:AT_MOST])
    return rows


def _row_of(pages: Iterable[UncertainPage]) -> Row:
    listed = list(pages)
    return Row(json.dumps(listed).encode(), max(page.minute for page in listed))


def _pages(value: bytes) -> list[UncertainPage]:
    """The pages in the row of a site, the least certain one first; none if it is damaged."""
    try:
        return [
            UncertainPage(str(url), float(sure), int(at)) for url, sure, at in json.loads(value)
        ]
    except (OverflowError, RecursionError, TypeError, ValueError):
        return []


def _row(site: str, url: str) -> Key:
    return UNSURE_PAGES.key(f"{site} {url}")


def _text(key: bytes) -> str:
    return key.decode("utf-8", "surrogatepass")
