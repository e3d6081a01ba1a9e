"""The lines of a page and the ratio of text to tags in each: what CETR and TTR have in common.

Both methods (Weninger and Hsu, 2008; Weninger, Hsu and Han, 2010) read a page's source line by
line. Scripts, styles, comments and empty lines are removed; a line's ratio is the number of its
characters outside tags divided by the number of its tags, where no tags count as one. Lines are
then told apart by their ratios. A page without tags is text alone, and all of it is kept.

A page that is written in one line is broken every 65 characters, but not within a tag. Where the
papers are silent:

- A page counts as written in one line if one line holds more than half of it: programs write
  pages with a few lines of head and one line of everything else.
- That page's words are not broken either.
- A tag belongs to the line in which it begins, whatever line breaks stand in it.
- Blanks count as a browser shows them: one for a run of them, none at the ends of a line.
- Declarations (``<!doctype …>``) are neither text nor tags.
- Beyond both ends of the page there are lines without text, as far as smoothing looks.
- Lines that all fall into one cluster cannot be told apart, and all are kept.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from research.systems.clustering import Labels
from research.systems.tokenwise import TokenSystem
from scrapy_mss.markup.tags import tag_numbers
from scrapy_mss.markup.tokens import Bools, Floats, Ints, Tokens

CLUSTERS: Final = 3  # the k of the 2010 paper
LINE_LENGTH: Final = 65
ONE_LINE: Final = 0.5  # of a page's characters, in its longest line

_CODE = tag_numbers(frozenset({"script", "style"}))
_LINE_FEED, _CARRIAGE_RETURN = 10, 13


class LineSystem(TokenSystem):
    """A system that tells lines of main text from others by their ratios."""

    def content(self, ratios: Floats) -> Bools:
        """bool[n_lines]: which lines are main text, by their *ratios* (float64[n_lines])."""
        raise NotImplementedError

    def kept(self, tokens: Tokens) -> Bools:
        kept = ~np.isin(tokens.tag, _CODE)
        at = np.flatnonzero(kept)
        if tokens.is_tag[at].any():
            lines = page_lines(tokens, at)
            kept[at] = self.content(line_ratios(tokens, at, lines))[lines]
        return kept


def page_lines(tokens: Tokens, at: Labels) -> Labels:
    """The line, 0 … n_lines-1, of each of the tokens *at*; lines without any are left out."""
    starts = tokens.clean_start[at]
    lines = _distinct(np.searchsorted(_line_breaks(tokens), starts))
    lengths = np.bincount(lines, tokens.clean_end[at] - starts)
    if lengths.max() > ONE_LINE * lengths.sum():
        return _broken_lines(starts)
    return lines


def line_ratios(tokens: Tokens, at: Labels, lines: Labels) -> Floats:
    """float64[n_lines]: the characters of text for each tag, where the tokens *at* are *lines*."""
    is_tag = tokens.is_tag[at]
    is_inside = np.diff(lines, prepend=-1) == 0
    blanks = tokens.blank_before[at] & is_inside
    characters = (tokens.clean_end - tokens.clean_start)[at] * ~is_tag + blanks
    ratios: Floats = np.bincount(lines, characters) / np.maximum(np.bincount(lines, is_tag), 1)
    return ratios


def above_deviation(smoothed: Floats, factor: float = 1.0) -> Bools:
    """Which values reach *factor* times the standard deviation of all."""
    return np.greater_equal(smoothed, factor * np.std(smoothed))


def outside(labels: Labels, cluster: int) -> Bools:
    """Which lines are in other clusters than *cluster*; all, if none is."""
    others = np.not_equal(labels, cluster)
    return others if others.any() else np.logical_not(others)


def outside_lowest(values: Floats, labels: Labels) -> Bools:
    """Which lines are in other clusters than the one whose mean is the closest to 0."""
    present = np.unique(labels)
    means = [np.mean(values[labels == label]) for label in present]
    return outside(labels, int(present[np.argmin(means)]))


def _line_breaks(tokens: Tokens) -> Labels:
    """Where lines of the cleaned source end, other than within a tag."""
    codes = np.frombuffer(tokens.clean.encode("utf-32-le", "surrogatepass"), "<u4")
    breaks = np.flatnonzero((codes == _LINE_FEED) | (codes == _CARRIAGE_RETURN))
    begun = np.searchsorted(tokens.clean_start, breaks, side="right")
    return breaks[breaks >= np.append(0, tokens.clean_end)[begun]]


def _broken_lines(starts: Ints) -> Labels:
    """The line of each token where a line takes in the tokens that start in its 65 characters."""
    following = np.searchsorted(starts, starts + LINE_LENGTH).tolist()
    begins = np.zeros(len(starts), np.intp)
    first = 0
    while first < len(following):
        begins[first] = 1
        first = following[first]
    return np.cumsum(begins) - 1


def _distinct(ascending: Labels) -> Labels:
    """The number, from 0, of each value among the distinct ones."""
    return np.cumsum(np.diff(ascending, prepend=ascending[:1]) > 0)
