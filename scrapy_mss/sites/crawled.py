"""The sites that a crawl meets: in memory while they are used, in the store between checkpoints.

What was learned since the last checkpoint is kept apart, and a checkpoint adds it to the store.
Memory is bounded: beyond so many bytes, the sites that were used longest ago are written and
forgotten; without a store they are forgotten alone.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
from time import time
from typing import Protocol

from scrapy_mss.sites.memory import SiteMemory, period_of
from scrapy_mss.sites.visit import Visit

logger = logging.getLogger(__name__)


class Store(Protocol):
    """Where memories are kept between crawls."""

    def load(self, site: str) -> SiteMemory:
        """What is known of *site*."""

    def add(self, learned: dict[str, SiteMemory], minute: int) -> None:
        """Add what was *learned* of each site."""


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
        self._bytes = 0
        self.failures = 0  # of the store

    def __len__(self) -> int:
        return len(self._known)

    def visit(self, site: str) -> Visit:
        """A page of *site*, to be read now."""
        minute = self._now()
        return Visit(self._recalled(site).at(period_of(minute)), minute)

    def learn(self, site: str, learned: SiteMemory) -> None:
        """Remember what a page of *site* told."""
        if not learned.pages:
            return
        self._put(site, self._recalled(site).plus(learned))
        self._learned[site] = self._learned.get(site, SiteMemory()).plus(learned)

    def checkpoint(self) -> None:
        """Write what was learned; if that fails, it is kept for the next time."""
        if self._store is None or not self._learned:
            return
        try:
            self._store.add(self._learned, self._now())
        except OSError as error:
            self._failed(error)
        else:
            self._learned = {}

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

    def _failed(self, error: OSError) -> None:
        """Log the first failure of the store; further ones are only counted."""
        self.failures += 1
        if self.failures == 1:
            logger.warning(
                "scrapy-mss: the memory of sites cannot be stored: %s. The crawl continues "
                "without it; further failures are only counted",
                error,
            )
