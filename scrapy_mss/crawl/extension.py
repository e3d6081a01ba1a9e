"""The life cycle of scrapy-mss in a crawl, as a Scrapy extension.

It reads the settings, wrappers and model when it is made, so that any error in them stops the crawl
at its start. It begins and ends with the crawl; at the end the model is written, workers are
stopped, and a summary is logged. The components take from it what they need.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured

from scrapy_mss import settings, stats
from scrapy_mss.crawl import _compat
from scrapy_mss.crawl.extraction import ArticleReader
from scrapy_mss.crawl.further_pages import FurtherPages
from scrapy_mss.crawl.item_pages import ItemPages
from scrapy_mss.crawl.jobs import PageJobs
from scrapy_mss.crawl.labelling import PageLabels
from scrapy_mss.crawl.learner import Learner, unshared
from scrapy_mss.crawl.pool import INSTEAD, WorkerPool, can_have_workers
from scrapy_mss.crawl.site_quality import site_quality
from scrapy_mss.crawl.stores import (
    model_name,
    model_store,
    seen_store,
    site_store,
    story_path,
)
from scrapy_mss.crawl.summary import summary, told
from scrapy_mss.crawl.training import Trainer
from scrapy_mss.crawl.unsure_pages import unsure_pages
from scrapy_mss.crawl.waiting import finished
from scrapy_mss.metadata.sites import public_suffixes
from scrapy_mss.metadata.text_language import detector
from scrapy_mss.seen.crawled import DAY, SeenArticles, Times
from scrapy_mss.seen.stories import Stories
from scrapy_mss.seen.story_store import StoryStore
from scrapy_mss.sites.crawled import CrawledSites
from scrapy_mss.stats import CrawlStats
from scrapy_mss.stored_pages import Source, SourceError
from scrapy_mss.wrappers import load_wrappers

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

logger = logging.getLogger(__name__)

MEGABYTE = 2**20
WITHOUT_DETECTOR = (
    "MSS_LANGUAGES goes by what pages declare, and those that are silent pass; with "
    "pip install 'scrapy-mss[language]' the language is told from the text"
)


def minutes() -> int:
    """The minutes since 1970."""
    return int(time() // 60)


class MssExtension:
    """Everything of scrapy-mss that belongs to one crawl."""

    def __init__(self, crawler: Crawler) -> None:
        """Read what the settings of *crawler* name; any error stops the crawl here."""
        self.options = settings.read(crawler.settings)
        for complaint in settings.unknown(crawler.settings):
            logger.warning("scrapy-mss: %s", complaint)
        _check_replay(self.options)
        if self.options.languages and detector() is None:
            logger.warning("scrapy-mss: %s", WITHOUT_DETECTOR)
        self.wrappers = load_wrappers(self.options.wrappers)
        self.stats = CrawlStats(crawler.stats)
        self.item_pages = ItemPages()
        model = model_name(crawler.settings, self.options.model)
        self.learner = Learner(model_store(model))
        self.sites = _remembered_sites(self.options, model)
        self.seen = _seen_articles(self.options)
        self.stories = _stories(self.options)
        self.quality = site_quality(self.options)
        self.jobs = PageJobs(self.options, self.learner.model, self.sites, self.quality)
        self._pool = _prepared_pool(self.options, self.learner)
        trusted = self.options.trust_wrapper_miss
        labels = PageLabels(self.wrappers, self.jobs, self.stats, trust_misses=trusted)
        self.trainer = Trainer(self.options, labels, self.learner, self.stats)
        self._reader = ArticleReader(self.options, labels, self.jobs, self.stats)
        self._reader.unsure = self.unsure = unsure_pages(self.options, minutes)
        if self.options.join_pages > 1:
            fetch = partial(_compat.download, crawler)
            most, longest = self.options.join_pages, self.options.max_body
            self._reader.further_pages = FurtherPages(fetch, self.stats, most, longest)
        self._asked_for_workers = "MSS_WORKERS" in crawler.settings
        self._timers: list[_compat.Stoppable] = []
        crawler.signals.connect(self.open, signals.spider_opened)
        # Before others that wait for the end, as Spidermon, look at the stats.
        crawler.signals.connect(self.judge, signals.spider_closed)
        crawler.signals.connect(self.close, signals.spider_closed)
        for left in (signals.item_scraped, signals.item_dropped, signals.item_error):
            crawler.signals.connect(self.item_pages.forget, left)

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
        it, where the next one, and `Crawler.get_extension`, will look.
        """
        extension = crawler.get_extension(MssExtension)
        if extension is None:
            extension = cls.from_crawler(crawler)
            assert crawler.extensions is not None
            crawler.extensions.middlewares += (extension,)
        return extension

    def reader_for_component(self) -> ArticleReader:
        """What a component asks for articles; from now on, wrapped pages have theirs made."""
        self.trainer.with_articles = True
        return self._reader

    def open(self) -> None:
        """Begin with the crawl."""
        seconds = self.options.checkpoint_seconds
        if self.options.train:
            self._timers.append(_compat.every(seconds, self.learner.checkpoint))
        if self.sites is not None:
            self._timers.append(_compat.every(seconds, self.sites.checkpoint))
        if self.seen is not None:
            self._timers.append(_compat.every(seconds, self.seen.checkpoint))
        if self.stories is not None:
            self._timers.append(_compat.every(seconds, self.stories.checkpoint))
        if self.quality is not None:
            self._timers.append(_compat.every(seconds, self.quality.checkpoint))
        if self.options.workers and self._can_have_workers() and self._pool is not None:
            self._pool.start()
            self.jobs.pool, self.learner.changing = self._pool, self._pool.changing

    def _can_have_workers(self) -> bool:
        """Whether there can be worker processes in this crawl; if not, it is logged why."""
        if not can_have_workers():
            why = "MSS_WORKERS needs a POSIX system and an executable of Python, not a frozen one"
        elif not _compat.runs_asyncio():
            why = "MSS_WORKERS needs Scrapy to run on asyncio (TWISTED_REACTOR)"
        else:
            return True
        logger.log(
            logging.WARNING if self._asked_for_workers else logging.INFO,
            "scrapy-mss: %s; pages are read in the crawl's own process instead",
            why,
        )
        return False

    def judge(self) -> None:
        """Tell what has fallen on the sites of this crawl."""
        if self.quality is None:
            return
        alarms = self.quality.judged()
        self.stats.put(stats.QUALITY_ALARMS, len(alarms))
        self.stats.put(stats.QUALITY_FAILED, self.quality.failures)
        for alarm in alarms:
            self.stats.add(stats.QUALITY_ALARM, site=alarm.site, measure=alarm.measure)
        for line in told(alarms):
            logger.warning("scrapy-mss: %s", line)

    async def close(self, reason: str = "") -> None:
        """End with the crawl: learn what is under way, write the model, log a summary."""
        for timer in self._timers:
            timer.stop()
        try:
            await self.trainer.drain()
            if _compat.runs_asyncio():
                await self._finish(reason)
        finally:
            try:
                self._close_parts()
            finally:
                self._close_seen(reason)
                self._close_quality()
        self.stats.put(stats.MODEL_PAGES, self.learner.pages)
        self.stats.put(stats.MODEL_CHECKPOINTS, self.learner.checkpoints)
        self.stats.put(stats.MODEL_TWICE, self.learner.n_twice)
        self.stats.put(stats.MODEL_FAILED, self.learner.failures)
        model = self.learner.model.identifier
        logger.info("%s", summary(self.stats, self.wrappers, model))

    def _close_parts(self) -> None:
        try:
            if self._pool is not None:
                self.jobs.pool, self.learner.changing = None, unshared
                self._pool.close()
        finally:
            self.learner.close()
            self._close_sites()

    async def _finish(self, reason: str) -> None:
        """Write all while the event loop goes on; a server that has gone is waited for once."""
        await asyncio.gather(
            self.learner.finish(),
            self._finish_sites(),
            self._finish_seen(reason),
            self._finish_quality(),
        )

    async def _finish_quality(self) -> None:
        if self.quality is not None:
            await self.quality.finish()

    async def _finish_sites(self) -> None:
        """Write what was learned of sites while the event loop goes on."""
        if self.sites is None:
            return
        await finished(self.sites.write)
        self.sites.checkpoint()
        await finished(self.sites.write)
        self.sites.wait()
        await finished(self.sites.end())

    async def _finish_seen(self, reason: str) -> None:
        """Write what was seen while the event loop goes on."""
        if self.seen is None:
            return
        await finished(self.seen.write)
        self.seen.checkpoint()
        await finished(self.seen.write)
        await finished(self.seen.end(finished=reason == "finished"))

    def _close_seen(self, reason: str) -> None:
        if self.seen is not None:
            self.seen.close(finished=reason == "finished")
            self.stats.put(stats.SEEN_FAILED, self.seen.failures)
        if self.stories is not None:
            self.stories.close()
            self.stats.put(stats.STORIES_FAILED, self.stories.failures)

    def _close_quality(self) -> None:
        if self.quality is not None:
            self.quality.close()
            self.stats.put(stats.QUALITY_FAILED, self.quality.failures)
        if self.unsure is not None:
            self.unsure.close()
            self.stats.put(stats.UNSURE_FAILED, self.unsure.failures)

    def _close_sites(self) -> None:
        if self.sites is None:
            return
        self.sites.close()
        self.stats.put(stats.SITES_LEARNED, self.sites.pages)
        self.stats.put(stats.SITES_CHANGED, self.sites.changed)
        self.stats.put(stats.SITES_FAILED, self.sites.failures)


