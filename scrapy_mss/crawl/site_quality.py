"""A crawl's unsaved counts of each site, and what has declined at its end.

A checkpoint adds what was counted since the last one to the file, in a thread, because it may have
to wait for another crawl. A failed one is retried with the next. At the end the sites of the
crawl are judged before any other handler of the signal reads the stats.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as done
from time import monotonic, time
from typing import TYPE_CHECKING, Final

from scrapy_mss.crawl.stores import quality_store
from scrapy_mss.crawl.waiting import finished
from scrapy_mss.crawl.wire import LabelSummary
from scrapy_mss.items import Article
from scrapy_mss.metadata.sites import site_of
from scrapy_mss.quality.alarms import WINDOW, Figure, alarms
from scrapy_mss.quality.counts import Counts, added, of_labels, of_miss, of_page, of_place
from scrapy_mss.quality.store import KEPT_DAYS, MAX_SITES, DayStore, Key

if TYPE_CHECKING:
    from scrapy_mss.redis_server import Patience
    from scrapy_mss.settings import Options

logger = logging.getLogger(__name__)

LONGEST_SITE: Final = 253  # characters of a host
SECONDS_A_DAY: Final = 24 * 3600
JUDGE_SECONDS: Final = 0.5  # of the event loop; it takes milliseconds


def today() -> int:
    """The days since 1970."""
    return int(time() // SECONDS_A_DAY)


def site_quality(options: Options, patience: Patience | None = None) -> SiteQuality | None:
    """What counts the pages of sites, unless it is off; a store that cannot be used stops here."""
    if not options.quality:
        return None
    store = quality_store(options.quality_file, patience)
    store.check()
    return SiteQuality(store)


class SiteQuality:
    """Counts the pages of a crawl by site and day."""

    def __init__(self, store: DayStore, now: Callable[[], int] = today) -> None:
        self._store = store
        self._now = now
        self._unsaved: dict[Key, Counts] = {}
        self._in_flight: dict[Key, Counts] = {}  # what is being written
        self._write: Future[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="scrapy-mss-quality")
        self._closed: Future[Exception | None] | None = None
        self._met: set[str] = set()  # sites to judge
        self._stored: set[str] = set()  # sites of the last batch that the store has taken
        self.failures = 0
        self.lost = 0  # sites of which not all could be stored, once this is closed

    def page(self, url: str, article: Article | None) -> None:
        """Count the page at *url*, of which this *article* was read, or none."""
        self._add(url, of_page(article))

    def labels(self, url: str, labels: LabelSummary) -> None:
        """Count what the rule of its site has found on the page at *url*."""
        hits, selectors = labels.field_hits, labels.selectors
        self._add(url, of_miss() if labels.reason else of_labels(hits, selectors))

    def place(self, url: str, place: int) -> None:
        """Count that the article at *url* is in the container with the key *place*."""
        self._add(url, of_place(place))

    def checkpoint(self) -> None:
        """Begin to store what was counted, unless that is still under way."""
        if self._write is not None and not self._write.done():
            return
        self.wait()
        if self._unsaved:
            self._in_flight, self._unsaved = self._unsaved, {}
            self._write = self._thread.submit(self._store.add, self._in_flight)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait so many *seconds* for the checkpoint that is under way; whether it has ended."""
        if self._write is None:
            return True
        if not done([self._write], seconds).done:
            return False
        write, self._write = self._write, None
        batch, self._in_flight = self._in_flight, {}
        try:
            write.result()
        except Exception as error:  # noqa: BLE001 - whatever it is of, nothing was added
            self._failed(error)
            later, self._unsaved = self._unsaved, batch
            for key, counts in later.items():
                self._unsaved[key] = added(self._unsaved.get(key, Counter()), counts)
        else:
            self._stored = {site for site, _ in batch}
        return True

    async def judged(self) -> list[Figure]:
        """What has declined of the sites of this crawl, all of whose pages are stored before.

        The event loop, which must be asyncio's, goes on meanwhile.
        """
        await self._written()
        self.checkpoint()
        await self._written()
        self.wait()
        judging = self._thread.submit(self._alarms, sorted(self._met))
        await finished(judging)
        return self._answered(judging)

    def judged_at_once(self) -> list[Figure]:
        """What has declined of the sites of this crawl, all of whose pages are stored before.

        The event loop waits for it: so where the store does not answer soon, nothing is judged.
        """
        until = monotonic() + JUDGE_SECONDS
        if self.wait(JUDGE_SECONDS):
            self.checkpoint()
            if self.wait(max(0.0, until - monotonic())):
                judging = self._thread.submit(self._alarms, sorted(self._met))
                if done([judging], max(0.0, until - monotonic())).done:
                    return self._answered(judging)
        self._failed(TimeoutError(f"{self._store.name}: no answer in {JUDGE_SECONDS:g} seconds"))
        return []

    def _answered(self, judging: Future[list[Figure]]) -> list[Figure]:
        try:
            return judging.result()
        except Exception as error:  # noqa: BLE001 - of the store, of what is there: the crawl ends well
            self._failed(error)
            return []

    def _alarms(self, sites: list[str]) -> list[Figure]:
        now = self._now()
        found: list[Figure] = []
        for site, days in self._store.days(sites, now - WINDOW):
            found += alarms(site, days, now)
        return found

    async def finish(self) -> None:
        """Store all while the event loop, which must be asyncio's, goes on."""
        await self._written()
        self.checkpoint()
        await self._written()
        await finished(self._closing())

    async def _written(self) -> None:
        while self._write is not None and not self._write.done():  # a timer may begin the next
            await finished(self._write)

    def close(self) -> None:
        """Store all that `finish` has not, and forget what is older than a year."""
        self.wait()
        if self._closed is None:
            self.checkpoint()
            self.wait()
        closing = self._closing()
        self._thread.shutdown()
        self.lost = len({site for site, _ in self._unsaved})
        try:
            error = closing.result()
        except Exception as caught:  # noqa: BLE001 - what it has taken, it has kept to itself
            error = caught
            self.lost = len(self._stored | {site for site, _ in self._unsaved})
        if error is not None:
            self._failed(error)

    def _closing(self) -> Future[Exception | None]:
        """What makes sure of all that was written, in the thread that has written it."""
        if self._closed is None:
            self._closed = self._thread.submit(self._end)
        return self._closed

    def _end(self) -> Exception | None:
        """Make sure of all that was stored; why what is old could not be forgotten, if so."""
        try:
            self._store.forget_before(self._now() - KEPT_DAYS)
        except Exception as error:  # noqa: BLE001 - what is stored is kept all the same
            return error
        finally:
            self._store.close()
        return None

    def _add(self, url: str, counts: Counts) -> None:
        site, day = site_of(url), self._now()
        is_full = len(self._unsaved) >= MAX_SITES and (site, day) not in self._unsaved
        if not site or len(site) > LONGEST_SITE or is_full:
            return
        if len(self._met) < MAX_SITES:
            self._met.add(site)
        self._unsaved[site, day] = added(self._unsaved.get((site, day), Counter()), counts)

    def _failed(self, error: Exception) -> None:
        """Log the first failure of the file; further ones are only counted."""
        self.failures += 1
        if self.failures == 1:
            logger.warning(
                "scrapy-mss: quality counts cannot be stored or read: %s. The crawl "
                "continues; further failures are only counted",
                error,
            )
