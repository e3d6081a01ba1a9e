"""Document Slope Curve (Pinto et al., 2002), and its advanced form (Gottron, 2007).

The curve has at x how many of a page's first x tokens are tags; the main text is where it is
long flat. Unlike body text extraction this finds several regions.

`dsc`: the page is cut into windows; one is flat if its slope is at most half of the whole
curve's. A region begins with three flat windows in a row and ends before three steep ones; the
page's last window stands for those behind it. The half and the three are from memory of the
paper, which was not at hand, the width is measured: of 10, 15, 20, 25 and 50 tokens the first is
best on articles of today.

`adsc`: the sources say that it slides its windows and looks at links, not how. Here each token
lies in the middle of three windows and is kept if the mean of their slopes is flat; and a word
of a link counts as a tag, so that lists of links are steep as well.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from research.systems.tokenwise import TokenSystem
from scrapy_mss.markup.tokens import Bools, Floats, Tokens, linked_words, prefix_sums

FLAT: Final = 0.5  # of the whole page's slope
LASTING: Final = 3  # windows that it takes to begin or to end a region
WIDTH: Final = 10
REACHES: Final = (10, 20, 40)  # of a window to each side; a phrase, a sentence, a paragraph


class DocumentSlopeCurve(TokenSystem):
    """The regions of windows, *width* tokens each, with few tags."""

    def __init__(self, *, width: int = WIDTH) -> None:
        if width < 1:
            raise ValueError(f"the width is {width}; a window must have a token at least")
        self.width = width

    def kept(self, tokens: Tokens) -> Bools:
        curve = prefix_sums(tokens.is_tag)
        edges = np.append(np.arange(0, len(tokens), self.width), len(tokens))
        widths = np.diff(edges)
        flat = _is_flat(np.diff(curve[edges]) / widths, tokens.is_tag)
        return np.repeat(regions(flat), widths)


class AdvancedSlopeCurve(TokenSystem):
    """The tokens with few tags and links around them, near and far."""

    def kept(self, tokens: Tokens) -> Bools:
        code = tokens.is_tag | linked_words(tokens)
        slopes = np.array([slopes_around(code, reach) for reach in REACHES])
        return _is_flat(slopes.mean(axis=0), code)


def _is_flat(slopes: Floats, code: Bools) -> Bools:
    return np.less_equal(slopes, FLAT * np.sum(code) / max(1, len(code)))


def slopes_around(code: Bools, reach: int) -> Floats:
    """float64[n]: the share of *code* within *reach* of each token, cut off at the ends."""
    curve, at = prefix_sums(code), np.arange(len(code))
    first, end = np.maximum(at - reach, 0), np.minimum(at + reach + 1, len(code))
    slopes: Floats = (curve[end] - curve[first]) / (end - first)
    return slopes


def regions(flat: Bools) -> Bools:
    """Which windows are in a region: from LASTING flat ones in a row to as many steep ones."""
    if not len(flat):
        return flat
    begins, ends = _in_a_row(flat), _in_a_row(~flat)
    latest = np.maximum.accumulate(np.where(begins | ends, np.arange(len(flat)), -1))
    return np.greater_equal(latest, 0) & begins[latest]


def _in_a_row(flags: Bools) -> Bools:
    """Where LASTING true values in a row begin."""
    before = prefix_sums(np.pad(flags, (0, LASTING - 1), mode="edge"))
    lasting: Bools = before[LASTING:] - before[:-LASTING] == LASTING
    return lasting
