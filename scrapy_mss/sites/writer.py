"""What a crawl has learned about sites and not stored yet, written by a thread.

A checkpoint adds what was learned since the last one to the store while the crawl
continues. A failed one returns it, to be retried with the next.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as done
from typing import Protocol

from scrapy_mss.sites.memory import SiteMemory

logger = logging.getLogger(__name__)


class Store(Protocol):
    """Where memories are kept between crawls."""

    def load(self, site: str) -> SiteMemory:
        """What is known of *site*."""

    def add(
        self, learned: Mapping[str, SiteMemory], minute: int, anew: Collection[str] = ()
    ) -> None:
        """Add what was *learned* of each site; of those in *anew*, forget what was there."""

    def close(self) -> None:
        """Make sure of all additions; where this raises, some are lost."""


SHORTLY = 0.5  # seconds; a write takes some milliseconds
MAX_WAITING = 1000  # sites that could not be written; some 30 KB each
ADDED_AT_ONCE = 32  # pages of a site, some 30 KB
_DONE: Future[None] = Future()
_DONE.set_result(None)


class Batch:
    """What was learned of each site; those in ``anew`` have changed their layout before that.

    Pages of a site are added up a few at a time: adding one alone takes as long.
    """

    def __init__(self) -> None:
        self.anew: set[str] = set()
        self._learned: dict[str, list[SiteMemory]] = {}

    def __contains__(self, site: str) -> bool:
        return site in self._learned

    def __len__(self) -> int:
        return len(self._learned)

    def __iter__(self) -> Iterator[str]:
        return iter(self._learned)

    def add(self, site: str, memory: SiteMemory) -> None:
        """Add what was learned of *site*."""
        learned = self._learned.setdefault(site, [])
        learned.append(memory)
        if len(learned) >= ADDED_AT_ONCE:
            learned[:] = [SiteMemory.total(learned)]

    def begin_anew(self, site: str) -> None:
        """Forget *site*, here and, once this is written, in the store."""
        self.anew.add(site)
        self._learned[site] = []

    def drop(self, site: str) -> None:
        """Give up what was learned of *site*."""
        self._learned.pop(site, None)

    def of(self, site: str) -> SiteMemory:
        """What was learned of *site*."""
        return SiteMemory.total(self._learned.get(site, []))

    def learned(self) -> dict[str, SiteMemory]:
        """What was learned of each site."""
        return {site: self.of(site) for site in self._learned}

    def follow(self, later: Batch) -> None:
        """Add a *later* batch."""
        for site, memory in later.learned().items():
            if site in later.anew:
                self.begin_anew(site)
            self.add(site, memory)


class SiteWriter:
    """Reads sites from a store, and writes to it what was learned of them."""

    def __init__(self, store: Store, now: Callable[[], int]) -> None:
        self._store = store
        self._now = now
        self._unsaved = Batch()
        self._in_flight = Batch()  # what is being written
        self._write: Future[None] | None = None
        self._ended: Future[None] | None = None
        self._slow: Future[None] | None = None  # a write that was waited for in vain
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="scrapy-mss-sites")
        self._taken: set[str] = set()  # sites of the last write that the store has taken
        self._n_dropped = 0
        self.is_failing = False  # whether the last write has failed
        self.failures = 0
        self.lost = 0  # sites of which not all could be written, once this is closed

    def __len__(self) -> int:
        """Of how many sites anything is unsaved."""
        return len(self._unsaved)

    @property
    def write(self) -> Future[None]:
        """The write that is under way, or one that is done."""
        return _DONE if self._write is None else self._write

    def load(self, site: str) -> SiteMemory:
        """What is known of *site*, stored or not; what cannot be read is not known."""
        stored = SiteMemory()
        if site in self._in_flight and not self.wait_shortly():
            stored = self._in_flight.of(site)  # perhaps stored already, and so not asked for
        elif site not in self._unsaved.anew:
            try:
                stored = self._store.load(site)
            except Exception as error:  # noqa: BLE001 - of the disk, of what is there: pages go on
                self._failed(error)
        return stored.plus(self._unsaved.of(site))

    def add(self, site: str, memory: SiteMemory) -> None:
        """Add what was learned of *site*."""
        self._unsaved.add(site, memory)

    def begin_anew(self, site: str) -> None:
        """Forget *site*."""
        self._unsaved.begin_anew(site)

    def has(self, site: str) -> bool:
        """Whether anything of *site* is unsaved."""
        return site in self._unsaved

    def drop(self, site: str) -> None:
        """Give up what is unsaved of *site*."""
        self._n_dropped += site in self._unsaved
        self._unsaved.drop(site)

    def begin(self) -> None:
        """Begin to write what is unsaved, unless a write is still under way."""
        if self._write is not None and not self._write.done():
            return
        self.wait()
        if not self._unsaved:
            return
        batch, self._unsaved = self._unsaved, Batch()
        self._in_flight = batch
        self._write = self._thread.submit(self._add, batch)

    def _add(self, batch: Batch) -> None:
        self._store.add(batch.learned(), self._now(), batch.anew)

    def wait_shortly(self) -> bool:
        """Wait for the write that is under way, as long as the event loop can; whether it is done.

        A server that has gone may let a write wait for a minute. It is waited for once.
        """
        write = self._write
        if write is not None and not done([write], 0 if write is self._slow else SHORTLY).done:
            self._slow = write
            return False
        self.wait()
        return True

    def wait(self) -> None:
        """Wait for the write that is under way."""
        if self._write is None:
            return
        batch, self._in_flight = self._in_flight, Batch()
        write, self._write = self._write, None
        try:
            write.result()
        except Exception as error:  # noqa: BLE001 - of the disk or the lock: it is tried again
            self.is_failing = True
            self._failed(error)
            batch.follow(self._unsaved)
            self._unsaved = batch
            for site in list(batch)[:-MAX_WAITING]:  # the oldest, as memory is bounded
                self.drop(site)
        else:
            self.is_failing = False
            self._taken = set(batch)

    def end(self) -> Future[None]:
        """Begin to make sure of all that was written; `close` waits for it."""
        if self._ended is None:
            self._ended = self._thread.submit(self._store.close)
        return self._ended

    def close(self) -> None:
        """Write all that is unsaved; what cannot be written is lost."""
        self.wait()
        if self._ended is None:
            self.begin()
            self.wait()
        ended = self.end()
        self._thread.shutdown()
        lost = set(self._unsaved)
        try:
            ended.result()
        except Exception as error:  # noqa: BLE001 - what it has taken, it has kept to itself
            self._failed(error)
            lost |= self._taken
        self.lost = len(lost) + self._n_dropped

    def _failed(self, error: Exception) -> None:
        """Log the first failure of the store; further ones are only counted."""
        self.failures += 1
        if self.failures == 1:
            logger.warning(
                "scrapy-mss: the memory of sites cannot be stored: %s. The crawl continues "
                "without the stored one; further failures are only counted",
                error,
            )
