"""The places of blocks, by which labels of some sites teach what to expect on others.

A place is a block's length, its distances from the first and the last block that the classifier
takes for the article, its tag, whether it is in a container like that of most of the article,
whether it ends a sentence, and how sure the classifier is of it: a cell of a table with these axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.scripts import script_of
from scrapy_mss.blocks.texts import CLOSERS
from scrapy_mss.blocks.traits import distances, traits
from scrapy_mss.core.naive_bayes import log_odds
from scrapy_mss.markup.lazy import lazy
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokens import Bools, Bytes, Floats, Indices, TokenIds

LIKELY: Final = 0.5  # probability from which on a block counts as the article's
# The axes: where on each another class begins.
LENGTHS: Final = np.array((3, 8, 16, 32, 64))  # words
DISTANCES: Final = np.array((-8, -2, -1, 0, 1, 2, 4, 9))  # blocks
TAGS: Final = (
    *("p", "h1 h2 h3 h4 h5 h6", "li dt dd", "div section article main", "td th table tr"),
    *("figcaption figure caption", "blockquote pre", "a span"),
)
ODDS: Final = np.array((-2.0, 0.0, 2.0))  # log-odds by the classifier
# Before them: whether it is in the container with most of the article, and ends a sentence.
AXES: Final = (
    *(len(LENGTHS) + 1, len(DISTANCES) + 1, len(DISTANCES) + 1, len(TAGS) + 1),
    *(2, 2, len(ODDS) + 1),
)
N_PLACES: Final = int(np.prod(AXES))
TERMS: Final = (  # axes, alone and in pairs
    *((0,), (1,), (2,), (3,), (0, 1), (0, 2), (0, 3)),
    *((4,), (0, 4), (1, 4), (2, 4), (5,), (0, 5), (1, 5), (2, 5)),
    (6,),
)


def _tag_classes() -> Bytes:
    classes = np.zeros(256, np.uint8)
    for number, names in enumerate(TAGS, 1):
        classes[[TAG_NUMBERS[name] for name in names.split()]] = number
    return classes


_TAG_CLASSES = _tag_classes()


@dataclass(frozen=True, eq=False)
class BlocksRead:
    """The blocks of a *page* by their *probability* (float64[n]), and what follows from that."""

    page: Page
    probability: Floats

    @lazy
    def likely(self) -> Bools:
        """bool[n]: the blocks that count as the article's."""
        return self.probability > LIKELY

    @lazy
    def script(self) -> int:
        """The number of the script that the page is in."""
        return script_of(self.page, self.likely)

    @lazy
    def places(self) -> Indices:
        """intp[n]: the place of each block."""
        return places(self.page, self.probability)

    @lazy
    def traits(self) -> TokenIds:
        """uint64[n_traits, n]: the traits of each block."""
        return traits(self.page, self.likely)


def places(page: Page, probability: Floats) -> Indices:
    """intp[n]: the place of each block, by the *probability* (float64[n]) of all."""
    from_first, to_last = distances(probability > LIKELY)
    axes = (
        LENGTHS.searchsorted(page.blocks.words, "right"),
        DISTANCES.searchsorted(from_first, "right"),
        DISTANCES.searchsorted(to_last, "right"),
        _TAG_CLASSES[page.ancestor_tags[0]],
        _in_main_container(page, probability),
        _ends_sentence(page),
        ODDS.searchsorted(log_odds(probability), "right"),
    )
    return np.ravel_multi_index(axes, AXES)


def _in_main_container(page: Page, probability: Floats) -> Indices:
    """intp[n]: 1 for the blocks in containers like that with most of the likely words."""
    keys, which = page.container_keys, np.unique(page.container_keys, return_inverse=True)[1]
    main = np.bincount(which, page.words * probability)[which].argmax()
    is_in_main: Indices = (keys == keys[main]).astype(np.intp)
    return is_in_main


def _ends_sentence(page: Page) -> Indices:
    """intp[n]: 1 for the blocks whose last word or symbol ends a sentence."""
    tokens, blocks = page.tokens, page.blocks
    last = tokens.clean_start[blocks.text[blocks.first_text + blocks.n_texts - 1]].tolist()
    return np.array([tokens.clean[at] in CLOSERS for at in last], np.intp)


@cache
def terms() -> tuple[NDArray[np.uint16], int]:
    """uint16[n_terms, N_PLACES]: the coefficient of each term at each place; how many there are."""
    axes = np.unravel_index(np.arange(N_PLACES), AXES)
    columns, n = [], 0
    for term in TERMS:
        sizes = [AXES[axis] for axis in term]
        columns.append(n + np.ravel_multi_index([axes[axis] for axis in term], sizes))
        n += int(np.prod(sizes))
    return np.array(columns, np.uint16), n
