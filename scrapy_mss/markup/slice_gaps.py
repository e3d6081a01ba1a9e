"""What lies between the slices of a text: which tags there are, and what they are in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scrapy_mss.markup.elements import Counts, Indices, is_tag_of
from scrapy_mss.markup.tags import BLOCK_TAGS
from scrapy_mss.markup.tokens import CLOSE, OPEN, Bools, Tokens


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """The runs of text from *starts* to *ends*, and what is between each and the next.

    ``divides`` is bool[n_runs - 1]: whether a paragraph ends there. ``begin`` is where what
    precedes the first run begins, after other text of the page.
    """

    tokens: Tokens
    starts: Indices
    ends: Indices
    divides: Bools
    begin: int

    def bounds(self) -> Indices:
        """intp[n_runs]: where what precedes each run begins."""
        bounds = np.empty_like(self.ends)
        bounds[0], bounds[1:] = self.begin, self.ends[:-1]
        return bounds

    def tags(self, names: frozenset[str], *, opening: bool = False) -> Indices:
        """The tags with one of *names*, ascending."""
        part = slice(self.begin, int(self.ends[-1]))
        chosen = is_tag_of(self.tokens, names, part)
        if opening:
            chosen = chosen & np.equal(self.tokens.kind[part], OPEN)
        return chosen.nonzero()[0] + self.begin

    def count(self, tags: Indices) -> Counts:
        """int64[n_runs - 1]: how many of the *tags* are in each gap."""
        before_start, before_end = tags.searchsorted(self.starts), tags.searchsorted(self.ends)
        counts: Counts = (before_start[1:] - before_end[:-1]).astype(np.int64, copy=False)
        return counts

    def has_only(self, tags: Indices) -> Bools:
        """bool[n_runs - 1]: whether no block in a gap begins or ends but for these *tags*."""
        return np.equal(self.count(tags), self.count(self.tags(BLOCK_TAGS)))


def gaps_between(tokens: Tokens, starts: Indices, ends: Indices, divides: Bools) -> Gaps:
    """What is between the runs from *starts* to *ends*, of which there is at least one."""
    texts = (tokens.kind[: starts[0]] > CLOSE).nonzero()[0]
    begin = int(texts[-1]) + 1 if len(texts) else 0
    return Gaps(tokens, starts, ends, divides, begin)
