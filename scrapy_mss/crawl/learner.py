"""A model that learns while others may be learning into the same file.

The live model answers at once with everything this crawl has learned, on top of the bundled model,
which is never written to the file. What was learned since the last checkpoint is kept a second
time, apart: a checkpoint adds just that to the file, in a thread. Where other crawls have added to
the file too, the same thread makes the model that it comes to, and the live model becomes that and
what was learned meanwhile. A checkpoint that fails gives its counts back and is tried again. A page
that this file's crawls have learned before, with the same text, is not learned again.

In memory are two sets of tables, those of the live model and of what is not written yet, and while
a checkpoint is written those of the file; the bundled ones are read again where they are needed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

from scrapy_mss.core.labels import Rejection
from scrapy_mss.core.naive_bayes import DIGEST_BITS
from scrapy_mss.crawl.waiting import finished
from scrapy_mss.models.bundled import bundled_part_of
from scrapy_mss.models.examples import Example
from scrapy_mss.models.format import FullModelError
from scrapy_mss.models.learned_pages import generation_after
from scrapy_mss.models.model import Model
from scrapy_mss.models.store import FileStore

logger = logging.getLogger(__name__)


class _State(NamedTuple):
    """Which pages counts are of: how many, and the sum of their digests."""

    pages: int
    digest: int

    @classmethod
    def of(cls, model: Model) -> _State:
        return cls(model.bayes.pages, model.bayes.digest)

    def with_(self, model: Model) -> _State:
        """The state once *model* is added."""
        digest = (self.digest + model.bayes.digest) % (1 << DIGEST_BITS)
        return _State(self.pages + model.bayes.pages, digest)


class _Checkpoint(NamedTuple):
    """What came of one: pages that count twice, and where others have added to the file, too.

    Then *live* is the model to go on from, or *error* says why there is none.
    """

    state: _State
    n_twice: int
    live: Model | None = None
    error: Exception | None = None


class Learner:
    """The live model of a crawl and what it has to add to the file.

    ``changing`` is entered while the live model changes, so that processes that share it do not
    read it meanwhile.
    """

    def __init__(self, store: FileStore) -> None:
        """Start from what *store* holds, on top of the bundled model."""
        self.store = store
        stored = store.load()
        self._stored = _State.of(stored)  # of the file, as far as the live model has it
        try:
            self.model = _live(stored)
        except OverflowError as error:
            raise FullModelError(
                f"{store.path}: its counts leave no room for those of the bundled model: {error}"
            ) from error
        self._bundled_pages = self.model.bayes.pages - self._stored.pages
        self.changing: Callable[[], AbstractContextManager[None]] = nullcontext
        self.checkpoints = 0
        self.failures = 0
        self.n_twice = 0  # pages that another crawl learned at the same time
        self.unsaved_pages = 0  # learned since a checkpoint was last begun
        self._unsaved = Model(self.model.profile)
        self._in_flight: Model | None = None  # what is being written
        self._write: Future[_Checkpoint] | None = None
        self._writer = _new_writer()
        self._finishing = False  # whether the last checkpoint has begun

    @property
    def pages(self) -> int:
        """How many pages crawls have learned, without those of the bundled model."""
        return self.model.bayes.pages - self._bundled_pages

    def learn(self, example: Example) -> Rejection | None:
        """Learn *example*; why it is rejected, if it is.

        Whether it was learned before and that it is learned now is one step, which nothing can
        come between.
        """
        if self._write is not None and self._write.done():
            self._collect()
        if example.key in self.model.learned_pages:
            return Rejection.ALREADY_LEARNED
        if not self.model.bayes.has_room(example.observation):
            return Rejection.MODEL_FULL
        generation = generation_after(self.pages)
        with self.changing():
            self.model.bayes.add(example.observation)
        self._unsaved.bayes.add(example.observation)
        for model in (self.model, self._unsaved):
            model.learned_pages.add(example.key, generation)
        self.unsaved_pages += 1
        return None

    def checkpoint(self) -> None:
        """Begin to write what is unsaved, unless a checkpoint is still being written."""
        if self._write is not None and not self._write.done():
            return
        self._collect()
        self.unsaved_pages = 0
        if not self._unsaved.bayes.pages:
            return
        try:
            following = Model(self.model.profile)
            expected = self._stored.with_(self._unsaved)
            self._write = self._writer.submit(_written, self.store, self._unsaved, expected)
        except Exception as error:  # noqa: BLE001 - of memory, or no thread can be started
            self._writer = _new_writer()  # the old one would write later what it has queued
            self._report(error)
            return
        self._in_flight, self._unsaved = self._unsaved, following

    async def finish(self) -> None:
        """Write all that is unsaved while the event loop, which must be asyncio's, goes on."""
        await self._written()
        self._begin_last()
        await self._written()

    async def _written(self) -> None:
        if self._write is not None:
            await finished(self._write)

    def _begin_last(self) -> None:
        self._collect()
        self.checkpoint()
        self._finishing = True

    def close(self) -> None:
        """Write what `finish` has not and wait for it; what cannot be written is lost."""
        if not self._finishing:
            self._begin_last()
        self._collect()
        self._writer.shutdown()
        if self._unsaved.bayes.pages:
            logger.error(
                "scrapy-mss: %s: the counts of %d learned pages could not be written and are lost",
                self.store.path,
                self._unsaved.bayes.pages,
            )

    def _collect(self) -> None:
        """Wait for the checkpoint that is being written, and go on from what the file holds."""
        write, in_flight = self._write, self._in_flight
        if write is None or in_flight is None:
            return
        self._write = self._in_flight = None
        try:
            checkpoint = write.result()
        except Exception as caught:  # noqa: BLE001 - of the disk, the lock, memory: training goes on
            self._report(caught)
            in_flight.merge(self._unsaved)
            self._unsaved = in_flight
            return
        self.checkpoints += 1
        self.n_twice += checkpoint.n_twice
        error = checkpoint.error or self._taken_over(checkpoint)
        if error is None:
            self._stored = checkpoint.state
        else:
            why = f"{type(error).__name__}: {error}"
            logger.warning("scrapy-mss: cannot go on from what other crawls learned: %s", why)

    def _report(self, error: Exception) -> None:
        """Count and log a checkpoint that failed."""
        self.failures += 1
        why = f"{type(error).__name__}: {error}"
        logger.warning("scrapy-mss: a checkpoint failed, its counts are kept: %s", why)

    def _taken_over(self, checkpoint: _Checkpoint) -> Exception | None:
        """Let the live model be what others have made it and what was learned meanwhile."""
        live = checkpoint.live
        if live is None:
            return None
        try:
            live.merge(self._unsaved)
        except Exception as error:  # noqa: BLE001 - our counts are in the file, so it is no failure
            return error
        with self.changing():
            self.model.bayes.copy_from(live.bayes)
        self.model.learned_pages = live.learned_pages
        return None


def _live(stored: Model) -> Model:
    """What is in the file and in the bundled model together; one of them becomes it."""
    bundled = bundled_part_of(stored)
    if bundled is None:
        return stored
    bundled.merge(stored)
    return bundled


def _written(store: FileStore, learned: Model, expected: _State) -> _Checkpoint:
    """Add what was *learned* to the file; where this raises, nothing was added.

    If nobody else adds to it, the file then has the *expected* state.
    """
    stored, n_twice = store.add(learned)
    state = _State.of(stored)
    if state == expected:
        return _Checkpoint(state, n_twice)
    try:
        return _Checkpoint(state, n_twice, live=_live(stored))
    except Exception as error:  # noqa: BLE001 - the counts are in the file, so it is no failure
        return _Checkpoint(state, n_twice, error=error)


def _new_writer() -> ThreadPoolExecutor:
    """What writes checkpoints, one after the other."""
    return ThreadPoolExecutor(1, thread_name_prefix="scrapy-mss-checkpoint")
