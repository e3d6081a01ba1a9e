"""The sites of a crawl: cached in memory while in use, in the store between checkpoints.

Memory is bounded: beyond a number of bytes, the least recently used sites are evicted. What was
learned of them and is not stored yet is kept until it is.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable

import numpy as np

from scrapy_mss.markup.tokens import TokenIds
from scrapy_mss.pages.addresses import site_of
from scrapy_mss.sites.address_counts import AddressCounts, of_browser
from scrapy_mss.sites.context import SiteContext, SiteUpdate
from scrapy_mss.sites.memory import VOTES, SiteMemory, period_of
from scrapy_mss.sites.store import SiteStore
from scrapy_mss.storage.checkpoints import CheckpointPart
from scrapy_mss.storage.tables import Change, minute_now

WATCHED = 10  # pages of a window, and of a memory that says anything
MIN_AGREEMENT = 0.3  # mean agreement of a window, below which the layout is another one


def agreement(known: TokenIds, page: SiteMemory) -> float:
    """The share of the votes of *page* for the containers *known*; 1 without votes.

    These are uint64[n], ascending.
    """
    votes = page.containers.rows[:, VOTES]
    total = float(votes.sum())
    if not total:
        return 1.0
    keys = page.containers.keys
    is_known = known.take(known.searchsorted(keys), mode="clip") == keys if len(known) else False
    return float(np.sum(votes, where=is_known)) / total


class LayoutWatch:
    """Detects that a site has changed its layout: nothing on its new pages is where it was.

    A page's agreement is the share of its containers' votes that are for known containers. One page
    is enough to make a new layout known, so the pages of a window are compared with what was known
    before the previous window. A change in the middle of a window is reported at the end of the
    next.
    """

    def __init__(self) -> None:
        # The containers that were known before the last window, and before this one.
        self._known: tuple[TokenIds, TokenIds] | None = None
        self._agreements: list[float] = []

    def has_changed(self, known: SiteMemory, page: SiteMemory) -> bool:
        """Whether the site has changed, now that *page* is there; *known* is what was before it.

        After a change, the watch begins again.
        """
        containers = known.containers.keys
        if self._known is None:
            if known.pages < WATCHED:
                return False
            self._known = containers, containers
        before, since = self._known
        self._agreements.append(agreement(before, page))
        if len(self._agreements) < WATCHED:
            return False
        changed = sum(self._agreements) < MIN_AGREEMENT * WATCHED
        self._known, self._agreements = None if changed else (since, containers), []
        return changed


MAX_WAITING = 1000  # sites that could not be written; some 30 KB each


class Batch(dict[str, SiteMemory]):
    """What was learned of each site; those in ``forgotten`` have changed their layout before."""

    def __init__(self) -> None:
        super().__init__()
        self.forgotten: set[str] = set()

    def add(self, site: str, memory: SiteMemory) -> None:
        self[site] = self.of(site).plus(memory)

    def reset(self, site: str) -> None:
        """Forget *site*, here and, once this is written, in the store."""
        self.forgotten.add(site)
        self[site] = SiteMemory()

    def of(self, site: str) -> SiteMemory:
        return self.get(site, SiteMemory())

    def follow(self, later: Batch) -> None:
        for site, memory in later.items():
            if site in later.forgotten:
                self.reset(site)
            self.add(site, memory)


# A page may be read twice, for its labels and for its article, shortly after one another.
MAX_LEARNED_URLS = 10_000

logger = logging.getLogger(__name__)


class CrawledSites(CheckpointPart[Batch]):
    """The memories of the sites of one crawl."""

    FAILED = "the memory of sites cannot be stored"
    MEANWHILE = " without the stored one"
    LOST = "the memory of %d sites"

    def __init__(
        self, store: SiteStore, max_bytes: int, now: Callable[[], int] = minute_now
    ) -> None:
        """Keep up to *max_bytes* in memory, and the rest in *store*."""
        super().__init__(Batch, self._change)
        self._store = store
        self._max_bytes = max_bytes
        self._now = now
        self._known: OrderedDict[str, SiteMemory] = OrderedDict()  # used last is last
        self._watches: dict[str, LayoutWatch] = {}  # of the sites in memory
        self._learned_urls: dict[str, None] = {}  # addresses, the latest last
        self._bytes = 0
        self.pages = 0  # with an article that were learned
        self.changed = 0  # sites whose layout has

    def __len__(self) -> int:
        return len(self._known)

    def context(self, url: str) -> SiteContext:
        """The page at *url*, to be read now; one without a host is of no site."""
        minute, site = self._now(), site_of(url)
        memory = self._recalled(site).at(period_of(minute)) if site else SiteMemory()
        return SiteContext(memory, minute, url)

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

    def learn(self, url: str, update: SiteUpdate) -> bool:
        """Add what was learned of the page at *url*; in one crawl, each address counts once."""
        site = site_of(url)
        if not site or not update.added or url in self._learned_urls:
            return False
        self._learned_urls[url] = None
        if len(self._learned_urls) > MAX_LEARNED_URLS:
            del self._learned_urls[next(iter(self._learned_urls))]
        known = self._recalled(site)
        watch = self._watches.setdefault(site, LayoutWatch())
        if update.added.pages and watch.has_changed(known, update.added):
            known = self._forgotten(site)
        self.pages += bool(update.added.pages)
        self._add(site, known, update.added)
        return True

    def learn_browser(self, url: str, *, needed: bool) -> None:
        """Add whether the page at *url* was one that only a browser fills."""
        self.recall(url)
        added = of_browser(url, self.addresses(url), self._now(), needed=needed)
        if added and (site := site_of(url)):
            memory = SiteMemory(period=period_of(self._now()), addresses=added)
            self._add(site, self._recalled(site), memory)

    def _add(self, site: str, known: SiteMemory, learned: SiteMemory) -> None:
        self._unsaved.add(site, learned)
        self._put(site, known.plus(learned))
        if len(self._unsaved) > MAX_WAITING:
            self.checkpoint()

    def _change(self, batch: Batch) -> Change:
        return self._store.adding(batch, self._now(), batch.forgotten)

    def _joined(self, batch: Batch, later: Batch) -> Batch:
        batch.follow(later)
        for site in list(batch)[:-MAX_WAITING]:
            del batch[site]
            self._n_dropped += 1
        return batch

    def _forgotten(self, site: str) -> SiteMemory:
        """What is known of a site whose layout has changed: nothing, as all would mislead."""
        self.changed += 1
        logger.info("scrapy-mss: %s has changed its layout; its site memory was discarded", site)
        self._unsaved.reset(site)
        return SiteMemory()

    def _recalled(self, site: str) -> SiteMemory:
        memory = self._known.get(site)
        if memory is None:
            memory = self._stored(site).plus(self._unsaved.of(site))
            self._put(site, memory)
        self._known.move_to_end(site)
        return memory

    def _stored(self, site: str) -> SiteMemory:
        """What is stored of *site*; what cannot be read is not known."""
        if site in self._unsaved.forgotten:
            return SiteMemory()
        if site in self._in_flight:  # perhaps stored already, and so not asked for
            return self._in_flight.of(site)
        try:
            return self._store.load(site)
        except Exception as error:  # noqa: BLE001 - of the disk, of what is there: pages go on
            self.store_failed(error)
            return SiteMemory()

    def _put(self, site: str, memory: SiteMemory) -> None:
        before = self._known.get(site)
        self._bytes += memory.size - (before.size if before is not None else 0)
        self._known[site] = memory
        self._known.move_to_end(site)
        while self._bytes > self._max_bytes and len(self._known) > 1:
            self._evict_one()

    def _evict_one(self) -> None:
        """Drop the site that was used longest ago, of those that are being written the last."""
        sites = (each for each in self._known if each not in self._in_flight)
        site = next(sites, next(iter(self._known)))
        if site == next(reversed(self._known)):  # it is in use
            site = next(iter(self._known))
        self._bytes -= self._known.pop(site).size
        self._watches.pop(site, None)
