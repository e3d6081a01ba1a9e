"""Selects the pages of each site on which the model was least certain.

The thread of the checkpoints writes them. The kept pages are known here, so that only pages that
belong to the selection are compressed and written, fewer and fewer as the crawl reads more. Pages
are skipped while the thread is busy; there will be others.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import wait as done
from functools import partial
from pathlib import Path
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Final, TypeAlias

from scrapy.utils.project import data_path

from scrapy_mss.article import ArticleResult
from scrapy_mss.pages.addresses import site_of
from scrapy_mss.quality.unsure import MAX_SITES, UnsurePage, UnsureStore, UnsureStoreError

if TYPE_CHECKING:
    from scrapy_mss.settings import Options

logger = logging.getLogger(__name__)

UNSURE_FILE: Final = "mss/unsure.db"
LONGEST_SITE: Final = 253  # characters of a host
LONGEST_URL: Final = 2000  # characters; few pages have a longer one
LONGEST_PAGE: Final = 2_000_000  # characters; a person looks at no larger ones
Run: TypeAlias = Callable[[Callable[[], None]], Future[None]]  # in a thread, one after the other

WAITING: Final = 16  # pages in memory that the thread has not written yet


def unsure_path(named: str) -> Path:
    """The file *named* by MSS_UNSURE_FILE, else one in the folder `.scrapy`, which jobs share."""
    return Path(named or data_path(UNSURE_FILE))


def unsure_pages(options: Options, minute: Callable[[], int], run: Run) -> UnsurePages | None:
    """What keeps the least sure pages, if a setting asks for any; an unusable file stops here."""
    if not options.unsure_pages:
        return None
    store = UnsureStore(unsure_path(options.unsure_file))
    store.check()
    return UnsurePages(store, options.unsure_pages, minute, run)


class UnsurePages:
    """The *at_most* least sure pages of each site, as far as this crawl knows."""

    def __init__(
        self, store: UnsureStore, at_most: int, minute: Callable[[], int], run: Run
    ) -> None:
        """Have *run* write them in a thread, in the order of its calls."""
        self._store = store
        self._run = run
        self._at_most = at_most
        self._minute = minute
        self._kept: dict[str, dict[str, float]] = {
            site: {page.url: page.sureness for page in pages}
            for site, pages in store.pages().items()
        }
        self._room = BoundedSemaphore(WAITING)
        self.failures = 0

    def page(self, url: str, html: str, result: ArticleResult) -> None:
        """Keep the page at *url* if its *result* is among the least sure ones of its site."""
        sureness, site = result.sureness, site_of(url)
        if sureness is None or not self._is_kept(site, url, sureness):
            return
        if len(html) > LONGEST_PAGE or len(url) > LONGEST_URL or not self._room.acquire(False):
            return
        kept = self._kept.setdefault(site, {})
        kept[url] = sureness
        if len(kept) > self._at_most:
            del kept[max(kept, key=lambda each: (kept[each], each))]
        page = UnsurePage(url, sureness, self._minute())
        write = self._run(partial(self._store.add, site, page, html, self._at_most))
        write.add_done_callback(self._written)

    def close(self) -> None:
        """Write what waits, and forget the oldest of too many sites."""
        forgetting = self._run(self._store.forget_sites)
        forgetting.add_done_callback(self._tell)
        done([forgetting])

    def _is_kept(self, site: str, url: str, sureness: float) -> bool:
        """Whether the page is among the least sure ones, or was and is to be brought up to date."""
        kept = self._kept.get(site)
        if kept is None:
            return bool(site) and len(site) <= LONGEST_SITE and len(self._kept) < 2 * MAX_SITES
        if url in kept:
            return kept[url] != sureness
        return len(kept) < self._at_most or sureness < max(kept.values())

    def _written(self, write: Future[None]) -> None:
        self._room.release()
        self._tell(write)

    def _tell(self, write: Future[None]) -> None:
        """Count a write that failed, and log the first one."""
        error = write.exception()
        if error is None:
            return
        if not isinstance(error, (UnsureStoreError, OSError)):
            logger.error("scrapy-mss: an unsure page is lost", exc_info=error)
        self.failures += 1
        if self.failures == 1:
            logger.warning(
                "scrapy-mss: unsure pages cannot be stored: %s. The crawl continues; further "
                "failures are only counted",
                error,
            )
