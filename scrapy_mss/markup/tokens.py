"""What a page is to everything behind the tokenizer: parallel arrays, one row a token.

A symbol is 64 bits. The low two say what the token is. A tag's next eight are its number in
``tags.TAG_NAMES``; a word or a sign has 52 bits of a stable hash on top. Two tokens are the
same token exactly when their symbols are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.markup.tags import TAG_NUMBERS

if TYPE_CHECKING:
    from scrapy_mss.blocks.segmentation import Passages

Ints: TypeAlias = NDArray[np.int32]
Bytes: TypeAlias = NDArray[np.uint8]
Bools: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
Symbols: TypeAlias = NDArray[np.uint64]

OPEN, CLOSE, WORD, SIGN = 0, 1, 2, 3
KIND_BITS = 2
KIND_MASK = (1 << KIND_BITS) - 1
TAG_BITS = 8
TAG_MASK = (1 << TAG_BITS) - 1
HASH_SHIFT = 12  # the bits below a word's hash: kind, tag number, and two for the tokenizer


def tag_symbol(name: str, kind: int = OPEN) -> int:
    """The symbol of the tag *name*, opening or closing."""
    return TAG_NUMBERS.get(name, 0) << KIND_BITS | kind


@dataclass(frozen=True, eq=False)
class Tokens:
    """A tokenized page.

    ``start`` and ``end`` are offsets into ``source``, so any run of tokens gives back its
    exact HTML. ``clean`` is the source without comments, scripts and styles and with letters
    written as references decoded; ``clean_start`` and ``clean_end`` are offsets into it.
    ``unclosed`` is the index of the most recent unclosed tag when the token ends, ``partner``
    of an opening tag the index of the closing tag that closed it and the other way round;
    both are -1 where there is none.
    """

    source: str
    clean: str
    symbol: Symbols  # uint64[n]
    kind: Bytes  # uint8[n]
    tag: Bytes  # uint8[n], 0 for what is no tag
    start: Ints  # int32[n]
    end: Ints
    clean_start: Ints
    clean_end: Ints
    unclosed: Ints
    partner: Ints

    def __len__(self) -> int:
        return len(self.symbol)

    @property
    def is_tag(self) -> Bools:
        return np.less_equal(self.kind, CLOSE)

    @property
    def is_word(self) -> Bools:
        return np.equal(self.kind, WORD)

    @cached_property
    def passages(self) -> Passages:
        """The page's runs of text, found when first asked for."""
        from scrapy_mss.blocks.segmentation import passages_of

        return passages_of(self)

    @property
    def blank_before(self) -> Bools:
        """Whether something that is no token stands between a token and the one before it."""
        return np.greater(self.clean_start, np.append(np.int32(0), self.clean_end[:-1]))

    def is_open(self, name: str) -> Bools:
        """Where *name* is opened."""
        return np.equal(self.symbol, np.uint64(tag_symbol(name)))

    def html(self, first: int, last: int) -> str:
        """The source of tokens first … last-1."""
        if first >= last:
            return ""
        return self.source[self.start[first] : self.end[last - 1]]

    def words(self) -> list[str]:
        """The word tokens as they stand in the page, letters decoded."""
        clean, chosen = self.clean, self.is_word
        bounds = zip(
            self.clean_start[chosen].tolist(), self.clean_end[chosen].tolist(), strict=True
        )
        return [clean[start:end] for start, end in bounds]
