"""The feature families that a model can count, by name: the paper's and those of layout.

Those of layout are what a text block looks like, and the class words around it. They are counted
like the paper's, once for every token of the block or element that has the value. All words of an
article are in one element, so that a single page would make a class word as certain as a hundred
pages do; a large smoothing stands against that.

A family's version is raised by hand when its values change; `tests/blocks/test_families.py` fails
where that was forgotten. Counts of different versions are never added.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scrapy_mss.blocks.page import Page
from scrapy_mss.core.features import TRIGRAM, UNCLOSED_TAG, UNIGRAM, Family, Values
from scrapy_mss.core.hashing import buckets, buckets_of_ids, mix
from scrapy_mss.core.naive_bayes import NaiveBayes

# Words of doubt: an article's worth. With half a word, as for words, international news lost .012
# F1 and reader-mode pages .018.
LAYOUT_SMOOTHING = 300.0

MAX_LOG_WORDS = 9  # log2 of a block's words: blocks of more than 500 are alike
LINK_CLASSES = 5  # link density in fifths
MAX_LINKS = LINK_CLASSES - 0.01  # so that all words are in the last fifth
_BEYOND_PAGE = np.uint64(63)  # the shape before the first block and after the last


# By a block's words, their rounded logarithm times the classes of links.
_LOGARITHMS = np.log2(np.maximum(np.arange(2**MAX_LOG_WORDS + 1), 1))
SIZES = np.minimum(_LOGARITHMS + 0.5, MAX_LOG_WORDS).astype(np.uint64) * np.uint64(LINK_CLASSES)


def shape(page: Page, bits: int) -> Values:
    """How many words the block and its two neighbours have, and how much of each is links."""
    blocks = page.blocks
    links = (blocks.linked_words / blocks.words * MAX_LINKS).astype(np.uint64)
    shapes = SIZES.take(blocks.words, mode="clip") + links
    padded = np.concatenate(([_BEYOND_PAGE], shapes, [_BEYOND_PAGE]))
    hashes = mix((padded[:-2], shapes, padded[2:]))
    first, last = blocks.first.astype(np.int32), blocks.last.astype(np.int32)
    return Values(buckets(hashes, bits), first, last + 1)


def class_words(page: Page, bits: int) -> Values:
    """Every single class word of every block element, for all tokens of the element."""
    start = page.attributes.start[page.attributes.element]
    ends = page.tokens.partner[start]
    return Values(buckets_of_ids(page.attributes.word, bits), start.astype(np.int32), ends)


SHAPE = Family("shape", 17, shape, LAYOUT_SMOOTHING)
CLASS_WORDS = Family("class_words", 16, class_words, LAYOUT_SMOOTHING)
FAMILIES: dict[str, Family[Page]] = {
    family.name: family for family in (TRIGRAM, UNCLOSED_TAG, UNIGRAM, SHAPE, CLASS_WORDS)
}


def new_counts(names: Sequence[str]) -> NaiveBayes[Page]:
    """Empty counts for the families of these *names*."""
    return NaiveBayes([FAMILIES[name] for name in names])
