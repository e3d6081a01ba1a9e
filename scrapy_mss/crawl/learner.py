"""A model that learns while others may be learning into the same file.

The live model answers at once with everything this crawl has learned, on top of the bundled model,
which is never written to the file. What was learned since the last checkpoint is kept a second
time, apart: a checkpoint adds just that to the file, in a thread, and the live model then becomes
what the file holds, with what other crawls added, and what was learned meanwhile. A checkpoint
that fails gives its counts back and is tried again. A page that this file's crawls have learned
before, with the same text, is not learned again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext

from scrapy_mss.blocks.page import Page
from scrapy_mss.core.labels import Rejection, check_example
from scrapy_mss.markup.tokens import Bools, Tokens
from scrapy_mss.models.bundled import bundled_part_of
from scrapy_mss.models.format import FullModelError
from scrapy_mss.models.learned_pages import generation_after, page_key
from scrapy_mss.models.model import Model
from scrapy_mss.models.store import Addition, FileStore

logger = logging.getLogger(__name__)


class Learner:
    """The live model of a crawl and what it has to add to the file.

    ``changing`` is entered while the live model changes, so that processes that share it do not
    read it meanwhile.
    """

    def __init__(self, store: FileStore) -> None:
        """Start from what *store* holds, on top of the bundled model."""
        self.store = store
        stored = store.load()
        self._bundled = bundled_part_of(stored)
        try:
            self.model = self._live(stored)
        except OverflowError as error:
            raise FullModelError(
                f"{store.path}: its counts leave no room for those of the bundled model: {error}"
            ) from error
        self.changing: Callable[[], AbstractContextManager[None]] = nullcontext
        self.checkpoints = 0
        self.failures = 0
        self.n_twice = 0  # pages that another crawl learned at the same time
        self.unsaved_pages = 0  # learned since a checkpoint was last begun
        self._unsaved = Model(self.model.profile)
        self._in_flight: Model | None = None  # what is being written
        self._write: Future[Addition] | None = None
        self._writer = _new_writer()

    def _live(self, stored: Model) -> Model:
        """What is in the file and in the bundled model together; *stored* becomes it."""
        if self._bundled is not None:
            stored.bayes.merge(self._bundled.bayes)
            stored.classifier = self._bundled.classifier
        return stored

    @property
    def pages(self) -> int:
        """How many pages crawls have learned, without those of the bundled model."""
        return self.model.bayes.pages - (self._bundled.bayes.pages if self._bundled else 0)

    def learn(self, tokens: Tokens, inside: Bools, address: str) -> Rejection | None:
        """Learn the labelled page of *address*; why it is rejected, if it is."""
        if self._write is not None and self._write.done():
            self._collect()
        rejection = check_example(tokens, inside, self.model.profile.max_tag_share)
        if rejection is not None:
            return rejection
        key = page_key(address, tokens, inside)
        if key in self.model.learned_pages:
            return Rejection.ALREADY_LEARNED
        observation = self.model.bayes.observe(Page(tokens), inside)
        if not self.model.bayes.has_room(observation):
            return Rejection.MODEL_FULL
        generation = generation_after(self.pages)
        with self.changing():
            self.model.bayes.add(observation)
        self._unsaved.bayes.add(observation)
        for model in (self.model, self._unsaved):
            model.learned_pages.add(key, generation)
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
            self._write = self._writer.submit(self.store.add, self._unsaved)
        except Exception as error:  # noqa: BLE001 - of memory, or no thread can be started
            self._writer = _new_writer()  # the old one would write later what it has queued
            self._report(error)
            return
        self._in_flight, self._unsaved = self._unsaved, following

    def close(self) -> None:
        """Write all that is unsaved and wait for it."""
        self._collect()
        self.checkpoint()
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
            addition = write.result()
        except Exception as error:  # noqa: BLE001 - of the disk, the lock, memory: training goes on
            self._report(error)
            in_flight.merge(self._unsaved)
            self._unsaved = in_flight
            return
        self.checkpoints += 1
        self.n_twice += addition.n_twice
        try:
            self._take_over(addition.model)
        except Exception as error:  # noqa: BLE001 - our counts are in the file, so it is no failure
            why = f"{type(error).__name__}: {error}"
            logger.warning("scrapy-mss: cannot go on from what other crawls learned: %s", why)

    def _report(self, error: Exception) -> None:
        """Count and log a checkpoint that failed."""
        self.failures += 1
        why = f"{type(error).__name__}: {error}"
        logger.warning("scrapy-mss: a checkpoint failed, its counts are kept: %s", why)

    def _take_over(self, stored: Model) -> None:
        """Let the live model be what was *stored* and what was learned since then."""
        live = self._live(stored)
        live.merge(self._unsaved)
        with self.changing():
            self.model.bayes.copy_from(live.bayes)
        self.model.learned_pages = live.learned_pages


def _new_writer() -> ThreadPoolExecutor:
    """What writes checkpoints, one after the other."""
    return ThreadPoolExecutor(1, thread_name_prefix="scrapy-mss-checkpoint")
