"""A model that learns while others may be learning into the same file, or on the same server.

The live model includes at once everything that this crawl has learned, on top of the bundled model,
which is never written to the file. What was learned since the last checkpoint is also kept
separately (`unsaved`); a checkpoint adds it to the file. If other crawls have added to the file,
the thread that writes builds the resulting model, and the live model becomes that plus what was
learned meanwhile. A page that crawls
with this file have learned before, with the same text, is not learned again.

Memory holds one set of tables, that of the live model, and two more while a checkpoint is written:
the added counts and those of the file. The bundled ones are read again when needed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, NamedTuple

from scrapy_mss.core.labels import Rejection
from scrapy_mss.core.naive_bayes import DIGEST_BITS, Observation
from scrapy_mss.crawl.unsaved import Unsaved
from scrapy_mss.models.bundled import bundled_part_of
from scrapy_mss.models.examples import Example
from scrapy_mss.models.format import FullModelError
from scrapy_mss.models.learned_pages import generation_after
from scrapy_mss.models.model import Model
from scrapy_mss.models.store import ModelStore
from scrapy_mss.storage.checkpoints import Part, Work

logger = logging.getLogger(__name__)


class _State(NamedTuple):
    """Which pages counts are of: how many, and the sum of their digests."""

    pages: int
    digest: int

    @classmethod
    def of(cls, model: Model) -> _State:
        return cls(model.bayes.pages, model.bayes.digest)

    def with_(self, unsaved: Unsaved) -> _State:
        """The state once what is *unsaved* is added."""
        digest = (self.digest + unsaved.digest) % (1 << DIGEST_BITS)
        return _State(self.pages + unsaved.pages, digest)


class _Checkpoint(NamedTuple):
    """What came of one: pages that count twice, and where others have added to the file, too.

    Then *live* is the model to go on from, or *error* says why there is none.
    """

    state: _State
    n_twice: int
    live: Model | None = None
    error: Exception | None = None


def unshared(_by: Observation | None) -> AbstractContextManager[None]:
    """What is entered while a model changes that nobody else reads."""
    return nullcontext()


class Learner(Part):
    """The live model of a crawl and what it has to add to the file.

    ``changing`` is entered while the live model changes by what is added, or by anything, so that
    processes that share it do not read it meanwhile.
    """

    LOST = "the counts of %d learned pages"

    def __init__(self, store: ModelStore) -> None:
        """Start from what *store* holds, on top of the bundled model."""
        super().__init__()
        self.store = store
        stored = store.load()
        self._stored = _State.of(stored)  # of the file, as far as the live model has it
        try:
            self.model = _live(stored)
        except OverflowError as error:
            raise FullModelError(
                f"{store.name}: its counts leave no room for those of the bundled model: {error}"
            ) from error
        self._bundled_pages = self.model.bayes.pages - self._stored.pages
        self.changing: Callable[[Observation | None], AbstractContextManager[None]] = unshared
        self.n_checkpoints = 0
        self.n_twice = 0  # pages that another crawl learned at the same time
        self.unsaved_pages = 0  # learned since a checkpoint was last begun
        self._taken = 0  # pages of the last checkpoint that the store has taken
        self._n_uncertain = 0  # pages that the store has taken and perhaps not stored
        self._unsaved = Unsaved()
        self._in_flight: Unsaved | None = None  # what is being written, or could not be
        self._told = ""  # why checkpoints fail, as it was logged

    @property
    def pages(self) -> int:
        """How many pages crawls have learned, without those of the bundled model."""
        return self.model.bayes.pages - self._bundled_pages

    def learn(self, example: Example) -> Rejection | None:
        """Learn *example*; why it is rejected, if it is.

        Whether it was learned before and that it is learned now is one step, which nothing can
        come between.
        """
        if self.checkpoints is not None:
            self.checkpoints.settle(0)  # others may have learned it
        if example.key in self.model.learned_pages:
            return Rejection.ALREADY_LEARNED
        if not self.model.bayes.has_room(example.observation):
            return Rejection.MODEL_FULL
        generation = generation_after(self.pages)
        with self.changing(example.observation):
            self.model.bayes.add(example.observation)
        self._unsaved.add(example, generation)
        self.model.learned_pages.add(example.key, generation)
        self.unsaved_pages += 1
        return None

    @property
    def lost(self) -> int:
        """How many pages could not be written, once all has ended."""
        in_flight = self._in_flight.pages if self._in_flight else 0
        return self._unsaved.pages + in_flight + self._n_uncertain

    @property
    def loss(self) -> str:
        """What is lost, and of which model."""
        return f"{super().loss} ({self.store.name})"

    def take(self) -> Work | None:
        """What adds all that is unsaved to the file; None if nothing was learned."""
        self.unsaved_pages = 0
        self._take_back()
        if not self._unsaved.pages:
            return None
        following, expected = Unsaved(), self._stored.with_(self._unsaved)
        self._in_flight, self._unsaved = self._unsaved, following
        return partial(_written, self.store, self._in_flight, expected)

    def settle(self, result: Any, error: Exception | None) -> None:  # noqa: ANN401 - a _Checkpoint
        """Go on from what the file holds; after an *error*, what was taken is unsaved again."""
        if error is None:
            assert isinstance(result, _Checkpoint)
            self._taken = self._in_flight.pages if self._in_flight else 0
            self._in_flight = None
            self._go_on_from(result)
            return
        self.store_failed(error)
        try:
            self._take_back()
        except MemoryError as caught:
            self.store_failed(caught)

    def ending(self, *, finished: bool) -> Work:  # noqa: ARG002 - what was learned was learned
        """What makes sure of all that was written."""
        return self.store.close

    def ended(self, error: Exception | None) -> None:
        """Where the store could not make sure, what it has taken may be lost."""
        if error is not None:
            self.failures += 1
            self._n_uncertain = self._taken
            why = f"{type(error).__name__}: {error}"
            logger.warning("scrapy-mss: the last checkpoint may not be stored: %s", why)

    def _take_back(self) -> None:
        """Let what could not be written be unsaved again; where memory fails, the next time."""
        failed = self._in_flight
        if failed is not None:
            failed.follow(self._unsaved)
            self._in_flight, self._unsaved = None, failed

    def _go_on_from(self, checkpoint: _Checkpoint) -> None:
        """Count a *checkpoint* that was written, and take over what others have added."""
        self.n_checkpoints += 1
        self._told = ""
        self.n_twice += checkpoint.n_twice
        error = checkpoint.error or self._taken_over(checkpoint)
        if error is None:
            self._stored = checkpoint.state
        else:
            why = f"{type(error).__name__}: {error}"
            logger.warning("scrapy-mss: cannot load what other crawls learned: %s", why)

    def store_failed(self, error: BaseException) -> None:
        """Count a checkpoint that failed, and log it, unless that is what the log says last."""
        self.failures += 1
        why = f"{type(error).__name__}: {error}"
        if why != self._told:
            logger.warning(
                "scrapy-mss: a checkpoint failed, its counts are kept: %s. Further failures of "
                "this kind are only counted until one is written",
                why,
            )
        self._told = why

    def _taken_over(self, checkpoint: _Checkpoint) -> Exception | None:
        """Let the live model be what others have made it and what was learned meanwhile."""
        live = checkpoint.live
        if live is None:
            return None
        try:
            self._unsaved.add_to(live)
        except Exception as error:  # noqa: BLE001 - our counts are in the file, so it is no failure
            return error
        with self.changing(None):
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


def _written(store: ModelStore, learned: Unsaved, expected: _State) -> _Checkpoint:
    """Add what was *learned* to the file; where this raises, nothing was added.

    If nobody else adds to it, the file then has the *expected* state.
    """
    stored, n_twice = store.add(learned.as_model(store.profile))
    state = _State.of(stored)
    if state == expected:
        return _Checkpoint(state, n_twice)
    try:
        return _Checkpoint(state, n_twice, live=_live(stored))
    except Exception as error:  # noqa: BLE001 - the counts are in the file, so it is no failure
        return _Checkpoint(state, n_twice, error=error)
