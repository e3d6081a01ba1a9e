"""Tokens -> text blocks: the runs of text between the tags of block elements, and their ancestors.

A paragraph, a heading, an item of a list or a menu: what a reader sees as one line or paragraph.
Inline tags do not end a block; two line breaks in a row do. Runs without a word are no blocks.

A block costs a kilobyte and some microseconds, whatever its length. On a page with more blocks than
its length pays for, runs that begin close to one another are one block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.markup.compiled import accelerated
from scrapy_mss.markup.tags import BLOCK_TAGS, LINE_BREAK_TAGS, TAG_NAMES
from scrapy_mss.markup.tokenizer import nearest_ancestors
from scrapy_mss.markup.tokens import (
    LINK,
    Bools,
    Bytes,
    Counts,
    Floats,
    Indices,
    Ints,
    Tokens,
    element_starts,
    is_tag_of,
    linked_words,
    prefix_sums,
)

Value = TypeVar("Value", bound=np.generic)

LEVELS = 12  # ancestors that are looked at: a bound, so that deep nesting costs nothing
DENSEST = 64  # characters of source for each block; of 5,100 pages the densest long one had 105
MIN_BLOCKS = 1024  # that any page may have: what they cost is no matter

# What the compiled part has to know of a tag's number: bits of a byte.
_ENDS_RUN, _BREAKS_LINE, _IS_LINK = 1, 2, 4
_ROLES = bytes(
    _ENDS_RUN * (name in BLOCK_TAGS)
    | _BREAKS_LINE * (name in LINE_BREAK_TAGS)
    | _IS_LINK * (name in LINK)
    for name in (*TAG_NAMES, *[""] * (256 - len(TAG_NAMES)))
)


@dataclass(frozen=True, eq=False)
class Blocks:
    """A page's text blocks in their order: parallel arrays, one row a block.

    ``of_token`` has the number of each token's block, -1 for none.
    """

    containers: Containers
    first: Indices  # intp[n]: the first token
    last: Indices  # intp[n]: the last token
    of_token: Ints  # int32[n_tokens]
    words: Counts  # int64[n]: how many words each has
    linked_words: Counts  # int64[n]: how many of them are inside links
    tags: Counts  # int64[n]: the tags in each, and between it and the one before
    text: Ints  # int32[n_texts]: the words and symbols of all blocks
    first_text: Indices  # intp[n]: where among these each block begins
    n_texts: Indices  # intp[n]: how many each has

    def __len__(self) -> int:
        return len(self.first)

    @property
    def ancestors(self) -> Indices:
        """intp[LEVELS, n]: the opening tokens of the elements around each block, -1 for none."""
        starts: Indices = np.append(self.containers.start, -1)[self.containers.around]
        return starts

    def spread(self, values: NDArray[Value]) -> NDArray[Value]:
        """For each token its block's value in *values* (one a block); 0 outside of all blocks."""
        return np.concatenate((values, np.zeros(1, values.dtype)))[self.of_token]

    def count(self, chosen: Bools) -> Counts:
        """int64[n]: how many tokens of each block are *chosen* (bool[n_tokens])."""
        return _count(self.of_token, len(self), chosen)

    def mostly(self, chosen: Bools) -> Bools:
        """bool[n]: the blocks more than half of whose words are *chosen* (bool[n_tokens])."""
        return np.greater(self.count(chosen), self.words / 2)


def segment(tokens: Tokens) -> Blocks:
    """The text blocks of a page."""
    of_blocks, of_containers = _columns(tokens)
    return Blocks(Containers(*of_containers), *of_blocks)


