"""Passages: the runs of text between the tags of blocks, and the elements around each of them.

A paragraph, a heading, a list's item, a menu's entry: what a reader sees as one line or block.
Inline tags do not end a passage; two line breaks in a row do. Runs without a word are none.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.markup.attributes import Names, names_of
from scrapy_mss.markup.elements import (
    Counts,
    Places,
    covered,
    elements,
    holders,
    linked,
    named,
    totals,
    within,
)
from scrapy_mss.markup.tags import BLOCK_TAGS, LINE_BREAK_TAGS
from scrapy_mss.markup.tokens import Bools, Bytes, Floats, Ints, Symbols, Tokens

Value = TypeVar("Value", bound=np.generic)

LEVELS = 12  # elements around a passage that are looked at; a bound, so that depth costs nothing


@dataclass(frozen=True, eq=False)
class Passages:
    """A page's passages in their order: parallel arrays, one row a passage.

    ``around[k]`` has the opening token of the k-th element around each passage, innermost
    first, -1 where there is none; ``of`` the number of each token's passage, -1 for none.
    """

    tokens: Tokens
    first: Places  # intp[n]: the first token
    last: Places  # intp[n]: the last token
    of: Ints  # int32[n_tokens]
    around: Ints  # int32[LEVELS, n]

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def words(self) -> Counts:
        """int64[n]: how many words each has."""
        return self.count(self.tokens.is_word)

    @cached_property
    def linked_words(self) -> Counts:
        """int64[n]: how many of them are links."""
        return self.count(linked(self.tokens))

    @cached_property
    def texts(self) -> Symbols:
        """uint64[n]: a hash of the words and signs of each."""
        texts = np.flatnonzero((self.of >= 0) & ~self.tokens.is_tag)
        of = self.of[texts]
        place = np.arange(len(texts)) - np.searchsorted(of, of)
        mixed = self.tokens.symbol[texts] * (2 * place + 1).astype(np.uint64)
        sums = np.zeros(len(self), np.uint64)
        np.add.at(sums, of, mixed)
        return sums

    @cached_property
    def names(self) -> Names:
        """What the block elements of the page are called."""
        return names_of(self.tokens)

    @cached_property
    def _keys(self) -> Symbols:
        """uint64[n_tokens+1]: the key of each element at its opening token, 0 elsewhere."""
        keys = np.zeros(len(self.tokens) + 1, np.uint64)
        keys[self.names.element] = self.names.key
        return keys

    @cached_property
    def _tags(self) -> Bytes:
        """uint8[n_tokens+1]: the tag of each token, and 0 for where there is none."""
        return np.append(self.tokens.tag, np.uint8(0))

    def keys(self, level: int) -> Symbols:
        """uint64[n]: the tag and names of the element around, *level* further out; 0 for none."""
        keys: Symbols = self._keys[self.around[level]]
        return keys

    def tags(self, level: int) -> Bytes:
        """uint8[n]: the tag of the element around, *level* further out; 0 for none."""
        tags: Bytes = self._tags[self.around[level]]
        return tags

    @cached_property
    def looks(self) -> dict[str, Floats]:
        """All measures of the passages, taken when first asked for."""
        from scrapy_mss.blocks.features import columns

        return columns(self)

    @cached_property
    def hidden(self) -> Bools:
        """bool[n]: what stands in an element that the page does not show."""
        chosen = np.zeros(len(self.tokens), np.bool_)
        chosen[self.names.element] = self.names.hidden
        found: Bools = within(self.tokens, chosen)[self.first]
        return found

    def spread(self, values: NDArray[Value]) -> NDArray[Value]:
        """For each token what its passage has in *values* (one a passage); 0 outside of all."""
        return np.append(values, np.zeros(1, values.dtype))[self.of]

    def count(self, chosen: Bools) -> Counts:
        """int64[n]: how many tokens of each passage are *chosen* (bool[n_tokens])."""
        return np.bincount(self.of[chosen] + 1, minlength=len(self) + 1)[1:]


def passages_of(tokens: Tokens) -> Passages:
    """The passages of a page."""
    number = np.cumsum(_ends_a_passage(tokens))
    texts = np.flatnonzero(~tokens.is_tag)
    run = number[texts]
    starts = np.flatnonzero(np.diff(run, prepend=-1))
    ends = np.append(starts[1:], len(texts))[: len(starts)]
    words = totals(tokens.is_word[texts])
    worded = words[ends] > words[starts]
    starts, ends = starts[worded], ends[worded]
    first, last = texts[starts], texts[ends - 1]

    begun = np.zeros(len(tokens), np.int32)
    begun[first] = 1
    of = np.where(covered(len(tokens), first, last), np.cumsum(begun) - 1, -1).astype(np.int32)
    return Passages(tokens, first, last, of, _around(tokens, first))


def _ends_a_passage(tokens: Tokens) -> Bools:
    """bool[n_tokens]: tags of blocks, and line breaks right behind a line break."""
    block, line_break = named(tokens, BLOCK_TAGS), named(tokens, LINE_BREAK_TAGS)
    shown = np.flatnonzero(line_break | block | ~tokens.is_tag)
    again = line_break[shown] & np.concatenate(([False], line_break[shown][:-1]))
    block[shown[again]] = True
    return block


def _around(tokens: Tokens, first: Places) -> Ints:
    """int32[LEVELS, n]: the block elements around the tokens *first*."""
    holder = np.append(holders(tokens, elements(tokens, BLOCK_TAGS)), np.int32(-1))
    around = np.empty((LEVELS, len(first)), np.int32)
    around[0] = holder[first]
    for level in range(1, LEVELS):
        around[level] = holder[around[level - 1]]
    return around
