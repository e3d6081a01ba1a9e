"""A model that learns while others may be learning into the same file.

The live model answers at once with everything this crawl has learned, on top of the bundled model,
which is never written to the file. What was learned since the last checkpoint is kept a second
time, apart: a checkpoint adds just that to the file, in a thread, and the live model then becomes
what the file holds, with what other crawls added, and what was learned meanwhile. A checkpoint
that fails gives its counts back and is tried again.
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
from scrapy_mss.models.model import Model
from scrapy_mss.models.store import FileStore

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
        self.model = self._live(stored)
        self.changing: Callable[[], AbstractContextManager[None]] = nullcontext
        self.checkpoints = 0
        self.failures = 0
        self.unsaved_pages = 0  # learned since a checkpoint was last begun
        self._unsaved = Model(self.model.profile)
        self._in_flight: Model | None = None  # what is being written
        self._write: Future[Model] | None = None
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="scrapy-mss-checkpoint")

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

    def learn(self, tokens: Tokens, inside: Bools) -> Rejection | None:
        """Learn a labelled page; why it is rejected, if it is."""
        if self._write is not None and self._write.done():
            self._collect()
        rejection = check_example(tokens, inside, self.model.profile.max_tag_share)
        if rejection is None:
            observation = self.model.bayes.observe(Page(tokens), inside)
            if not self.model.bayes.has_room(observation):
                return Rejection.MODEL_FULL
            with self.changing():
                self.model.bayes.add(observation)
            self._unsaved.bayes.add(observation)
            self.unsaved_pages += 1
        return rejection

    def checkpoint(self) -> None:
        """Begin to write what is unsaved, unless a checkpoint is still being written."""
        if self._write is not None and not self._write.done():
            return
        self._collect()
        self.unsaved_pages = 0
        if self._unsaved.bayes.pages:
            self._in_flight, self._unsaved = self._unsaved, Model(self.model.profile)
            self._write = self._writer.submit(self.store.add, self._in_flight)

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
            merged = write.result()
        except Exception as error:  # noqa: BLE001 - of the disk, the lock, memory: training goes on
            self.failures += 1
            why = f"{type(error).__name__}: {error}"
            logger.warning("scrapy-mss: a checkpoint failed and will be tried again: %s", why)
            in_flight.bayes.merge(self._unsaved.bayes)
            self._unsaved = in_flight
            return
        self.checkpoints += 1
        self._live(merged).bayes.merge(self._unsaved.bayes)
        with self.changing():
            self.model.bayes.copy_from(merged.bayes)
