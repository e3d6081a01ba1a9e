"""The block elements of a page as runs of its blocks: what they contain, in sums and masks.

An element contains the blocks from ``begin`` up to ``end``, so that a sum over it is a difference
of two running sums, whatever it contains and however deep it is: all elements of a page cost one
pass over its blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scrapy_mss.blocks.segmentation import Blocks
from scrapy_mss.markup.tokens import Bools, Bytes, Floats, Indices, Tokens


@dataclass(frozen=True, slots=True, eq=False)
class Containers:
    """A page's block elements in the order of their opening tags; m of them, over n blocks.

    ``around[k]`` is the k-th element around each block, innermost first, and ``parent`` the one
    around each element of those; m stands for none.
    """

    begin: Indices  # intp[m]: the first block
    end: Indices  # intp[m]: the block after the last
    tag: Bytes  # uint8[m]
    around: Indices  # intp[LEVELS, n]
    parent: Indices  # intp[m+1]
    n_blocks: int

    @classmethod
    def of(cls, tokens: Tokens, blocks: Blocks, start: Indices) -> Containers:
        """The elements that begin at the tags *start* (intp[m]), which are all block elements."""
        close, tag = tokens.partner[start], tokens.tag[start]
        begin, end = blocks.first.searchsorted(start), blocks.first.searchsorted(close)
        around, parent = _around(tokens, blocks, start)
        return cls(begin, end, tag, around, parent, len(blocks))

    def __len__(self) -> int:
        return len(self.begin)

    def total(self, values: Floats) -> Floats:
        """float64[m]: the sum of *values* (float64[n]) inside each element."""
        total: Floats = self.totals(values[np.newaxis])[0]
        return total

    def totals(self, values: Floats) -> Floats:
        """float64[k, m]: the sums of *values* (float64[k, n]) inside each element."""
        before = np.zeros((len(values), self.n_blocks + 1))
        values.cumsum(axis=1, out=before[:, 1:])
        totals: Floats = before.take(self.end, axis=1) - before.take(self.begin, axis=1)
        return totals

    def inside(self, chosen: Bools) -> Bools:
        """bool[n]: the blocks inside any of the *chosen* elements (bool[m])."""
        edges = np.bincount(self.begin[chosen], minlength=self.n_blocks + 1)
        edges -= np.bincount(self.end[chosen], minlength=self.n_blocks + 1)
        inside: Bools = np.greater(edges.cumsum()[:-1], 0)
        return inside

    def run(self, row: int) -> Bools:
        """bool[n]: the blocks inside the element at *row*."""
        blocks = np.zeros(self.n_blocks, np.bool_)
        blocks[self.begin[row] : self.end[row]] = True
        return blocks


def _around(tokens: Tokens, blocks: Blocks, start: Indices) -> tuple[Indices, Indices]:
    """intp[LEVELS, n] and intp[m+1]: the elements around each block, and around each of those."""
    m = len(start)
    rows = np.full(len(tokens) + 1, m)  # the last is for the ancestor -1
    rows[start] = np.arange(m)
    around: Indices = rows[blocks.ancestors]
    parent = np.full(m + 1, m)
    parent[around[:-1]] = around[1:]
    parent[m] = m
    return around, parent