def _prepared_pool(options: settings.Options, learner: Learner) -> WorkerPool | None:
    """The workers that read with the model of *learner*, not started; None if there can be none."""
    if not options.workers or not can_have_workers():
        return None
    try:
        return WorkerPool(learner.model, options)
    except OSError as error:
        logger.warning("scrapy-mss: no memory can be shared with workers: %s. %s", error, INSTEAD)
        return None


def _remembered_sites(options: settings.Options, model: str) -> CrawledSites | None:
    """The memories of sites that belong to the *model*, unless they are off."""
    if not options.site_memory:
        return None
    public_suffixes()  # which are read now, and not in the event loop
    return CrawledSites(site_store(model), options.site_memory * MEGABYTE)


def _seen_articles(options: settings.Options) -> SeenArticles | None:
    """What was seen, unless it is off; by default in the folder `.scrapy`, which jobs share."""
    if not options.only_new:
        return None
    times = Times(round(60 * options.recheck_hours), options.seen_days * DAY)
    return SeenArticles(seen_store(options.seen, times.keep), times, minutes)


def _stories(options: settings.Options) -> Stories | None:
    """The stories that were told, unless nobody asks for them; in the file of what was seen."""
    if options.copies == settings.COPIES_KEEP:
        return None
    store = StoryStore(story_path(options.seen))
    store.check()
    return Stories(store, round(options.story_days * DAY), minutes)


def _check_replay(options: settings.Options) -> None:
    """Stop at sources that `ReplayHandler` could not read.

    Scrapy takes an error of a download handler for that of each of its requests, and goes on.
    """
    for path in options.replay:
        try:
            Source(Path(str(path))).check()
        except SourceError as error:
            raise settings.SettingError(f"MSS_REPLAY: {error}") from error
