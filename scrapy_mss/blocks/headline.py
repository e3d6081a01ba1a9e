"""Which block of a page is its headline: the one that repeats the page's title."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokens import Bools, Floats, Indices

HEADINGS = tuple(f"h{level}" for level in range(1, 7))
HEADING_LEVELS = np.zeros(256, np.int64)  # by the number of a tag, 0 for all others
HEADING_LEVELS[[TAG_NUMBERS[name] for name in HEADINGS]] = range(1, len(HEADINGS) + 1)

MIN_OVERLAP_HEADING, MIN_OVERLAP_LINE = 0.3, 0.6  # with the title, of a lower heading and of a line
MAX_HEADLINE = 40  # words
FULL_TITLE = 6  # words that a headline shares with the title to be it, however long the title is
H1_BONUS, HEADING_BONUS = 0.15, 0.05  # between candidates of nearly the same overlap


@dataclass(frozen=True, slots=True, eq=False)
class Headline:
    """The block that repeats the page's title; ``block`` is -1 where there is none."""

    overlap: Floats  # float64[n]: how much of a short block's text is in the page's title, 0 to 1
    level: Indices  # int64[n]: of a heading 1 to 6, 0 for every other block
    block: int

    @classmethod
    def of(cls, overlap: Floats, level: Indices, shown: Bools) -> Headline:
        """The one of the blocks that are *shown*, by their *overlap* with the title."""
        is_main, is_lower = level == 1, level > 1
        is_candidate = is_main | (is_lower & (overlap > MIN_OVERLAP_HEADING))
        is_candidate = shown & (is_candidate | (overlap > MIN_OVERLAP_LINE))
        if not np.count_nonzero(is_candidate):
            return cls(overlap, level, -1)
        rank = overlap + H1_BONUS * is_main + HEADING_BONUS * is_lower
        return cls(overlap, level, int(np.where(is_candidate, rank, -1.0).argmax()))

    @property
    def below(self) -> Bools:
        """bool[n]: the blocks after it."""
        below: Bools = np.arange(len(self.level)) > self.block
        return below & (self.block >= 0)

    @property
    def later_headings(self) -> Floats:
        """float64[n]: how many headings of its level follow, up to each block."""
        level = self.level[self.block] if self.block >= 0 else 0
        later: Floats = (self.below & (self.level == level)).cumsum(dtype=np.float64)
        return later * bool(level)

    @property
    def own_overlap(self) -> float:
        return float(self.overlap[self.block]) if self.block >= 0 else 0.0


def title_overlap(words: Floats, hits: Floats, n_title: int) -> Floats:
    """float64[n]: how much of blocks with so many *words* is in the title.

    *hits* are the words that they share with its *n_title* words.
    """
    is_short = (words > 1) & (words <= MAX_HEADLINE)
    completeness = np.minimum(1.0, hits / max(1, min(n_title, FULL_TITLE)))
    return np.where(is_short, hits / np.maximum(words, 1) * completeness, 0.0)
