"""Learns from labelled pages, into a store that other crawls may be using.

Pages are labelled where page work is done, several at a time, and their counts are added here, in
the event loop, one after the other; nothing else changes the model. What they teach adds up, so
the order does not matter. If the workers have pages enough to be busy, the crawl waits. Pages are
not stored.

The live model includes at once everything that this crawl has learned, beside the bundled model,
which is never stored. What was learned since the last checkpoint is also kept in a model of its
own; a checkpoint adds it to the store, and the live model takes what other crawls have added
meanwhile. A page that crawls with this store have learned before, with the same text, is not
learned again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from time import perf_counter
from typing import Any

from scrapy.http import HtmlResponse

from scrapy_mss import stats
from scrapy_mss.blocks.fed_text import FedText
from scrapy_mss.blocks.lessons import Lessons
from scrapy_mss.core.labels import Rejection
from scrapy_mss.crawl.jobs import LabelJob, PageLabels, answered
from scrapy_mss.crawl.processes import ERROR
from scrapy_mss.crawl.wire import ModelChanges, PageAnswer
from scrapy_mss.models.files import with_bundled
from scrapy_mss.models.model import Example, Model, generation_after
from scrapy_mss.models.store import StoredModel
from scrapy_mss.settings import Options
from scrapy_mss.stats import CrawlStats
from scrapy_mss.storage.checkpoints import CheckpointPart
from scrapy_mss.storage.tables import Change

logger = logging.getLogger(__name__)

TOO_LARGE = "too_large"
CHECKPOINT_PAGES = 500  # learned: what a killed crawl loses of them, it learns again


class _Unsaved(Model):
    """What is to be added to the store."""

    def __len__(self) -> int:
        return len(self.learned_pages)


class Learner(CheckpointPart[_Unsaved]):
    """The live model of a crawl, whose *changes* workers follow, and what the store has to add."""

    FAILED = "a checkpoint failed, its counts are kept"
    LOST = "the counts of %d learned pages"

    def __init__(self, stored: StoredModel) -> None:
        """Start from what is *stored*, beside the bundled model."""
        super().__init__(
            lambda: _Unsaved(stored.profile), lambda batch: stored.adding(lambda: batch)
        )
        self._stored = stored
        self.model = with_bundled(stored.load())
        self.changes = ModelChanges(self.model)
        self.n_checkpoints = 0
        self.n_twice = 0  # pages that another crawl learned at the same time
        self._newest_generation, self._in_newest = self.model.learned.learned_pages.newest()
        self.unsaved_pages = 0  # learned since a checkpoint was last begun

    @property
    def pages(self) -> int:
        return self.model.learned.bayes.pages

    def learn(self, example: Example) -> Rejection | None:
        """Learn *example*; why it is rejected, if it is.

        Whether it was learned before and that it is learned now is one step, which nothing can
        come between.
        """
        if len(example.lessons) and example.lessons.reader != self.model.reader:
            raise ValueError("lessons by another classifier than that of the crawl")
        if self.checkpoints is not None:
            self.checkpoints.settle(0)  # others may have learned it
        learned = self.model.learned
        rejection = learned.rejection(example)
        if rejection is not None:
            return rejection
        generation = self._generation()
        self._unsaved.add(example, generation)
        with self.changes.changing(example):
            learned.add(example, generation)
        self.unsaved_pages += 1
        return None

    def _generation(self) -> int:
        """That of the next page, by the pages that are known if most have no counts."""
        full = generation_after(self._in_newest)
        self._in_newest += 1
        return max(generation_after(self.pages), self._newest_generation + full)

    @property
    def loss(self) -> str:
        return f"{super().loss} ({self._stored.name})"

    def take(self) -> Change | None:
        self.unsaved_pages = 0
        return super().take()

    def settle(self, result: Any, error: Exception | None) -> None:  # noqa: ANN401 - of others
        """Go on with what others have learned; after an *error*, what was taken is unsaved."""
        n_written = self._n_written
        super().settle(result, error)
        if error is None:
            self.n_checkpoints += 1
            self._learn_of_others(result)
        else:  # what was written may still wait for a server; unlike sites, no page comes again
            self._n_written = n_written

    def doubt(self) -> None:
        super().doubt()
        self.failures += 1

    def _joined(self, batch: _Unsaved, later: _Unsaved) -> _Unsaved:
        lessons = Lessons.total((batch.lessons, later.lessons))
        batch.learned_pages.merge(later.learned_pages)  # again does no harm
        batch.bayes.merge(later.bayes)
        batch.lessons = lessons
        return batch

    def _learn_of_others(self, others: Model | Exception | None) -> None:
        """Add what *others* have learned to the live model; our own counts are stored already."""
        error = others if isinstance(others, Exception) else None
        if isinstance(others, Model):
            if others.lessons.reader != self.model.reader:  # a crawl by another release
                others.lessons = Lessons()
            try:
                with self.changes.changing():
                    self.n_twice += self.model.learned.merge(others)
            except Exception as caught:  # noqa: BLE001 - whatever is wrong with theirs
                error = caught
        if error is not None:
            why = f"{type(error).__name__}: {error}"
            logger.warning("scrapy-mss: cannot load what other crawls learned: %s", why)


class Trainer:
    """Trains the model on labelled pages, and counts the results.

    Wrappers label pages, and where there is none, feeds that have the text of their articles.
    """

    def __init__(
        self, options: Options, labels: PageLabels, learner: Learner, numbers: CrawlStats
    ) -> None:
        self._options = options
        self._labels = labels
        self._learner = learner
        self._stats = numbers
        self.with_articles = False  # whether a component asks for those of the pages, too
        self._under_way: set[asyncio.Task[None]] = set()

    async def train(
        self, response: HtmlResponse, *, article: bool, text: FedText | None = None
    ) -> None:
        """Have the page learned, if a wrapper labels it, or else the *text* that its feed has.

        *article* says whether others read it.
        Returns as soon as the page is under way, which waits while workers have pages enough.
        """
        wrapper = self._labels.wrapper_for(response)
        if wrapper is not None:
            self._stats.add(stats.TRAIN_SEEN)
        elif text is None:
            return
        is_for_training = wrapper is not None and wrapper.train_only
        wanted = article and self.with_articles and not is_for_training
        await self._caught(self._begin(response, article=wanted, text=text), response.url)

    async def drain(self) -> None:
        """Wait until all pages that are under way are learned."""
        while self._under_way:
            await asyncio.wait(self._under_way)

    async def _begin(self, response: HtmlResponse, *, article: bool, text: FedText | None) -> None:
        if len(response.text) > self._options.max_body:
            self._stats.add(stats.TRAIN_REFUSED, reason=TOO_LARGE)
            return
        await self._labels.jobs.room()
        labelled = self._labels.begin(response, example=True, article=article, text=text)
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
        answer = await answered(labelled.job)
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
        """Learn from the *answer* of a page; the reason if it was not learned, or empty."""
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
        self._stats.add(stats.TRAIN_SOURCE, source=labels.source)
        self._stats.add(stats.TRAIN_TOKENS, labels.n_tokens)
        return ""
