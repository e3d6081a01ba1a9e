"""The block elements of a page as runs of its blocks: what they contain, in sums and masks.

An element contains the blocks from ``begin`` up to ``end``, so that a sum over it is a difference
of two running sums, whatever it contains and however deep it is: all elements of a page cost one
pass over its blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scrapy_mss.blocks.page import Page
from scrapy_mss.markup.elements import Indices
from scrapy_mss.markup.tokens import Bools, Bytes, Floats


@dataclass(frozen=True, slots=True, eq=False)
class Containers:
    """A page's block elements in the order of their opening tags; m of them, over n blocks.

    ``around[k]`` is the k-th element around each block, innermost first, and ``parent`` the one
    around each element; m stands for none.
    """

    begin: Indices  # intp[m]: the first block
    end: Indices  # intp[m]: the block after the last
    tag: Bytes  # uint8[m]
    around: Indices  # intp[LEVELS, n]
    parent: Indices  # intp[m+1]
    n_blocks: int

    @classmethod
    def of(cls, page: Page) -> Containers:
        tokens, first, start = page.tokens, page.blocks.first, page.attributes.start
        m = len(start)
        rows = np.full(len(tokens) + 1, m)  # the last is for the ancestor -1
        rows[start] = np.arange(m)
        around = rows[page.blocks.ancestors]
        parent = np.full(m + 1, m)
        parent[around[:-1]] = around[1:]
        parent[m] = m
        return cls(
            begin=np.searchsorted(first, start),
            end=np.searchsorted(first, tokens.partner[start]),
            tag=tokens.tag[start],
            around=around,
            parent=parent,
            n_blocks=len(first),
        )

    def __len__(self) -> int:
        return len(self.begin)

    def total(self, values: Floats) -> Floats:
        """float64[m]: the sum of *values* (float64[n]) inside each element."""
        before = np.concatenate((np.zeros(1), np.cumsum(values)))
        return before[self.end] - before[self.begin]

    def inside(self, chosen: Bools) -> Bools:
        """bool[n]: the blocks inside any of the *chosen* elements (bool[m])."""
        n = self.n_blocks + 1
        edges = np.bincount(self.begin[chosen], minlength=n)
        edges -= np.bincount(self.end[chosen], minlength=n)
        return np.greater(np.cumsum(edges)[:-1], 0)

    def run(self, row: int) -> Bools:
        """bool[n]: the blocks inside the element at *row*."""
        blocks = np.zeros(self.n_blocks, np.bool_)
        blocks[self.begin[row] : self.end[row]] = True
        return blocks
