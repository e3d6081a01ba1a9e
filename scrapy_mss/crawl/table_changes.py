"""Tracks which parts of the shared tables have changed, so that a reader copies only those.

A learned page changes some thousand buckets out of more than a million. Copying all of them
before each page would take a fifth of the time for a short page. The tables are therefore divided
into blocks of buckets, each with the generation of the model in which it last changed.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.page import Page
from scrapy_mss.core.naive_bayes import NaiveBayes, Observation, Table
from scrapy_mss.markup.tokens import TokenIds

# Buckets: a block is 512 bytes, and what is noted of all of them is a fiftieth of the tables. All
# tables are powers of two of at least that size.
BLOCK = 64

Changes: TypeAlias = TokenIds  # uint64[n_blocks]: the generation of the last change of each


def size_of_changes(bayes: NaiveBayes[Page]) -> int:
    """What `TableChanges` needs of a buffer, in bytes."""
    return sum(_n_blocks(table) * np.dtype(np.uint64).itemsize for table in bayes.counts.values())


class TableChanges:
    """When each block of the tables of *bayes* was changed last, in a buffer that is shared."""

    def __init__(self, bayes: NaiveBayes[Page], buffer: memoryview) -> None:
        self._changed: dict[str, Changes] = {}
        at = 0
        for family in bayes.families:
            n_blocks = _n_blocks(bayes.counts[family.name])
            self._changed[family.name] = np.ndarray(n_blocks, np.uint64, buffer, at)
            at += self._changed[family.name].nbytes

    def note(self, observation: Observation | None, generation: int) -> None:
        """Note that *observation* is added in *generation*; None says that all may change."""
        for name, changed in self._changed.items():
            if observation is None:
                changed[:] = generation
            else:
                bucket, _ = observation.counts[name]
                changed[bucket // BLOCK] = generation

    def copy(self, since: int, source: NaiveBayes[Page], target: NaiveBayes[Page]) -> None:
        """Copy what was changed after the generation *since*."""
        for name, changed in self._changed.items():
            blocks = np.flatnonzero(changed > since)
            _blocks(target.counts[name])[blocks] = _blocks(source.counts[name])[blocks]
        target.tokens[...] = source.tokens


def _n_blocks(table: Table) -> int:
    return len(table) // BLOCK


def _blocks(table: Table) -> NDArray[np.uint32]:
    return table.reshape(-1, BLOCK, 2)
