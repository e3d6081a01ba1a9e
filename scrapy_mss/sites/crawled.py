"""The sites of a crawl: cached in memory while in use, in the store between checkpoints.

Memory is bounded: beyond a number of bytes, the least recently used sites are written, if
necessary, and evicted.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from time import time

from scrapy_mss.pages.addresses import site_of
from scrapy_mss.sites.addresses import AddressCounts
from scrapy_mss.sites.layout import LayoutWatch
from scrapy_mss.sites.memory import SiteMemory, period_of
from scrapy_mss.sites.visit import Lesson, Visit
from scrapy_mss.sites.writer import MAX_WAITING, SiteWriter, Store

# A page may be read twice, for its labels and for its article, shortly after one another.
MAX_TAUGHT = 10_000

logger = logging.getLogger(__name__)


def minute_now() -> int:
    """The minutes since 1970."""
    return int(time() // 60)


class CrawledSites:
    """The memories of the sites of one crawl."""

    def __init__(self, store: Store, max_bytes: int, now: Callable[[], int] = minute_now) -> None:
        """Keep up to *max_bytes* in memory, and the rest in *store*."""
        self._writer = SiteWriter(store, now)
        self._max_bytes = max_bytes
        self._now = now
        self._known: OrderedDict[str, SiteMemory] = OrderedDict()  # used last is last
        self._watches: dict[str, LayoutWatch] = {}  # of the sites in memory
        self._taught: dict[str, None] = {}  # addresses, the latest last
        self._bytes = 0
        self.pages = 0  # with an article that were learned
        self.changed = 0  # sites whose layout has

    def __len__(self) -> int:
        return len(self._known)

    @property
    def failures(self) -> int:
        """How often the store has failed."""
        return self._writer.failures

    @property
    def lost(self) -> int:
        """Of how many sites not all could be written, once this is closed."""
        return self._writer.lost

    def visit(self, url: str) -> Visit:
        """The page at *url*, to be read now; one without a host is of no site."""
        minute, site = self._now(), site_of(url)
        memory = self._recalled(site).at(period_of(minute)) if site else SiteMemory()
        return Visit(memory, minute, url)

    def recall(self, url: str) -> None:
        """Have what is known of the site of *url* at hand, for `addresses`."""
        site = site_of(url)
        if site:
            self._recalled(site)

    def addresses(self, url: str) -> AddressCounts:
        """What is known of addresses of the site of *url*; nothing of a site that is not at hand.

        A page may link to a hundred others, and each would be looked for in the store.
        """
        memory = self._known.get(site_of(url))
        return AddressCounts() if memory is None else memory.at(period_of(self._now())).addresses

    def learn(self, url: str, lesson: Lesson) -> bool:
        """Remember what the page at *url* taught; in one crawl, each address teaches once."""
        site = site_of(url)
        if not site or not lesson.added or url in self._taught:
            return False
        self._taught[url] = None
        if len(self._taught) > MAX_TAUGHT:
            del self._taught[next(iter(self._taught))]
        known = self._recalled(site)
        watch = self._watches.setdefault(site, LayoutWatch())
        if lesson.added.pages and watch.has_changed(known, lesson.added):
            known = self._forgotten(site)
        self.pages += bool(lesson.added.pages)
        self._writer.add(site, lesson.added)
        self._put(site, known.plus(lesson.added))
        return True

    @property
    def write(self) -> Future[None]:
        """The checkpoint that is being written, or one that is done."""
        return self._writer.write

    def checkpoint(self) -> None:
        """Begin to write what was learned; if that fails, it is kept for the next time."""
        self._writer.begin()

    def wait(self) -> None:
        """Wait for the end of the checkpoint that is being written."""
        self._writer.wait()

    def end(self) -> Future[None]:
        """Begin to make sure of all that was written."""
        return self._writer.end()

    def close(self) -> None:
        """Write what was learned."""
        self._writer.close()

    def _forgotten(self, site: str) -> SiteMemory:
        """What is known of a site whose layout has changed: nothing, as all would mislead."""
        self.changed += 1
        logger.info("scrapy-mss: %s has changed its layout; its site memory was discarded", site)
        self._writer.begin_anew(site)
        return SiteMemory()

    def _recalled(self, site: str) -> SiteMemory:
        """What is known of *site*, which is used now."""
        memory = self._known.get(site)
        if memory is None:
            memory = self._writer.load(site)
        self._put(site, memory)
        return memory

    def _put(self, site: str, memory: SiteMemory) -> None:
        before = self._known.get(site)
        self._bytes += memory.size - (before.size if before is not None else 0)
        self._known[site] = memory
        self._known.move_to_end(site)
        while self._bytes > self._max_bytes and len(self._known) > 1:
            self._forget_one()

    def _forget_one(self) -> None:
        """Drop the site that was used longest ago; what was learned of it is written before."""
        site, memory = self._known.popitem(last=False)
        self._bytes -= memory.size
        self._watches.pop(site, None)
        if self._writer.has(site):
            # Where writes fail, those of checkpoints are enough: each page may forget a site.
            is_tried = not self._writer.is_failing and self._writer.wait_shortly()
            if is_tried:
                self._writer.begin()
                is_tried = self._writer.wait_shortly()
            if is_tried or len(self._writer) > MAX_WAITING:
                self._writer.drop(site)  # what could not be written: memory is bounded all the same
