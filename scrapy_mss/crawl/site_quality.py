"""A crawl's unsaved counts of each site, and the alarms at its end.

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
from scrapy_mss.pages.addresses import site_of
from scrapy_mss.quality.activity import DAY, Activity
from scrapy_mss.quality.alarms import LAYOUT, WINDOW, alarms
from scrapy_mss.quality.counts import (
    ALARM,
    LISTS,
    TRIED,
    Counts,
    added,
    of_answer,
    of_failure,
    of_labels,
    of_miss,
    of_new,
    of_page,
    of_place,
)
from scrapy_mss.quality.incidents import alarms_of_crawl, incidents, within_crawl
from scrapy_mss.quality.report import Alarm, with_past
from scrapy_mss.quality.store import KEPT_DAYS, MAX_SITES, Days, DayStore, Key

if TYPE_CHECKING:
    from scrapy_mss.settings import Options
    from scrapy_mss.storage.redis_server import Patience

logger = logging.getLogger(__name__)

LONGEST_SITE: Final = 253  # characters of a host
SECONDS_AN_HOUR: Final = 3600
JUDGE_SECONDS: Final = 0.5  # of the event loop; it takes milliseconds


def this_hour() -> int:
    """The hours since 1970."""
    return int(time() // SECONDS_AN_HOUR)


def site_quality(options: Options, patience: Patience | None = None) -> SiteQuality | None:
    """What counts the pages of sites, unless it is off; a store that cannot be used stops here."""
    if not options.quality:
        return None
    store = quality_store(options.quality_file, patience)
    store.check()
    return SiteQuality(store, only_new=options.only_new)


class SiteQuality:
    """Counts the pages of a crawl by site and day."""

    def __init__(
        self, store: DayStore, now: Callable[[], int] = this_hour, *, only_new: bool = False
    ) -> None:
        """Count in *store*; with *only_new*, `new_article` says what is new, else all is."""
        self._store = store
        self._now = now
        self._only_new = only_new
        self._unsaved: dict[Key, Counts] = {}
        self._in_flight: dict[Key, Counts] = {}  # what is being written
        self._write: Future[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="scrapy-mss-quality")
        self._closed: Future[Exception | None] | None = None
        self._met: set[str] = set()  # sites to judge
        self._of_crawl: dict[str, Days] = {}  # what the store has taken of this crawl
        self._stored: set[str] = set()  # sites of the last batch that the store has taken
        self.failures = 0
        self.lost = 0  # sites of which not all could be stored, once this is closed

    def page(self, url: str, article: Article | None) -> None:
        """Count the page at *url*, of which this *article* was read, or none."""
        site = site_of(url)
        self._add(site, of_page(article))
        if article is not None and not self._only_new:
            self._add(site, of_new(self._now() % DAY))

    def new_article(self, url: str) -> None:
        """Count that the article at *url* was not seen before."""
        self._add(site_of(url), of_new(self._now() % DAY))

    def tried(self, site: str) -> None:
        """Count that a list of *site* is requested."""
        self._add(site, Counter({TRIED: 1}))

    def answered(self, site: str, *, with_list: bool = False) -> None:
        """Count that *site* has sent a page or a list."""
        counts = of_answer(self._now() % DAY)
        self._add(site, counts + Counter({LISTS: 1}) if with_list else counts)

    def failed(self, site: str, reason: str) -> None:
        """Count that *site* has not sent what was requested."""
        self._add(site, of_failure(self._now() % DAY, reason))

    def redesigned(self, url: str) -> None:
        """Count that the layout of the site of *url* has changed."""
        self._add(site_of(url), Counter({f"{ALARM}{LAYOUT}": 1}))

    def labels(self, url: str, labels: LabelSummary) -> None:
        """Count what the rule of its site has found on the page at *url*."""
        hits, selectors = labels.field_hits, labels.selectors
        self._add(site_of(url), of_miss() if labels.reason else of_labels(hits, selectors))

    def place(self, url: str, place: int) -> None:
        """Count that the article at *url* is in the container with the key *place*."""
        self._add(site_of(url), of_place(place))

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
            for (site, day), counts in batch.items():
                if site in self._met:
                    days = self._of_crawl.setdefault(site, {})
                    days[day] = added(days.get(day, Counter()), counts)
        return True

    async def judged(self) -> list[Alarm]:
        """The alarms of the sites of this crawl, all of whose pages are stored before.

        The event loop, which must be asyncio's, goes on meanwhile.
        """
        await self._written()
        self.checkpoint()
        await self._written()
        self.wait()
        judging = self._thread.submit(self._alarms, sorted(self._met))
        await finished(judging)
        return self._answered(judging)

    def judged_at_once(self) -> list[Alarm]:
        """The alarms of the sites of this crawl, all of whose pages are stored before.

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

    def _answered(self, judging: Future[list[Alarm]]) -> list[Alarm]:
        try:
            return judging.result()
        except Exception as error:  # noqa: BLE001 - of the store, of what is there: the crawl ends well
            self._failed(error)
            return []

    def _alarms(self, sites: list[str]) -> list[Alarm]:
        """The alarms of *sites*; those that only this crawl can tell are stored for the report."""
        now = self._now()
        days = dict(self._store.days(sites, now // DAY - WINDOW + 1))
        past = with_past(self._store, days)
        found: dict[tuple[str, str], Alarm] = {}
        by_crawl: dict[Key, Counts] = {}
        for site, of_site in days.items():
            declined = {alarm.measure: alarm for alarm in alarms(site, of_site, now // DAY)}
            own = self._of_crawl.get(site, {})
            sudden = [
                alarm
                for alarm in within_crawl(site, of_site, own, now // DAY)
                if alarm.measure not in declined
            ]
            if sudden:
                by_crawl[site, now // DAY] = alarms_of_crawl(sudden)
            by_clock = incidents(site, Activity.of(past[site]), now)
            wrong: list[Alarm] = [*declined.values(), *sudden, *by_clock]
            for alarm in wrong:
                found.setdefault((site, alarm.measure), alarm)
        if by_crawl:
            self._store.add(by_crawl)
        return list(found.values())

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
            self._store.forget_before(self._now() // DAY - KEPT_DAYS)
        except Exception as error:  # noqa: BLE001 - what is stored is kept all the same
            return error
        finally:
            self._store.close()
        return None

    def _add(self, site: str, counts: Counts) -> None:
        day = self._now() // DAY
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
