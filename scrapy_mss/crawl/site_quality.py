"""What a crawl keeps for the report: counts of each site, alarms at the end, uncertain pages.

At the end the sites of the crawl are evaluated, before any other handler of the signal reads the
stats. Of each site the pages are kept on which the model was least certain. The stored ones are
known here, so that only pages that belong to the selection are compressed and written, fewer and
fewer as the crawl reads more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import wait as done
from functools import partial
from time import monotonic, time
from typing import Final, TypeAlias

from scrapy_mss.article import ArticleResult
from scrapy_mss.crawl.wire import LabelSummary
from scrapy_mss.items import Article
from scrapy_mss.pages.addresses import site_of
from scrapy_mss.quality.alarms import DAY, WINDOW, Activity, alarms, incidents, within_crawl
from scrapy_mss.quality.counts import (
    ALARM,
    ARTICLES,
    LAYOUT,
    LISTS,
    MAX_COUNTED,
    TRIED,
    Counts,
    added,
    bounded,
    of_answer,
    of_failure,
    of_labels,
    of_new,
    of_page,
    of_place,
)
from scrapy_mss.quality.report import Alarm, with_past
from scrapy_mss.quality.store import (
    Days,
    QualityStore,
    SiteDay,
    UncertainPage,
    adding,
    adding_pages,
    compressed,
)
from scrapy_mss.storage.checkpoints import CheckpointPart, completed
from scrapy_mss.storage.tables import MAX_SITES, MAX_UNSURE_PAGES, MAX_UNSURE_SITES

LONGEST_SITE: Final = 253  # characters of a host
SECONDS_AN_HOUR: Final = 3600
# Of the event loop; an evaluation takes milliseconds, and a model that is written some hundred.
EVALUATION_SECONDS: Final = 2.0
LONGEST_URL: Final = 2000  # characters; few pages have a longer one
LONGEST_PAGE: Final = 2_000_000  # characters; a person looks at no larger ones
DayCounts: TypeAlias = dict[SiteDay, Counts]
PagesOfSites: TypeAlias = dict[str, dict[UncertainPage, bytes]]

MAX_BYTES: Final = 2**23  # of pages in memory: a checkpoint takes them, others are dropped


def this_hour() -> int:
    """The hours since 1970."""
    return int(time() // SECONDS_AN_HOUR)


class SiteQuality(CheckpointPart[DayCounts]):
    """Counts the pages of a crawl by site and day."""

    FAILED = "quality counts cannot be stored or read"
    LOST = "the counts of %d sites and days"

    def __init__(
        self, store: QualityStore, now: Callable[[], int] = this_hour, *, only_new: bool = False
    ) -> None:
        """Count in *store*; with *only_new*, `new_article` says what is new, else all is."""
        super().__init__(dict, adding)
        self._store = store
        self._now = now
        self._only_new = only_new
        self._met: set[str] = set()  # sites to evaluate
        self._of_crawl: dict[str, Days] = {}  # what the store has taken of this crawl

    def page(self, url: str, article: Article | None, kind: str = "") -> None:
        """Count the page of a *kind* at *url*, of which this *article* was read, or none."""
        site, counts = site_of(url), of_page(article, kind)
        self._add(site, counts)
        if counts[ARTICLES] and not self._only_new:
            self._add(site, of_new(self._now() % DAY))

    def new_article(self, url: str) -> None:
        """Count that the article at *url* was not seen before."""
        self._add(site_of(url), of_new(self._now() % DAY))

    def tried(self, site: str) -> None:
        self._add(site, Counter({TRIED: 1}))

    def answered(self, site: str, *, with_list: bool = False) -> None:
        """Count that *site* has sent a page or a list."""
        counts = of_answer(self._now() % DAY)
        self._add(site, counts + Counter({LISTS: 1}) if with_list else counts)

    def failed(self, site: str, reason: str) -> None:
        """Count that *site* has not sent what was requested."""
        self._add(site, of_failure(self._now() % DAY, reason))

    def redesigned(self, url: str) -> None:
        self._add(site_of(url), Counter({f"{ALARM}{LAYOUT}": 1}))

    def labels(self, url: str, labels: LabelSummary) -> None:
        """Count what the rule of its site has found on the page at *url*."""
        self._add(site_of(url), of_labels(None if labels.reason else labels.field_hits))

    def place(self, url: str, place: int) -> None:
        """Count that the article at *url* is in the container with the key *place*."""
        self._add(site_of(url), of_place(place))

    def count(self, site: str, counts: Counts, day: int) -> None:
        """Add *counts* to those of *site* on a *day*."""
        is_full = len(self._unsaved) >= MAX_SITES and (site, day) not in self._unsaved
        if not site or len(site) > LONGEST_SITE or is_full:
            return
        if len(self._met) < MAX_SITES:
            self._met.add(site)
        # In place: a day has some fifty counts, a page a few.
        of_day = self._unsaved.setdefault((site, day), Counter())
        for name, count in counts.items():
            of_day[name] += count
        if len(of_day) > MAX_COUNTED:
            self._unsaved[site, day] = bounded(of_day, MAX_COUNTED)

    def _joined(self, batch: DayCounts, later: DayCounts) -> DayCounts:
        for key, counts in later.items():
            batch[key] = added(batch.get(key, Counter()), counts)
        return batch

    def _written(self, batch: DayCounts) -> None:
        for (site, day), counts in batch.items():
            if site in self._met:
                days = self._of_crawl.setdefault(site, {})
                days[day] = added(days.get(day, Counter()), counts)

    async def evaluated(self) -> list[Alarm]:
        """The alarms of the sites of this crawl, all of whose pages are stored before."""
        assert self.checkpoints is not None
        await self.checkpoints.written()
        evaluating = self.checkpoints.run(partial(self._alarms, sorted(self._met)))
        await completed(evaluating, at_end=True)
        return self._answered(evaluating)

    def evaluated_at_once(self) -> list[Alarm]:
        """The same while the event loop waits: none where the store does not answer soon."""
        assert self.checkpoints is not None
        until = monotonic() + EVALUATION_SECONDS
        if self.checkpoints.settle(EVALUATION_SECONDS):
            self.checkpoints.begin()
            if self.checkpoints.settle(until - monotonic()):
                evaluating = self.checkpoints.run(partial(self._alarms, sorted(self._met)))
                if done([evaluating], until - monotonic()).done:
                    return self._answered(evaluating)
        late = f"{self._store.name}: no answer in {EVALUATION_SECONDS:g} seconds"
        self.store_failed(TimeoutError(late))
        return []

    def _answered(self, evaluating: Future[list[Alarm]]) -> list[Alarm]:
        try:
            return evaluating.result()
        except Exception as error:  # noqa: BLE001 - of the store, of what is there: the crawl ends well
            self.store_failed(error)
            return []

    def _alarms(self, sites: list[str]) -> list[Alarm]:
        """The alarms of *sites*; those that only this crawl can know are stored for the report."""
        now = self._now()
        days = dict(self._store.days(sites, now // DAY - WINDOW + 1))
        past = with_past(self._store, days)
        found: dict[tuple[str, str], Alarm] = {}
        by_crawl: DayCounts = {}
        for site, of_site in days.items():
            declined = {alarm.measure: alarm for alarm in alarms(site, of_site, now // DAY)}
            own = self._of_crawl.get(site, {})
            sudden = [
                alarm
                for alarm in within_crawl(site, of_site, own, now // DAY)
                if alarm.measure not in declined
            ]
            if sudden:
                by_crawl[site, now // DAY] = Counter(f"{ALARM}{alarm.measure}" for alarm in sudden)
            by_clock = incidents(site, Activity.of(past[site]), now)
            wrong: list[Alarm] = [*declined.values(), *sudden, *by_clock]
            for alarm in wrong:
                found.setdefault((site, alarm.measure), alarm)
        if by_crawl:
            self._store.add(by_crawl)
        return list(found.values())

    def _add(self, site: str, counts: Counts) -> None:
        self.count(site, counts, self._now() // DAY)


class UncertainPages(CheckpointPart[PagesOfSites]):
    """The least certain pages of each site, as far as this crawl knows."""

    FAILED = "uncertain pages cannot be stored"
    LOST = "%d uncertain pages"

    def __init__(self, store: QualityStore, minute: Callable[[], int]) -> None:
        super().__init__(dict, adding_pages)
        self._minute = minute
        self._kept: dict[str, dict[str, float]] = {
            site: {page.url: page.certainty for page in pages}
            for site, pages in store.uncertain().items()
        }
        self._n_bytes = 0

    @property
    def lost(self) -> int:
        """How many pages could not be stored."""
        return sum(map(len, self._unsaved.values()))

    def page(self, url: str, html: str, result: ArticleResult) -> None:
        """Keep the page at *url* if its *result* is among the least certain ones of its site."""
        certainty, site = result.certainty, site_of(url)
        if certainty is None or not self._is_kept(site, url, certainty):
            return
        if len(html) > LONGEST_PAGE or len(url) > LONGEST_URL or self._n_bytes > MAX_BYTES:
            return
        kept = self._kept.setdefault(site, {})
        kept[url] = certainty
        if len(kept) > MAX_UNSURE_PAGES:
            del kept[max(kept, key=lambda each: (kept[each], each))]
        body = compressed(html)
        self._n_bytes += len(body)
        self._unsaved.setdefault(site, {})[UncertainPage(url, certainty, self._minute())] = body
        if self._n_bytes > MAX_BYTES:
            self.checkpoint()

    def _joined(self, batch: PagesOfSites, later: PagesOfSites) -> PagesOfSites:
        joined = {site: {**pages, **later.get(site, {})} for site, pages in batch.items()}
        return {**later, **joined}

    def _written(self, _batch: PagesOfSites) -> None:
        self._n_bytes = sum(len(body) for each in self._unsaved.values() for body in each.values())

    def _is_kept(self, site: str, url: str, certainty: float) -> bool:
        """Whether the page is among the least certain ones, or was and has to be updated."""
        kept = self._kept.get(site)
        if kept is None:
            is_full = len(self._kept) >= 2 * MAX_UNSURE_SITES
            return bool(site) and len(site) <= LONGEST_SITE and not is_full
        if url in kept:
            return kept[url] != certainty
        return len(kept) < MAX_UNSURE_PAGES or certainty < max(kept.values())
