"""What a token tells: each feature family maps tokens to bucket numbers of its count table.

A family is one row of ``FAMILIES``: a name, the size of its table, and a function on arrays.
Tables have a fixed size, so that memory is bounded however long a crawl learns; features that
fall into one bucket share its counts. Trigrams get 2**22 buckets, 32 MiB of two 32-bit counts:
of the 4 million distinct trigrams of 800 modern pages about four in ten share a bucket, which
costs less than .001 F1 against 2**24. Tags are few and have a bucket each.

The families of layout tell the same of all tokens of a passage: in which elements it stands, by
their tags and names, and how long it and its neighbours are. What stands in no passage has
bucket 0 there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scrapy_mss.blocks.segmentation import Passages
from scrapy_mss.markup.attributes import Names
from scrapy_mss.markup.tokens import Ints, Symbols, Tokens

PATH_LENGTH = 5
LARGEST_SIZE = 9  # log2 of the words of a passage, beyond which all are alike
LINK_CLASSES = 5

# Odd multipliers with well-spread bits, one for each place in a trigram (from the fractions of
# the square roots of 2, 3 and 5): equal symbols at different places must not cancel out.
_MULTIPLIERS = tuple(
    np.uint64(m) for m in (0x6A09E667F3BCC909, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B)
)

_NO_FORM = np.uint64(63)  # a page's end in the place of a passage


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of feature; ``buckets`` gives int32[n_tokens] below 2**bits."""

    name: str
    bits: int
    buckets: Callable[[Tokens, int], Ints]


def unigram(tokens: Tokens, bits: int) -> Ints:
    """The token itself."""
    return _hashed(tokens.symbol * _MULTIPLIERS[0], bits)


def trigram(tokens: Tokens, bits: int) -> Ints:
    """The token and the two after it; behind the page's end stands nothing."""
    symbols = np.append(tokens.symbol, np.zeros(2, np.uint64))
    mixed = _spread(symbols[:-2] * _MULTIPLIERS[0])
    mixed = _spread((mixed ^ symbols[1:-1]) * _MULTIPLIERS[1])
    return _hashed((mixed ^ symbols[2:]) * _MULTIPLIERS[2], bits)


def unclosed_tag(tokens: Tokens, bits: int) -> Ints:
    """The name of the most recent unclosed tag; the last bucket stands for none."""
    names = np.append(tokens.tag.astype(np.int32), np.int32((1 << bits) - 1))
    return names[tokens.unclosed]


def element(tokens: Tokens, bits: int) -> Ints:
    """The tag and the names of the innermost block element."""
    return _of_passages(tokens, tokens.passages.keys(0) * _MULTIPLIERS[0], bits)


def shape(tokens: Tokens, bits: int) -> Ints:
    """How many words the passage and its two neighbours have, and how much of each is links."""
    passages = tokens.passages
    words = np.maximum(passages.words, 1)
    size = np.minimum(np.log2(words) + 0.5, LARGEST_SIZE).astype(np.uint64)
    links = (passages.linked_words / words * (LINK_CLASSES - 0.01)).astype(np.uint64)
    form = size * np.uint64(LINK_CLASSES) + links
    padded = np.concatenate(([_NO_FORM], form, [_NO_FORM]))
    before, after = padded[:-2], padded[2:]
    mixed = _spread(before * _MULTIPLIERS[0])
    mixed = _spread((mixed ^ form) * _MULTIPLIERS[1])
    return _of_passages(tokens, (mixed ^ after) * _MULTIPLIERS[2], bits)


def path_of(passages: Passages) -> Symbols:
    """uint64[n_passages]: a hash of the tags of the five innermost block elements."""
    mixed = np.zeros(len(passages), np.uint64)
    for level in range(PATH_LENGTH):
        mixed = _spread((mixed ^ (passages.tags(level) + np.uint64(1))) * _MULTIPLIERS[level % 3])
    return mixed


def name_buckets(names: Names, bits: int) -> Ints:
    """The bucket of each single name of a page's elements."""
    return _hashed(names.word.astype(np.uint64) * _MULTIPLIERS[0], bits)


def _of_passages(tokens: Tokens, mixed: Symbols, bits: int) -> Ints:
    """The bucket of its passage for each token."""
    return tokens.passages.spread(_hashed(mixed, bits))


def _spread(mixed: Symbols) -> Symbols:
    return mixed ^ (mixed >> np.uint64(29))


def _hashed(mixed: Symbols, bits: int) -> Ints:
    """The high bits of a product, which depend on all bits of its factors."""
    return (_spread(mixed) * _MULTIPLIERS[1] >> np.uint64(64 - bits)).astype(np.int32)


FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family("trigram", 22, trigram),
        Family("unclosed_tag", 9, unclosed_tag),
        Family("unigram", 20, unigram),
        Family("element", 18, element),
        Family("shape", 17, shape),
    )
}

# Single names of the elements around a passage: as many as there are for each token, so they are
# counted and asked for apart from the families above.
NAMES = "names"
NAME_BITS = 16

LAYOUT = frozenset({"element", "shape", NAMES})
