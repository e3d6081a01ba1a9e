"""The sites that a crawl meets: in memory while they are used, in the store between checkpoints.

What was learned since the last checkpoint is kept apart, and a checkpoint adds it to the store.
Memory is bounded: beyond so many bytes, the sites that were used longest ago are written and
forgotten; without a store they are forgotten alone.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Collection
from time import time
from typing import Protocol

from scrapy_mss.metadata.sites import site_of
from scrapy_mss.sites.layout import LayoutWatch
from scrapy_mss.sites.memory import SiteMemory, period_of
from scrapy_mss.sites.visit import Lesson, Visit

# A page may be read twice, for its labels and for its article, shortly after one another.
MAX_TAUGHT = 10_000

logger = logging.getLogger(__name__)


class Store(Protocol):
    """Where memories are kept between crawls."""

    def load(self, site: str) -> SiteMemory:
        """What is known of *site*."""

    def add(self, learned: dict[str, SiteMemory], minute: int, anew: Collection[str] = ()) -> None:
        """Add what was *learned* of each site; of those in *anew*, forget what was there."""


def minute_now() -> int:
    """The minutes since 1970."""
    return int(time() // 60)


class CrawledSites:
    """The memories of the sites of one crawl."""

    def __init__(
        self, store: Store | None, max_bytes: int, now: Callable[[], int] = minute_now
    ) -> None:
        """Keep up to *max_bytes* in memory, and the rest in *store*, if there is one."""
        self._store = store
        self._max_bytes = max_bytes
        self._now = now
        self._known: OrderedDict[str, SiteMemory] = OrderedDict()  # used last is last
        self._learned: dict[str, SiteMemory] = {}  # since the last checkpoint
        self._anew: set[str] = set()  # sites that have changed since then
        self._taught: dict[str, None] = {}  # addresses, the latest last
        self._watches: dict[str, LayoutWatch] = {}  # of the sites in memory
        self._bytes = 0
        self.pages = 0  # that were learned
        self.changed = 0  # sites whose layout has
        self.failures = 0  # of the store

    def __len__(self) -> int:
        return len(self._known)

    def visit(self, url: str) -> Visit:
        """The page at *url*, to be read now."""
        minute = self._now()
        return Visit(self._recalled(site_of(url)).at(period_of(minute)), minute)

    def learn(self, url: str, lesson: Lesson) -> None:
        """Remember what the page at *url* taught; in one crawl, each address teaches once."""
        if not lesson.added.pages or url in self._taught:
            return
        self._taught[url] = None
        if len(self._taught) > MAX_TAUGHT:
            del self._taught[next(iter(self._taught))]
        site = site_of(url)
        self.pages += 1
        if self._watches.setdefault(site, LayoutWatch()).has_changed(lesson.agreement):
            self._begin_anew(site)
        self._put(site, self._recalled(site).plus(lesson.added))
        self._learned[site] = self._learned.get(site, SiteMemory()).plus(lesson.added)

    def _begin_anew(self, site: str) -> None:
        """Forget a site whose layout has changed: what is known of it misleads."""
        self.changed += 1
        logger.info(
            "scrapy-mss: %s has changed its layout; what was known of it is forgotten", site
        )
        self._anew.add(site)
        self._learned.pop(site, None)
        self._put(site, SiteMemory())

    def checkpoint(self) -> None:
        """Write what was learned; if that fails, it is kept for the next time."""
        if self._store is None or not self._learned:
            return
        try:
            self._store.add(self._learned, self._now(), self._anew)
        except OSError as error:
            self._failed(error)
        else:
            self._learned, self._anew = {}, set()

    def _recalled(self, site: str) -> SiteMemory:
        """What is known of *site*, which is used now."""
        if site in self._known:
            self._known.move_to_end(site)
            return self._known[site]
        memory = SiteMemory()
        if self._store is not None:
            try:
                memory = self._store.load(site)
            except OSError as error:
                self._failed(error)
        self._put(site, memory.plus(self._learned.get(site, SiteMemory())))
        return self._known[site]

    def _put(self, site: str, memory: SiteMemory) -> None:
        before = self._known.get(site)
        self._bytes += memory.size - (before.size if before else 0)
        self._known[site] = memory
        self._known.move_to_end(site)
        while self._bytes > self._max_bytes and len(self._known) > 1:
            self._forget_one()

    def _forget_one(self) -> None:
        """Drop the site that was used longest ago; what was learned of it is written before."""
        site = next(iter(self._known))
        if site in self._learned:
            self.checkpoint()
            self._learned.pop(site, None)  # lost only if there is no store, or it failed
        self._bytes -= self._known.pop(site).size
        self._watches.pop(site, None)

    def _failed(self, error: OSError) -> None:
        """Log the first failure of the store; further ones are only counted."""
        self.failures += 1
        if self.failures == 1:
            logger.warning(
                "scrapy-mss: the memory of sites cannot be stored: %s. The crawl continues "
                "without it; further failures are only counted",
                error,
            )
