"""Additive keyed counts: a sorted array of keys, and a row of counts for each.

Addition is the union of the keys and the sum of the rows, so it is commutative and associative.
Counts are multiples of 1/256 on a scale of powers of two, which float32 adds without
rounding until a row has seen some 60,000 pages. Each row has the minute in which it was last
seen, the maximum of those added. A table that exceeds its bound drops rows seen once before
others, and among these the least recently seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.markup.tokens import Floats, Indices, TokenIds

Columns = Floats  # float64[WIDTH, n]
Rows = NDArray[np.float32]
Minutes = NDArray[np.uint32]

WIDTH = 4  # counts a row
QUANTUM = 256  # counts are whole multiples of one part of this
SEEN = 0  # the column with the number of pages, in every table
ONCE = 1.5  # pages: below that, a row was seen on one page, or long ago


@dataclass(frozen=True, slots=True, eq=False)
class KeyedCounts:  # noqa: PLW1641 - arrays have no hash
    """Counts by key: parallel arrays in the order of the keys, each key once."""

    keys: TokenIds  # uint64[n], ascending
    rows: Rows  # float32[n, WIDTH]
    seen: Minutes  # uint32[n]: the minute in which each was last seen

    @classmethod
    def none(cls) -> KeyedCounts:
        """A table without a row."""
        return _NONE

    @classmethod
    def of(cls, keys: TokenIds, rows: Floats, minute: int) -> KeyedCounts:
        """A table of *rows* (float64[n, WIDTH]) seen in *minute*, in the order of their *keys*.

        Each key is there once.
        """
        quantized = (np.rint(rows * QUANTUM) / QUANTUM).astype(np.float32)
        return cls.of_counts(keys, quantized, minute)

    @classmethod
    def of_counts(cls, keys: TokenIds, rows: Rows, minute: int) -> KeyedCounts:
        """The same, of *rows* that are whole parts of ``QUANTUM`` already."""
        return cls(keys, rows, np.full(len(keys), minute, np.uint32))

    def __len__(self) -> int:
        return len(self.keys)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KeyedCounts):
            return NotImplemented
        return (
            np.array_equal(self.keys, other.keys)
            and np.array_equal(self.rows, other.rows)
            and np.array_equal(self.seen, other.seen)
        )

    def plus(self, other: KeyedCounts) -> KeyedCounts:
        """Both tables added."""
        small, large = sorted((self, other), key=len)
        if not len(small):
            return large
        places = np.minimum(np.searchsorted(large.keys, small.keys), len(large) - 1)
        known = large.keys[places] == small.keys
        rows, seen, places = large.rows.copy(), large.seen.copy(), places[known]
        rows[places] += small.rows[known]
        seen[places] = np.maximum(seen[places], small.seen[known])
        added = KeyedCounts(large.keys, rows, seen)
        return added if known.all() else added.with_new(small.chosen(np.flatnonzero(~known)))

    @classmethod
    def total(cls, tables: Sequence[KeyedCounts]) -> KeyedCounts:
        """All *tables* added at once, which is faster than one by one."""
        tables = [table for table in tables if len(table)]
        if not tables:
            return cls.none()
        keys = np.concatenate([table.keys for table in tables])
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        starts = np.flatnonzero(np.diff(keys, prepend=~keys[:1]))
        rows = np.concatenate([table.rows for table in tables])[order]
        seen = np.concatenate([table.seen for table in tables])[order]
        return cls(keys[starts], np.add.reduceat(rows, starts), np.maximum.reduceat(seen, starts))

    def with_new(self, new: KeyedCounts) -> KeyedCounts:
        """The table with *new* keys, none of which it has."""
        keys = np.concatenate((self.keys, new.keys))
        order = np.argsort(keys, kind="stable")
        rows = np.concatenate((self.rows, new.rows))[order]
        return KeyedCounts(keys[order], rows, np.concatenate((self.seen, new.seen))[order])

    def scaled(self, halvings: int) -> KeyedCounts:
        """The table with every count halved so many times; rows that count nothing are gone."""
        if not halvings:
            return self
        halved = replace(self, rows=np.ldexp(self.rows, -halvings).astype(np.float32))
        return halved.chosen(np.flatnonzero(halved.rows[:, SEEN] * QUANTUM >= 1))

    def bounded(self, limit: int) -> KeyedCounts:
        """The table itself if it has at most *limit* rows, else those most worth keeping.

        An eighth of the limit is freed at once, so that not every page has to look for the worst.
        """
        if len(self) <= limit:
            return self
        kept = limit - limit // 8
        worth = np.lexsort((self.keys, self.seen, self.rows[:, SEEN] >= ONCE))
        return self.chosen(np.sort(worth[len(self) - kept :]))

    def chosen(self, places: Indices) -> KeyedCounts:
        """The rows at *places* (intp[n], ascending)."""
        return KeyedCounts(self.keys[places], self.rows[places], self.seen[places])

    def find(self, keys: TokenIds) -> Columns:
        """The counts of *keys* (uint64[n]), a column each; 0 where a key is unknown."""
        if not len(self):
            return np.zeros((WIDTH, len(keys)))
        places = np.minimum(np.searchsorted(self.keys, keys), len(self) - 1)
        known = self.keys[places] == keys
        return np.where(known, self.rows[places].T, np.float32(0)).astype(np.float64)


def _without_rows() -> KeyedCounts:
    """What tables without a row share; nothing can be written into it."""
    none = KeyedCounts(
        np.zeros(0, np.uint64), np.zeros((0, WIDTH), np.float32), np.zeros(0, np.uint32)
    )
    for column in (none.keys, none.rows, none.seen):
        column.setflags(write=False)
    return none


_NONE = _without_rows()
