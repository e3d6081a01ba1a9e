"""A model that learns while others may be learning into the same file.

The live model answers at once with everything this crawl has learned, on top of the model in the
box, which is never written to the file. What was learned since the
last checkpoint is kept a second time, apart: a checkpoint adds just that to the file, in a thread,
and the live model then becomes what the file holds, with what other crawls added, and what was
learned meanwhile. A checkpoint that fails gives its counts back and is tried again.
"""

from __future__ import annotations

import logging
from concurrent.futures import Future, ThreadPoolExecutor

from scrapy_mss.core.labels import Rejection, check_example
from scrapy_mss.markup.tokens import Bools, Tokens
from scrapy_mss.models.bundled import box_of
from scrapy_mss.models.format import Model, ModelError
from scrapy_mss.models.store import FileStore

logger = logging.getLogger(__name__)


class Learner:
    """The live model of a crawl and what it has to add to the file."""

    def __init__(self, store: FileStore) -> None:
        """Start from what *store* holds, on top of the model in the box."""
        self.store = store
        stored = store.load()
        self._box = box_of(stored)
        self.model = self._live(stored)
        self.generation = 0
        self.failures = 0
        self.unsaved = 0  # pages learned since a checkpoint was last begun
        self._pending = Model(self.model.profile)
        self._taken: Model | None = None  # what is being written
        self._write: Future[Model] | None = None
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="scrapy-mss-checkpoint")

    def _live(self, stored: Model) -> Model:
        """What is in the file and in the box together; *stored* becomes it."""
        if self._box is not None:
            stored.bayes.merge(self._box.bayes)
            stored.judge = self._box.judge
        return stored

    @property
    def pages(self) -> int:
        """How many pages crawls have learned, without those of the model in the box."""
        return self.model.bayes.pages - (self._box.bayes.pages if self._box else 0)

    @property
    def name(self) -> str:
        """What tells this state of the model from others, for items."""
        outside, inside = self.model.bayes.tokens.tolist()
        return f"{self.model.profile.name}@{self.model.bayes.pages}p{inside}-{outside}"

    def learn(self, tokens: Tokens, inside: Bools) -> Rejection | None:
        """Learn a labelled page, or say why it is no good example."""
        if self._write is not None and self._write.done():
            self._collect()
        rejection = check_example(tokens, inside, self.model.profile.largest_tag_share)
        if rejection is None:
            features = self.model.bayes.features(tokens)
            names = self.model.bayes.names(tokens, inside)
            if not self.model.bayes.has_room(features, names):
                return Rejection.MODEL_FULL
            self.model.bayes.learn(features, inside, names=names)
            self._pending.bayes.learn(features, inside, names=names)
            self.unsaved += 1
        return rejection

    def checkpoint(self) -> None:
        """Begin to write what is unsaved, unless a checkpoint is still being written."""
        if self._write is not None and not self._write.done():
            return
        self._collect()
        self.unsaved = 0
        if self._pending.bayes.pages:
            self._taken, self._pending = self._pending, Model(self.model.profile)
            self._write = self._writer.submit(self.store.add, self._taken)

    def close(self) -> None:
        """Write all that is unsaved and wait for it."""
        self._collect()
        self.checkpoint()
        self._collect()
        self._writer.shutdown()
        if self._pending.bayes.pages:
            logger.error(
                "scrapy-mss: %s: %d learned pages could not be written and are lost",
                self.store.path,
                self._pending.bayes.pages,
            )

    def _collect(self) -> None:
        """Wait for the checkpoint that is being written, and go on from what the file holds."""
        taken = self._taken
        if self._write is None or taken is None:
            return
        try:
            merged = self._write.result()
        except (ModelError, OSError, OverflowError) as error:
            self.failures += 1
            logger.warning("scrapy-mss: a checkpoint failed, its counts are kept: %s", error)
            taken.bayes.merge(self._pending.bayes)
            self._pending = taken
        else:
            self.generation += 1
            self._live(merged).bayes.merge(self._pending.bayes)
            self.model.bayes.become(merged.bayes)
        self._write = self._taken = None
