"""State that a crawl loads from earlier ones and saves for later ones, and when it is written."""

from __future__ import annotations

import logging
from typing import Any

from scrapy_mss import stats
from scrapy_mss.crawl import _compat
from scrapy_mss.crawl.fates import Fates
from scrapy_mss.crawl.site_quality import SiteQuality, UncertainPages
from scrapy_mss.crawl.training import Learner
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import StoredModel
from scrapy_mss.pages.addresses import public_suffixes
from scrapy_mss.quality.store import QualityStore
from scrapy_mss.seen.articles import SeenArticles, SeenStore
from scrapy_mss.seen.stories import Stories, StoryStore
from scrapy_mss.settings import COPIES_KEEP, REPORT_OFF, REPORT_PAGES, Options
from scrapy_mss.sites.crawled import CrawledSites
from scrapy_mss.sites.store import SiteStore
from scrapy_mss.stats import CrawlStats
from scrapy_mss.storage.checkpoints import CheckpointPart, Checkpoints
from scrapy_mss.storage.tables import Store, minute_now

logger = logging.getLogger(__name__)

MEGABYTE = 2**20
CHECKPOINT_SECONDS = 300.0
FINISHED = "finished"  # why a crawl ended that has done all there was to do


class StoredState:
    """The model, the memory of sites, what was seen, stories, quality and uncertain pages.

    A part that the options turn off is None.
    """

    def __init__(self, options: Options, store: Store, numbers: CrawlStats) -> None:
        store.check()
        self._options = options
        self._store = store
        self._stats = numbers
        self._timer: Any = None
        self.learner = Learner(StoredModel(store, DEFAULT))
        self.sites = _remembered_sites(options, store)
        self.seen = (
            SeenArticles(SeenStore(store), round(60 * options.only_new), minute_now)
            if options.only_new
            else None
        )
        self.stories = (
            Stories(StoryStore(store), minute_now) if options.copies != COPIES_KEEP else None
        )
        self.quality = (
            SiteQuality(QualityStore(store), only_new=bool(options.only_new))
            if options.report != REPORT_OFF
            else None
        )
        self.fates = (
            Fates(QualityStore(store), self.quality, numbers, only_new=bool(options.only_new))
            if self.quality is not None
            else None
        )
        self.uncertain = (
            UncertainPages(QualityStore(store), minute_now)
            if options.report == REPORT_PAGES
            else None
        )
        parts: tuple[CheckpointPart | None, ...] = (
            self.quality,
            self.fates,
            self.stories,
            self.sites,
            self.learner,
            self.seen,
            self.uncertain,
        )
        self.checkpoints = Checkpoints(store, [part for part in parts if part is not None])

    def begin(self) -> None:
        """Write a checkpoint at intervals, if there may be anything to write."""
        if not self._options.train and self.checkpoints.parts == [self.learner]:
            return
        self._timer = _compat.every(CHECKPOINT_SECONDS, self.checkpoints.begin)

    def expect_end(self) -> None:
        """From now on, wait for the store a few seconds at most."""
        self._store.end()

    def stop(self, reason: str) -> None:
        """Begin no more checkpoints, and wait for the store a few seconds at most."""
        self.expect_end()
        if self.fates is not None:
            self.fates.end(finished=reason == FINISHED)
        if self._timer is not None and self._timer.running:  # if its call has raised, it is not
            self._timer.stop()

    async def finish(self, reason: str) -> None:
        """Write all while the event loop goes on; what fails is left to `close`."""
        await self.checkpoints.finish(finished=reason == FINISHED)

    def close(self, reason: str) -> None:
        """Write all that `finish` has not; put the counts into the stats, and log what is lost."""
        try:
            self.checkpoints.close(finished=reason == FINISHED)
        finally:
            self._report()

    def _report(self) -> None:
        self._stats.put(stats.MODEL_PAGES, self.learner.pages)
        self._stats.put(stats.MODEL_CHECKPOINTS, self.learner.n_checkpoints)
        self._stats.put(stats.MODEL_TWICE, self.learner.n_twice)
        for script, taught in self.learner.model.learned.lessons.by_script.items():
            self._stats.put(stats.LEARNING_SITES, taught.sites, script=script)
            self._stats.put(stats.LEARNING_WEIGHT, round(taught.weight, 4), script=script)
            self._stats.put(stats.LEARNING_GAIN, round(taught.gain, 4), script=script)
        if self.sites is not None:
            self._stats.put(stats.SITES_LEARNED, self.sites.pages)
            self._stats.put(stats.SITES_CHANGED, self.sites.changed)
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
                self._stats.put(stat, part.failures)
        lost = [part.loss for part in self.checkpoints.parts if part.lost]
        if lost:
            logger.error(
                "scrapy-mss: the store has not confirmed these, which may be lost: %s",
                ", ".join(lost),
            )


def _remembered_sites(options: Options, store: Store) -> CrawledSites | None:
    """The memories of sites in *store*, unless they are off."""
    if not options.site_memory:
        return None
    public_suffixes()  # which are read now, and not in the event loop
    return CrawledSites(SiteStore(store), options.site_memory * MEGABYTE)
