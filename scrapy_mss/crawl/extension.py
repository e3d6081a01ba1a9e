"""The life cycle of scrapy-mss in a crawl, as a Scrapy extension.

It loads settings, wrappers and what earlier crawls have stored when it is created, so that any
error in them stops the crawl at startup. During the crawl and at its end it writes what later ones
need; then it stops the workers and logs a summary. The components get from it what they need.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.project import data_path

from scrapy_mss import settings, stats
from scrapy_mss.crawl import _compat
from scrapy_mss.crawl.extraction import ArticleReader
from scrapy_mss.crawl.fates import Fates
from scrapy_mss.crawl.further_pages import FurtherPages
from scrapy_mss.crawl.items import ItemNotes, ItemPages, NewArticle, listen
from scrapy_mss.crawl.jobs import PageJobs, PageLabels
from scrapy_mss.crawl.reservations import Reservations
from scrapy_mss.crawl.site_quality import SiteQuality, UncertainPages
from scrapy_mss.crawl.training import Learner, Trainer
from scrapy_mss.items import FEED
from scrapy_mss.metadata.languages import detector
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import StoredModel
from scrapy_mss.pages.addresses import public_suffixes
from scrapy_mss.quality.alarms import Figure
from scrapy_mss.quality.report import Alarm, plural
from scrapy_mss.quality.store import QualityStore
from scrapy_mss.seen.articles import SeenArticles, SeenStore
from scrapy_mss.seen.stories import Stories, StoryStore
from scrapy_mss.settings import COPIES_KEEP, EMIT_UNRESERVED, REPORT_OFF, REPORT_PAGES
from scrapy_mss.sites.address_counts import AddressCounts, Guess, guess
from scrapy_mss.sites.crawled import CrawledSites
from scrapy_mss.sites.store import SiteStore
from scrapy_mss.stats import CrawlStats
from scrapy_mss.storage.checkpoints import CheckpointPart, Checkpoints
from scrapy_mss.storage.opening import STORE_FOLDER, store_at
from scrapy_mss.storage.tables import Store, minute_now
from scrapy_mss.wrappers import Wrapper, load_wrappers

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self


T = TypeVar("T")

logger = logging.getLogger(__name__)

WITHOUT_DETECTOR = (
    "MSS_LANGUAGES uses the language that pages declare; pages without one pass; with "
    "pip install 'scrapy-mss[language]' the language is recognized by the text"
)
BY_HAND = "_scrapy_mss_extension"  # the attribute of a crawler whose project has not listed it
MEGABYTE = 2**20
CHECKPOINT_SECONDS = 300.0
FINISHED = "finished"  # why a crawl ended that has done all there was to do
MAX_SITES = 10  # in a line; a crawl with hundreds of rules may have many
# A page may have nothing to exclude; it has these, or the rule need not ask for them.
FIELDS = ("title", "authors", "published")


class Component:
    """A component of a crawl, which has what it needs from the extension."""

    def __init__(self, extension: MssExtension) -> None:
        self._options = extension.options
        self._stats = extension.stats
        self._item_pages = extension.item_pages
        self._fates = extension.fates

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        component = cls(MssExtension.of(crawler))
        listen(component, crawler.signals)
        return component


def needed(part: T | None) -> T:
    """The *part* of a crawl that a component needs, which is off without it."""
    if part is None:
        raise NotConfigured
    return part


class MssExtension:
    """Everything of scrapy-mss that belongs to one crawl."""

    def __init__(self, crawler: Crawler) -> None:
        """Read what the settings of *crawler* name; any error stops the crawl here."""
        self.options = settings.read(crawler.settings)
        if self.options.languages and detector() is None:
            logger.warning("scrapy-mss: %s", WITHOUT_DETECTOR)
        self.wrappers = load_wrappers(self.options.wrappers)
        self.stats = CrawlStats(crawler.stats)
        self.item_pages = ItemPages()
        # Where only new articles are wanted: of items the text of their page, and its paragraphs.
        self.readings: ItemNotes[tuple[str, bytes]] = ItemNotes()
        self.new_articles: ItemNotes[NewArticle] = ItemNotes()
        self._load(store_at(self.options.store or data_path(STORE_FOLDER)))
        self.jobs = PageJobs(self.options, self.learner.changes, self.sites, self.quality)
        self.jobs.seen = self.seen
        self._asked_for_workers = "MSS_WORKERS" in crawler.settings
        labels = PageLabels(self.wrappers, self.jobs, self.stats)
        self.trainer = Trainer(self.options, labels, self.learner, self.stats)
        self._is_evaluated = False
        self._reader = ArticleReader(self.options, labels, self.stats)
        self._reader.uncertain = self.uncertain
        fetch = partial(_compat.download, crawler)
        if EMIT_UNRESERVED in self.options.emit or "reservations" in self.options.fields:
            self._reader.reservations = Reservations(fetch)
            noted = self._reader.reservations.note
            crawler.signals.connect(noted, signals.response_received)
        if self.options.join_pages > 1:
            most, longest = self.options.join_pages, self.options.max_body
            self._reader.further_pages = FurtherPages(fetch, self.stats, most, longest)
        crawler.signals.connect(self.open, signals.spider_opened)
        # Before others that wait for the end, as Spidermon, look at the stats.
        crawler.signals.connect(self.evaluate_at_once, signals.spider_closed)
        crawler.signals.connect(self.close, signals.spider_closed)
        if self.fates is not None:
            listen(self.fates, crawler.signals)
        for left in (signals.item_scraped, signals.item_dropped, signals.item_error):
            crawler.signals.connect(self.item_pages.forget, left)

    def _load(self, store: Store) -> None:
        """Load what earlier crawls have kept in *store*; a part that is turned off is None."""
        store.check()
        options, self._store = self.options, store
        only_new = bool(options.only_new)
        self._timer: Any = None
        self.learner = Learner(StoredModel(store, DEFAULT))
        self.sites: CrawledSites | None = None
        self.seen: SeenArticles | None = None
        self.stories: Stories | None = None
        self.quality: SiteQuality | None = None
        self.fates: Fates | None = None
        self.uncertain: UncertainPages | None = None
        if options.site_memory:
            public_suffixes()  # which are read now, and not in the event loop
            self.sites = CrawledSites(SiteStore(store), options.site_memory * MEGABYTE)
        if only_new:
            self.seen = SeenArticles(SeenStore(store), round(60 * options.only_new), minute_now)
        if options.copies != COPIES_KEEP:
            self.stories = Stories(StoryStore(store), minute_now)
        if options.report != REPORT_OFF:
            self.quality = SiteQuality(QualityStore(store), only_new=only_new)
            self.fates = Fates(QualityStore(store), self.quality, self.stats, only_new=only_new)
        if options.report == REPORT_PAGES:
            self.uncertain = UncertainPages(QualityStore(store), minute_now)
        parts: tuple[CheckpointPart[Any] | None, ...] = (
            self.quality,
            self.fates,
            self.stories,
            self.sites,
            self.learner,
            self.seen,
            self.uncertain,
        )
        self.checkpoints = Checkpoints(store, [part for part in parts if part is not None])

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not settings.enabled(crawler.settings):
            raise NotConfigured("MSS_ENABLED is off")
        return cls(crawler)

    @classmethod
    def of(cls, crawler: Crawler) -> MssExtension:
        """The extension of *crawler*, for the components.

        The add-on lists it in EXTENSIONS. A project that enables components by hand need not: as
        extensions are made before all other components, the first of these that finds none makes
        it, and the crawler, which lives as long, keeps it for the next one.
        """
        extension = crawler.get_extension(MssExtension) or vars(crawler).get(BY_HAND)
        if extension is None:
            extension = vars(crawler)[BY_HAND] = cls.from_crawler(crawler)
        assert isinstance(extension, MssExtension)
        return extension

    def reader_for_component(self) -> ArticleReader:
        """What a component asks for articles; from now on, wrapped pages have theirs made."""
        self.trainer.with_articles = True
        return self._reader

    def guess(self, url: str) -> Guess:
        """What the page at *url* is by its address, as far as its site is known."""
        return guess(url, AddressCounts() if self.sites is None else self.sites.addresses(url))

    def open(self) -> None:
        learns_alone = self.checkpoints.parts == [self.learner]
        if self.options.train or not learns_alone:  # there may be something to write
            self._timer = _compat.every(CHECKPOINT_SECONDS, self.checkpoints.begin)
        self.jobs.start_workers(asked_for=self._asked_for_workers)

    async def evaluate(self) -> None:
        """Log the alarms of the sites of this crawl, all of whose items are through."""
        if self.quality is not None and not self._is_evaluated:
            self._is_evaluated = True
            self._store.end()
            self._log(await self.quality.evaluated(), self.quality.failures)

    def evaluate_at_once(self) -> None:
        """Do the same if no pipeline has, without waiting long: a signal does not wait."""
        if self.quality is not None and not self._is_evaluated:
            self._is_evaluated = True
            self._store.end()
            self._log(self.quality.evaluated_at_once(), self.quality.failures)

    def _log(self, alarms: list[Alarm], failures: int) -> None:
        self.stats.put(stats.QUALITY_ALARMS, len(alarms))
        self.stats.put(stats.QUALITY_FAILED, failures)
        for alarm in alarms:
            self.stats.add(stats.QUALITY_ALARM, site=alarm.site, measure=alarm.measure)
        for line in alarm_lines(alarms):
            logger.warning("scrapy-mss: %s", line)

    async def close(self, reason: str = "") -> None:
        """End with the crawl: learn what is under way, write all, log a summary."""
        finished = reason == FINISHED
        async with AsyncExitStack() as steps:  # the last first, each whatever the others raise
            steps.callback(self._summarize)
            steps.callback(self._report)
            steps.callback(self.checkpoints.close, finished=finished)
            steps.callback(self.jobs.stop_workers)
            steps.push_async_callback(self.checkpoints.finish, finished=finished)
            steps.push_async_callback(self.trainer.drain)
            steps.callback(self._stop, finished=finished)

    def _stop(self, *, finished: bool) -> None:
        """Begin no more checkpoints, and wait for the store a few seconds at most."""
        self._store.end()
        if self.fates is not None:
            self.fates.end(finished=finished)
        if self._timer is not None and self._timer.running:  # if its call has raised, it is not
            self._timer.stop()

    def _report(self) -> None:
        """Put the counts of all parts into the stats, and log what is lost."""
        self.stats.put(stats.MODEL_PAGES, self.learner.pages)
        self.stats.put(stats.MODEL_CHECKPOINTS, self.learner.n_checkpoints)
        self.stats.put(stats.MODEL_TWICE, self.learner.n_twice)
        for script, taught in self.learner.model.learned.lessons.by_script.items():
            self.stats.put(stats.LEARNING_SITES, taught.sites, script=script)
            self.stats.put(stats.LEARNING_WEIGHT, round(taught.weight, 4), script=script)
            self.stats.put(stats.LEARNING_GAIN, round(taught.gain, 4), script=script)
        if self.sites is not None:
            self.stats.put(stats.SITES_LEARNED, self.sites.pages)
            self.stats.put(stats.SITES_CHANGED, self.sites.changed)
        failures = (
            (self.learner, stats.MODEL_FAILED),
            (self.sites, stats.SITES_FAILED),
            (self.seen, stats.SEEN_FAILED),
            (self.stories, stats.STORIES_FAILED),
            (self.quality, stats.QUALITY_FAILED),
            (self.uncertain, stats.UNSURE_FAILED),
        )
        for part, stat in failures:
            if part is not None:
                self.stats.put(stat, part.failures)
        lost = [part.loss for part in self.checkpoints.parts if part.lost]
        if lost:
            logger.error(
                "scrapy-mss: the store has not confirmed these, which may be lost: %s",
                ", ".join(lost),
            )

    def _summarize(self) -> None:
        model = self.learner.model.identifier
        logger.info("%s", summary(self.stats, self.wrappers, model))


def summary(numbers: CrawlStats, wrappers: Iterable[Wrapper], model: str) -> str:
    """The lines for a crawl with these *numbers* and *wrappers*, whose model is called *model*.

    A wrapper seems outdated if it labelled no page of its site, or if none of its selectors for a
    field matched on the pages that it labelled. The stats have the first hundred sites.
    """
    sites = sorted({wrapper.site for wrapper in wrappers})
    labelled = [site for site in sites if numbers.get(stats.WRAPPER_HIT, site=site)]
    missed = [site for site in sites if numbers.get(stats.WRAPPER_MISS, site=site)]
    articles, pages = numbers.get(stats.EXTRACT_ARTICLES), numbers.get(stats.EXTRACT_PAGES)
    learned, seen = numbers.get(stats.TRAIN_LEARNED), numbers.get(stats.TRAIN_SEEN)
    by_feeds = numbers.get(stats.TRAIN_SOURCE, source=FEED)
    mean = numbers.get(stats.EXTRACT_PROBABILITY) / articles if articles else 0.0
    wrapped = plural(len(labelled), "wrapped site")
    of_sites = f"{learned - by_feeds:.0f} of {plural(int(seen), 'page')} of {wrapped}"
    of_feeds = f" and {by_feeds:.0f} by the texts of feeds" if by_feeds else ""
    found = f"{plural(int(articles), 'article')} in {plural(int(pages), 'page')}"
    lines = [
        f"learned {of_sites if seen else 'no pages'}{of_feeds} (model {model})",
        f"{found}, mean probability {mean:.2f}" if articles else found,
        *_to_check("wrappers that matched no page of their site", set(missed) - set(labelled)),
        *_to_check("wrappers whose fields were on no page", _with_fields(numbers, labelled)),
    ]
    return "\n".join(f"scrapy-mss: {line}" for line in lines)


def alarm_lines(alarms: Sequence[Alarm]) -> Iterator[str]:
    """A line for each of the first *alarms*, and one for the others."""
    for alarm in alarms[:MAX_SITES]:
        yield f"quality has declined on {alarm}" if isinstance(alarm, Figure) else str(alarm)
    more = len(alarms) - MAX_SITES
    if more > 0:
        yield f"{more} more alarms; see `scrapy mss report`"


def _with_fields(numbers: CrawlStats, sites: Iterable[str]) -> Iterator[str]:
    """Of *sites* those with fields that were never found, each with their names."""
    for site in sites:
        never = [
            each
            for each in FIELDS
            if numbers.get(stats.FIELD_MISS, site=site, field=each)
            and not numbers.get(stats.FIELD_HIT, site=site, field=each)
        ]
        if never:
            yield f"{site} ({', '.join(never)})"


def _to_check(what: str, sites: Iterable[str]) -> list[str]:
    """A line that says *what* is to be checked, or none."""
    names = sorted(sites)
    if not names:
        return []
    more = len(names) - MAX_SITES
    named = ", ".join(names[:MAX_SITES]) + (f" and {more} more" if more > 0 else "")
    return [f"{what}: {named}; check them with `scrapy mss check`"]
