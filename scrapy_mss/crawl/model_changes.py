"""What a model learns while workers read with copies of it.

A worker begins with all counts. After that, whatever was learned since it was last sent a page is
sent with its next one, so that a page is always read by a whole state of the model, and a copy has
the name of the state that it is in. A page adds some tens of kilobytes; a worker that has missed
more than all counts together takes is sent these again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

import numpy as np

from scrapy_mss.core.naive_bayes import Observation
from scrapy_mss.crawl.wire import observation_document, observation_of, packed, unpacked
from scrapy_mss.models.model import Model

NOTHING: Final = -1  # the generation of a copy without any counts
EMPTY: Final = b""  # the change that a copy which misses too much begins with
MAX_BYTES: Final = 2**23  # of changes that are kept; the counts of the bundled model take 6 MB


class ModelChanges:
    """The changes of *model*, which one thread makes, for copies of it in other processes."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._lock = Lock()
        self._changes: deque[bytes] = deque()  # the latest, one a generation
        self._generation = 0

    @contextmanager
    def changing(self, by: Observation | None = None) -> Iterator[None]:
        """Hold while the model changes *by* what is added, or by anything."""
        with self._lock:
            self._generation += 1
            changes, self._changes = self._changes, deque()  # what fails has changed anything
            yield
            if by is not None:
                self._changes = changes
                self._keep(packed(observation_document(by)))

    def since(self, generation: int) -> tuple[list[bytes], int]:
        """The changes that a copy of that *generation* lacks, and which generation is now."""
        with self._lock:
            missed = self._generation - generation
            if generation != NOTHING and missed <= len(self._changes):
                return [*self._changes][len(self._changes) - missed :], self._generation
            bayes, now = self._model.bayes, self._generation
            tables = {name: counts.copy() for name, counts in bayes.counts.items()}
            totals = bayes.tokens.copy(), bayes.digest, bayes.pages
        filled = {
            name: np.flatnonzero(table.any(axis=1)).astype(np.int32)
            for name, table in tables.items()
        }
        counts = {name: (rows, tables[name][rows]) for name, rows in filled.items()}
        whole = Observation(counts, *totals)
        return [EMPTY, packed(observation_document(whole))], now

    def _keep(self, change: bytes) -> None:
        self._changes.append(change)
        n_bytes = sum(map(len, self._changes))
        while n_bytes > MAX_BYTES:
            n_bytes -= len(self._changes.popleft())


def follow(model: Model, changes: Iterable[bytes]) -> None:
    """Make the counts of a copy what they are after the *changes*."""
    for change in changes:
        if change == EMPTY:
            model.bayes.copy_from(Model(model.profile).bayes)
        else:
            model.bayes.add(observation_of(unpacked(change)))
