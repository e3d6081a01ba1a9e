"""State that a crawl loads from earlier ones and saves for later ones, and when it is written."""

from __future__ import annotations

import logging
from contextlib import ExitStack

from scrapy_mss import stats
from scrapy_mss.crawl import _compat
from scrapy_mss.crawl.learner import Learner
from scrapy_mss.crawl.site_quality import site_quality
from scrapy_mss.crawl.stores import model_store, seen_store, site_store, story_path
from scrapy_mss.crawl.unsure_pages import unsure_pages
from scrapy_mss.pages.addresses import public_suffixes
from scrapy_mss.seen.crawled import SeenArticles, Times
from scrapy_mss.seen.store import DAY
from scrapy_mss.seen.stories import Stories
from scrapy_mss.seen.story_store import StoryStore
from scrapy_mss.settings import COPIES_KEEP, Options
from scrapy_mss.sites.crawled import CrawledSites, minute_now
from scrapy_mss.stats import CrawlStats
from scrapy_mss.storage.checkpoints import Checkpoints
from scrapy_mss.storage.redis_server import Patience

logger = logging.getLogger(__name__)

MEGABYTE = 2**20
FINISHED = "finished"  # why a crawl ended that has done all there was to do


class StoredState:
    """The model, the memory of sites, what was seen, stories, quality and unsure pages.

    A part that the options turn off is None.
    """

    def __init__(self, options: Options, model: str, numbers: CrawlStats) -> None:
        """Read what there is; *model* names the file or the server of the model."""
        self._options = options
        self._stats = numbers
        self._timer: _compat.Stoppable | None = None
        self.patience = patience = Patience()
        self.learner = Learner(model_store(model, patience))
        self.sites = _remembered_sites(options, model, patience)
        self.seen = _seen_articles(options, patience)
        self.stories = _stories(options)
        self.quality = site_quality(options, patience)
        parts = (self.quality, self.stories, self.sites, self.learner, self.seen)
        self.checkpoints = Checkpoints([part for part in parts if part is not None])
        if self.seen is not None:  # what was seen is not downloaded again to be learned
            self.seen.needs = self.learner
        self.unsure = unsure_pages(options, minute_now, self.checkpoints.run)

    def begin(self) -> None:
        """Write a checkpoint every so many seconds, if there may be anything to write."""
        if not self._options.train and self.checkpoints.parts == [self.learner]:
            return
        self._timer = _compat.every(self._options.checkpoint_seconds, self.checkpoints.begin)

    def stop(self) -> None:
        """Begin no more checkpoints; from now on, each address is waited for a few seconds."""
        self.patience.begin_end()
        if self._timer is not None and self._timer.running:  # if its call has raised, it is not
            self._timer.stop()

    async def finish(self, reason: str) -> None:
        """Write all while the event loop goes on; what fails is left to `close`."""
        await self.checkpoints.finish(finished=reason == FINISHED)

    def close(self, reason: str) -> None:
        """Write all that `finish` has not; count what came of it, and log what is lost."""
        with ExitStack() as steps:  # the last first, each whatever the others raise
            steps.callback(self._tell_what_came)
            steps.callback(self.patience.end)
            steps.callback(self.checkpoints.close, finished=reason == FINISHED)
            if self.unsure is not None:
                steps.callback(self.unsure.close)

    def _tell_what_came(self) -> None:
        """Count what came of all parts, and log what of them is lost."""
        self._stats.put(stats.MODEL_PAGES, self.learner.pages)
        self._stats.put(stats.MODEL_CHECKPOINTS, self.learner.n_checkpoints)
        self._stats.put(stats.MODEL_TWICE, self.learner.n_twice)
        if self.sites is not None:
            self._stats.put(stats.SITES_LEARNED, self.sites.pages)
            self._stats.put(stats.SITES_CHANGED, self.sites.changed)
        failures = (
            (self.learner, stats.MODEL_FAILED),
            (self.sites, stats.SITES_FAILED),
            (self.seen, stats.SEEN_FAILED),
            (self.stories, stats.STORIES_FAILED),
            (self.quality, stats.QUALITY_FAILED),
            (self.unsure, stats.UNSURE_FAILED),
        )
        for part, stat in failures:
            if part is not None:
                self._stats.put(stat, part.failures)
        lost = [part.loss for part in self.checkpoints.parts if part.lost]
        if lost:
            logger.error(
                "scrapy-mss: lost, since it was not written, or perhaps not: %s", ", ".join(lost)
            )


def _remembered_sites(options: Options, model: str, patience: Patience) -> CrawledSites | None:
    """The memories of sites that belong to the *model*, unless they are off."""
    if not options.site_memory:
        return None
    public_suffixes()  # which are read now, and not in the event loop
    return CrawledSites(site_store(model, patience), options.site_memory * MEGABYTE)


def _seen_articles(options: Options, patience: Patience) -> SeenArticles | None:
    """What was seen, unless it is off; by default in the folder `.scrapy`, which jobs share."""
    if not options.only_new:
        return None
    times = Times(round(60 * options.recheck_hours), options.seen_days * DAY)
    return SeenArticles(seen_store(options.seen, times.keep, patience), times, minute_now)


def _stories(options: Options) -> Stories | None:
    """The stories that were told, unless nobody asks for them; in the file of what was seen."""
    if options.copies == COPIES_KEEP:
        return None
    store = StoryStore(story_path(options.seen))
    store.check()
    return Stories(store, round(options.story_days * DAY), minute_now)
