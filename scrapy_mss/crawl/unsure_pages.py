"""Selects the pages of each site on which the model was least certain.

The pages that are stored are known here, so that only pages that belong to the selection are
compressed and written, fewer and fewer as the crawl reads more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from scrapy_mss.article import ArticleResult
from scrapy_mss.pages.addresses import site_of
from scrapy_mss.quality.unsure import AT_MOST, UnsurePage, UnsureStore, adding, compressed
from scrapy_mss.storage.checkpoints import Part
from scrapy_mss.storage.tables import MAX_UNSURE_SITES, Change

LONGEST_SITE: Final = 253  # characters of a host
LONGEST_URL: Final = 2000  # characters; few pages have a longer one
LONGEST_PAGE: Final = 2_000_000  # characters; a person looks at no larger ones
MAX_BYTES: Final = 2**23  # of pages in memory: a checkpoint takes them, and others are let go


class UnsurePages(Part):
    """The least sure pages of each site, as far as this crawl knows."""

    FAILED = (
        "unsure pages cannot be stored: %s. The crawl continues; further failures are only counted"
    )
    LOST = "%d unsure pages"

    def __init__(self, store: UnsureStore, minute: Callable[[], int]) -> None:
        super().__init__()
        self._minute = minute
        self._kept: dict[str, dict[str, float]] = {
            site: {page.url: page.sureness for page in pages}
            for site, pages in store.pages().items()
        }
        self._unsaved: dict[str, dict[UnsurePage, bytes]] = {}
        self._in_flight: dict[str, dict[UnsurePage, bytes]] = {}
        self._n_bytes = 0

    @property
    def lost(self) -> int:
        """How many pages could not be stored."""
        return sum(map(len, self._unsaved.values()))

    def page(self, url: str, html: str, result: ArticleResult) -> None:
        """Keep the page at *url* if its *result* is among the least sure ones of its site."""
        sureness, site = result.sureness, site_of(url)
        if sureness is None or not self._is_kept(site, url, sureness):
            return
        if len(html) > LONGEST_PAGE or len(url) > LONGEST_URL or self._n_bytes > MAX_BYTES:
            return
        kept = self._kept.setdefault(site, {})
        kept[url] = sureness
        if len(kept) > AT_MOST:
            del kept[max(kept, key=lambda each: (kept[each], each))]
        body = compressed(html)
        self._n_bytes += len(body)
        self._unsaved.setdefault(site, {})[UnsurePage(url, sureness, self._minute())] = body
        if self._n_bytes > MAX_BYTES:
            self.checkpoint()

    def take(self) -> Change | None:
        """What stores the pages that are not stored yet; None if there are none."""
        if not self._unsaved:
            return None
        self._in_flight, self._unsaved = self._unsaved, {}
        return adding(self._in_flight)

    def settle(self, _result: object, error: Exception | None) -> None:
        """Note that what was taken is stored; after an *error*, it is unsaved again."""
        batch, self._in_flight = self._in_flight, {}
        if error is None:
            self._n_bytes = _size(self._unsaved)
            return
        self.store_failed(error)
        for site, pages in batch.items():
            self._unsaved[site] = {**pages, **self._unsaved.get(site, {})}

    def _is_kept(self, site: str, url: str, sureness: float) -> bool:
        """Whether the page is among the least sure ones, or was and is to be brought up to date."""
        kept = self._kept.get(site)
        if kept is None:
            is_full = len(self._kept) >= 2 * MAX_UNSURE_SITES
            return bool(site) and len(site) <= LONGEST_SITE and not is_full
        if url in kept:
            return kept[url] != sureness
        return len(kept) < AT_MOST or sureness < max(kept.values())


def _size(pages: dict[str, dict[UnsurePage, bytes]]) -> int:
    return sum(len(body) for of_site in pages.values() for body in of_site.values())