@accelerated(lambda: (_ROLES, LEVELS, MIN_BLOCKS, DENSEST), "Segmenter")
def _columns(tokens: Tokens) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The columns of `Blocks` but for the containers, and those of `Containers`."""
    first, last = _affordable(tokens, *_runs_with_words(tokens))
    of_token, n = _run_numbers(len(tokens), first, last), len(first)
    texts = np.flatnonzero((of_token >= 0) & ~tokens.is_tag).astype(np.int32)
    first_text = texts.searchsorted(first)
    of_blocks = (
        first,
        last,
        of_token,
        _count(of_token, n, tokens.is_word),
        _count(of_token, n, linked_words(tokens)),
        _tags_up_to(tokens, last),
        texts,
        first_text,
        np.append(first_text[1:], len(texts))[:n] - first_text,
    )
    return of_blocks, _containers(tokens, first)


def _runs_with_words(tokens: Tokens) -> tuple[Indices, Indices]:
    """The first and the last token of each run of text that has a word."""
    run = np.cumsum(_ends_a_block(tokens), dtype=np.int32)
    texts = np.flatnonzero(~tokens.is_tag)
    starts = np.unique(run[texts], return_index=True)[1]
    ends = np.append(starts[1:], len(texts))[: len(starts)]  # no text, no run
    has_word = np.logical_or.reduceat(tokens.is_word[texts], starts)
    return texts[starts[has_word]], texts[ends[has_word] - 1]


def _run_numbers(n_tokens: int, first: Indices, last: Indices) -> Ints:
    """int32[n_tokens]: the number of the run that a token is in, -1 for none."""
    at = np.arange(n_tokens)
    run = first.searchsorted(at, "right") - 1
    return np.where(at <= np.append(last, -1)[run], run, -1).astype(np.int32)


def _affordable(tokens: Tokens, first: Indices, last: Indices) -> tuple[Indices, Indices]:
    """The runs; if they are too many, those that begin in one cell of the source joined."""
    if len(first) <= max(MIN_BLOCKS, len(tokens.source) // DENSEST):
        return first, last
    begins_cell = np.diff(tokens.start[first] // DENSEST, prepend=-1) > 0
    return first[begins_cell], last[np.append(begins_cell[1:], True)]


def _ends_a_block(tokens: Tokens) -> Bools:
    """bool[n_tokens]: tags of block elements, and line breaks right after a line break."""
    ends, line_break = is_tag_of(tokens, BLOCK_TAGS), is_tag_of(tokens, LINE_BREAK_TAGS)
    if np.count_nonzero(line_break) <= 1:
        return ends
    shown = np.flatnonzero(line_break | ends | ~tokens.is_tag)
    of_shown = line_break[shown]
    again = shown[1:][of_shown[1:] & of_shown[:-1]]
    ends = ends.copy()
    ends[again] = True
    return ends


def _tags_up_to(tokens: Tokens, last: Indices) -> Counts:
    """int64[n]: the tags from one block's *last* token to the next one's."""
    return np.diff(prefix_sums(tokens.is_tag)[last + 1], prepend=0)


def _count(of_token: Ints, n: int, chosen: Bools) -> Counts:
    return np.bincount(of_token[chosen] + 1, minlength=n + 1)[1:]


@dataclass(frozen=True, slots=True, eq=False)
class Containers:
    """A page's block elements in the order of their opening tags; m of them, over n blocks.

    An element contains the blocks from ``begin`` up to ``end``, so that a sum over it is a
    difference of two running sums, whatever it contains and however deep it is: all elements of a
    page cost one pass over its blocks.

    ``around[k]`` is the k-th element around each block, innermost first, and ``parent`` the one
    around each element of those; m stands for none.
    """

    start: Indices  # intp[m]: the opening tag
    begin: Indices  # intp[m]: the first block
    end: Indices  # intp[m]: the block after the last
    tag: Bytes  # uint8[m]
    around: Indices  # intp[LEVELS, n]
    parent: Indices  # intp[m+1]

    def __len__(self) -> int:
        return len(self.begin)

    @property
    def n_blocks(self) -> int:
        return len(self.around[0])

    def of_ancestors(self, values: NDArray[Value], levels: int = LEVELS) -> NDArray[Value]:
        """[levels, n]: of *values*, one an element, those of each block's ancestors; 0 for none."""
        with_none = np.concatenate((values, np.zeros(1, values.dtype)))
        return with_none.take(self.around[:levels])

    def total(self, values: Floats) -> Floats:
        """float64[m]: the sum of *values* (float64[n]) inside each element."""
        before = np.concatenate(([0.0], values.cumsum()))
        total: Floats = before.take(self.end) - before.take(self.begin)
        return total

    def inside(self, chosen: Bools) -> Bools:
        """bool[n]: the blocks inside any of the *chosen* elements (bool[m])."""
        rows = chosen.nonzero()[0]
        edges = np.bincount(self.begin.take(rows), minlength=self.n_blocks + 1)
        edges -= np.bincount(self.end.take(rows), minlength=self.n_blocks + 1)
        inside: Bools = np.greater(edges.cumsum()[:-1], 0)
        return inside

    def run(self, row: int) -> Bools:
        """bool[n]: the blocks inside the element at *row*."""
        blocks = np.zeros(self.n_blocks, np.bool_)
        blocks[self.begin[row] : self.end[row]] = True
        return blocks


def _containers(tokens: Tokens, first: Indices) -> tuple[Any, ...]:
    """The columns of `Containers`, by the *first* tokens of all blocks."""
    is_start = element_starts(tokens, BLOCK_TAGS)
    start = is_start.nonzero()[0]
    begin, end = first.searchsorted(start), first.searchsorted(tokens.partner[start])
    m = len(start)
    rows = np.full(len(tokens) + 1, m)  # the last is for no token
    rows[start] = np.arange(m)
    element = rows[nearest_ancestors(tokens, is_start)]  # around each token
    beyond = np.append(element[start], m)
    around, parent = np.empty((LEVELS, len(first)), np.intp), np.full(m + 1, m)
    around[0] = element[first]
    for level in range(1, LEVELS):
        around[level] = parent[around[level - 1]] = beyond[around[level - 1]]
    return start, begin, end, tokens.tag[start], around, parent
