"""State that a crawl loads from earlier ones and saves for later ones, and when it is written.

Each part keeps unsaved changes in memory until a checkpoint writes them. At the end of the crawl
all parts are written together; a failing part does not prevent the others from being written.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import ExitStack
from time import time
from typing import Protocol

from scrapy_mss import stats
from scrapy_mss.crawl import _compat
from scrapy_mss.crawl.learner import Learner
from scrapy_mss.crawl.site_quality import site_quality
from scrapy_mss.crawl.stores import model_store, seen_store, site_store, story_path
from scrapy_mss.crawl.unsure_pages import unsure_pages
from scrapy_mss.crawl.waiting import finished
from scrapy_mss.pages.addresses import public_suffixes
from scrapy_mss.seen.crawled import SeenArticles, Times
from scrapy_mss.seen.store import DAY
from scrapy_mss.seen.stories import Stories
from scrapy_mss.seen.story_store import StoryStore
from scrapy_mss.settings import COPIES_KEEP, Options
from scrapy_mss.sites.crawled import CrawledSites
from scrapy_mss.stats import CrawlStats
from scrapy_mss.storage.redis_server import Patience

logger = logging.getLogger(__name__)

MEGABYTE = 2**20
FINISHED = "finished"  # why a crawl ended that has done all there was to do


class _Part(Protocol):
    """What has something to store."""

    @property
    def lost(self) -> int:
        """How much of it could not be stored in the end."""


def minutes() -> int:
    """The minutes since 1970."""
    return int(time() // 60)


class StoredState:
    """The model, the memory of sites, what was seen, stories, quality and unsure pages.

    A part that the options turn off is None.
    """

    def __init__(self, options: Options, model: str, numbers: CrawlStats) -> None:
        """Read what there is; *model* names the file or the server of the model."""
        self._options = options
        self._stats = numbers
        self._timers: list[_compat.Stoppable] = []
        self.patience = patience = Patience()
        self.learner = Learner(model_store(model, patience))
        self.sites = _remembered_sites(options, model, patience)
        self.seen = _seen_articles(options, patience)
        self.stories = _stories(options)
        self.quality = site_quality(options, patience)
        self.unsure = unsure_pages(options, minutes)

    def begin(self) -> None:
        """Write a checkpoint of each part every so many seconds."""
        parts = (self.sites, self.stories, self.quality)
        checkpoints = [part.checkpoint for part in parts if part is not None]
        if self._options.train or self.seen is not None:
            checkpoints.insert(0, self._checkpoint_learned)
        for checkpoint in checkpoints:
            self._timers.append(_compat.every(self._options.checkpoint_seconds, checkpoint))

    def _checkpoint_learned(self) -> None:
        """Write the model, and then what was seen: that is not downloaded again to be learned."""
        if self._options.train:
            self.learner.checkpoint()
        if self.seen is not None and not self.learner.unsaved_pages:
            self.seen.checkpoint(self.learner.write)

    def stop(self) -> None:
        """Begin no more checkpoints; from now on, each address is waited for a few seconds."""
        self.patience.begin_end()
        with ExitStack() as stops:  # each, whatever the others raise
            for timer in self._timers:
                if timer.running:  # one whose call has raised has stopped itself
                    stops.callback(timer.stop)

    async def finish(self, reason: str) -> None:
        """Write all while the event loop goes on; what fails is left to `close`."""
        model = asyncio.ensure_future(self.learner.finish())
        writing = {
            "the model": model,
            "the memory of sites": self._finish_sites(),
            "what was seen": self._finish_seen(reason, model),
            "stories": self._finish_stories(),
            "the quality of sites": self._finish_quality(),
        }
        ends = await asyncio.gather(*writing.values(), return_exceptions=True)
        for name, error in zip(writing, ends, strict=True):
            if error is not None:
                logger.error("scrapy-mss: %s could not be finished", name, exc_info=error)

    def close(self, reason: str) -> None:
        """Write all that `finish` has not; count what came of it, and log what is lost."""
        closings: tuple[Callable[[], None], ...] = (
            self.learner.close,
            self._close_sites,
            lambda: self._close_seen(reason),
            self._close_stories,
            self._close_quality,
            self._close_unsure,
        )
        with ExitStack() as steps:  # the last first, each whatever the others raise
            steps.callback(self._tell_what_came)
            steps.callback(self.patience.end)
            for close in reversed(closings):
                steps.callback(close)

    def _tell_what_came(self) -> None:
        """Count what came of the learned pages, and log what of all parts is lost."""
        self._stats.put(stats.MODEL_PAGES, self.learner.pages)
        self._stats.put(stats.MODEL_CHECKPOINTS, self.learner.checkpoints)
        self._stats.put(stats.MODEL_TWICE, self.learner.n_twice)
        self._stats.put(stats.MODEL_FAILED, self.learner.failures)
        lost = [text % part.lost for part, text in self._parts() if part is not None and part.lost]
        if lost:
            logger.error(
                "scrapy-mss: lost, since it was not written, or perhaps not: %s",
                ", ".join(lost),
            )

    def _parts(self) -> tuple[tuple[_Part | None, str], ...]:
        """Each part, and what of it can be lost."""
        return (
            (self.learner, f"the counts of %d learned pages ({self.learner.store.name})"),
            (self.sites, "the memory of %d sites"),
            (self.seen, "that %d addresses were seen"),
            (self.stories, "the stories of %d texts"),
            (self.quality, "the quality of %d sites"),
        )

    async def _finish_quality(self) -> None:
        if self.quality is not None:
            await self.quality.finish()

    async def _finish_sites(self) -> None:
        if self.sites is None:
            return
        await finished(self.sites.write)
        self.sites.checkpoint()
        await finished(self.sites.write)
        self.sites.wait()
        await finished(self.sites.end())

    async def _finish_seen(self, reason: str, model: asyncio.Future[None]) -> None:
        if self.seen is None:
            return
        await asyncio.wait([model])
        await finished(self.seen.write)
        self.seen.checkpoint()
        await finished(self.seen.write)
        await finished(self.seen.end(finished=reason == FINISHED))

    async def _finish_stories(self) -> None:
        if self.stories is None:
            return
        await finished(self.stories.write)
        self.stories.checkpoint()
        await finished(self.stories.write)
        await finished(self.stories.forget())

    def _close_sites(self) -> None:
        if self.sites is not None:
            self.sites.close()
            self._stats.put(stats.SITES_LEARNED, self.sites.pages)
            self._stats.put(stats.SITES_CHANGED, self.sites.changed)
            self._stats.put(stats.SITES_FAILED, self.sites.failures)

    def _close_seen(self, reason: str) -> None:
        if self.seen is not None:
            self.seen.close(finished=reason == FINISHED)
            self._stats.put(stats.SEEN_FAILED, self.seen.failures)

    def _close_stories(self) -> None:
        if self.stories is not None:
            self.stories.close()
            self._stats.put(stats.STORIES_FAILED, self.stories.failures)

    def _close_quality(self) -> None:
        if self.quality is not None:
            self.quality.close()
            self._stats.put(stats.QUALITY_FAILED, self.quality.failures)

    def _close_unsure(self) -> None:
        if self.unsure is not None:
            self.unsure.close()
            self._stats.put(stats.UNSURE_FAILED, self.unsure.failures)


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
    return SeenArticles(seen_store(options.seen, times.keep, patience), times, minutes)


def _stories(options: Options) -> Stories | None:
    """The stories that were told, unless nobody asks for them; in the file of what was seen."""
    if options.copies == COPIES_KEEP:
        return None
    store = StoryStore(story_path(options.seen))
    store.check()
    return Stories(store, round(options.story_days * DAY), minutes)
