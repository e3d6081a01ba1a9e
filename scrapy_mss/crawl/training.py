"""Learns from the pages of sites with wrappers; pages are not stored.

Pages are labelled where page work is done, several at a time, and their counts are added here, in
the event loop, one after the other; nothing else changes the model. Counts add up, so the order
does not matter. If the workers have pages enough to be busy, the crawl waits.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from time import perf_counter

from scrapy.http import HtmlResponse

from scrapy_mss import stats
from scrapy_mss.core.labels import Rejection
from scrapy_mss.crawl.jobs import LabelJob, PageLabels
from scrapy_mss.crawl.learner import Learner
from scrapy_mss.crawl.wire import ERROR, PageAnswer
from scrapy_mss.settings import Options
from scrapy_mss.stats import CrawlStats

logger = logging.getLogger(__name__)

TOO_LARGE = "too_large"
CHECKPOINT_PAGES = 500  # learned: what a killed crawl loses of them, it learns again


class Trainer:
    """Trains the model on the pages that wrappers label, and counts what came of each."""

    def __init__(
        self, options: Options, labels: PageLabels, learner: Learner, numbers: CrawlStats
    ) -> None:
        self._options = options
        self._labels = labels
        self._learner = learner
        self._stats = numbers
        self.with_articles = False  # whether a component asks for those of the pages, too
        self._under_way: set[asyncio.Task[None]] = set()

    async def train(self, response: HtmlResponse, *, article: bool) -> None:
        """Have the page learned, if there is a wrapper for it; *article* says who else reads it.

        Returns as soon as the page is under way, which waits while workers have pages enough.
        """
        wrapper = self._labels.wrapper_for(response)
        if wrapper is None:
            return
        self._stats.add(stats.TRAIN_SEEN)
        wanted = article and self.with_articles and not wrapper.train_only
        await self._caught(self._begin(response, article=wanted), response.url)

    async def drain(self) -> None:
        """Wait until all pages that are under way are learned."""
        while self._under_way:
            await asyncio.wait(self._under_way)

    async def _begin(self, response: HtmlResponse, *, article: bool) -> None:
        if len(response.text) > self._options.max_body:
            self._stats.add(stats.TRAIN_REFUSED, reason=TOO_LARGE)
            return
        await self._labels.jobs.room()
        labelled = self._labels.begin(response, example=True, article=article)
        assert labelled is not None
        learning = self._learn(labelled)
        if labelled.job.done():
            await learning
            return
        task = asyncio.create_task(self._caught(learning, response.url))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def _caught(self, step: Coroutine[None, None, None], url: str) -> None:
        """Take *step*; whatever goes wrong, the crawl goes on."""
        try:
            await step
        except Exception:
            self._stats.add(stats.TRAIN_REFUSED, reason=ERROR)
            logger.exception("scrapy-mss: training failed on %s; the crawl continues", url)

    async def _learn(self, labelled: LabelJob) -> None:
        answer = await self._labels.answer(labelled)
        started = perf_counter()
        rejection = self._learned(answer)
        if answer.example is not None:
            self._labels.forget_example(labelled)
        if rejection:
            self._stats.add(stats.TRAIN_REFUSED, reason=rejection)
        self._stats.add(stats.TRAIN_SECONDS, answer.seconds + perf_counter() - started)
        if self._learner.unsaved_pages >= CHECKPOINT_PAGES:
            self._learner.checkpoint()

    def _learned(self, answer: PageAnswer) -> str:
        """Learn what came of one page; the reason if it was not learned, else an empty string."""
        labels, example = answer.labels, answer.example
        if labels is None:
            return answer.failure
        if labels.reason is not None:
            return labels.reason.value
        if example is None:
            return Rejection.ALREADY_LEARNED.value
        rejection = example if isinstance(example, Rejection) else self._learner.learn(example)
        if rejection is not None:
            return rejection.value
        self._stats.add(stats.TRAIN_LEARNED)
        self._stats.add(stats.TRAIN_TOKENS, labels.n_tokens)
        return ""
