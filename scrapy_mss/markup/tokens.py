"""A tokenized page: parallel arrays, one row a token.

A token is a tag, a word or a symbol (punctuation), as in the paper. Its id has 64 bits: the low two
are its kind, a tag's next eight its number in ``tags.TAG_NAMES``, the high 52 of a word or a symbol
a stable hash of its stem. Two tokens are the same token exactly when their ids are equal.

An element is a run of tokens: an opening tag that some closing tag closed, and what is up to that.
One that stays open to the end of its parent counts for nothing: its content belongs to the parent.
No sum over elements walks an element's content again for each of its ancestors.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.markup.tags import TAG_NUMBERS, UNKNOWN_TAG, tag_numbers

Ints: TypeAlias = NDArray[np.int32]
Bytes: TypeAlias = NDArray[np.uint8]
Bools: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
TokenIds: TypeAlias = NDArray[np.uint64]
Indices: TypeAlias = NDArray[np.intp]
Counts: TypeAlias = NDArray[np.int64]

OPEN, CLOSE, WORD, SYMBOL = 0, 1, 2, 3
KIND_BITS = 2
KIND_MASK = (1 << KIND_BITS) - 1
TAG_BITS = 8
TAG_MASK = (1 << TAG_BITS) - 1
HASH_SHIFT = 12  # the bits below a word's hash: kind, tag number, and two for the tokenizer

# Ideographs and kana: scripts without spaces, where a character is the nearest thing to a word.
# With iteration marks and the ideographic zero, without the middle dot, which separates words.
CJK = (
    "\u3005-\u3007\u303b\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U0001b000-\U0001b16f\U00020000-\U000323af"
)

LINK = frozenset({"a"})

_START = np.zeros(1, np.int32)


@dataclass(frozen=True, eq=False)
class Tokens:
    """A tokenized page.

    ``start`` and ``end`` are offsets into ``source``, so any run of tokens gives back its
    exact HTML. ``clean`` is the source without comments, scripts and styles and with letters
    written as references decoded; ``clean_start`` and ``clean_end`` are offsets into it.
    ``unclosed`` is the index of the most recent unclosed tag when the token ends; ``partner`` of
    an opening tag is the index of its closing tag and vice versa. Both are -1 where there is none.
    """

    source: str
    clean: str
    token_id: TokenIds  # uint64[n]
    kind: Bytes  # uint8[n]
    tag: Bytes  # uint8[n], 0 where the token is no tag
    start: Ints  # int32[n]
    end: Ints
    clean_start: Ints
    clean_end: Ints
    unclosed: Ints
    partner: Ints

    def __len__(self) -> int:
        return len(self.token_id)

    @property
    def is_tag(self) -> Bools:
        return np.less_equal(self.kind, CLOSE)

    @property
    def is_word(self) -> Bools:
        return np.equal(self.kind, WORD)

    @property
    def blank_before(self) -> Bools:
        """bool[n]: whether white space or a comment separates a token from the one before it."""
        return np.greater(self.clean_start, np.concatenate((_START, self.clean_end))[:-1])

    def is_open(self, name: str) -> Bools:
        """bool[n]: the opening tags of elements called *name*."""
        number = TAG_NUMBERS.get(name, UNKNOWN_TAG)
        is_open: Bools = np.equal(self.tag, number) & np.equal(self.kind, OPEN)
        return is_open

    def part(self, first: int, last: int) -> Tokens:
        """Tokens first … last-1, as if nothing were around them."""
        columns = {
            each.name: getattr(self, each.name)[first:last]
            for each in fields(self)
            if each.name not in ("source", "clean")
        }
        for name in ("unclosed", "partner"):
            index = columns[name] - np.int32(first)
            columns[name] = np.where((index >= 0) & (index < last - first), index, np.int32(-1))
        return replace(self, **columns)

    def html(self, first: int, last: int) -> str:
        """The source of tokens first … last-1."""
        if first >= last:
            return ""
        return self.source[self.start[first] : self.end[last - 1]]

    def words(self) -> list[str]:
        """The page's words in their own spelling, character references decoded."""
        clean, chosen = self.clean, self.is_word
        bounds = zip(
            self.clean_start[chosen].tolist(), self.clean_end[chosen].tolist(), strict=True
        )
        return [clean[start:end] for start, end in bounds]


# --- elements ---


def element_starts(tokens: Tokens, names: frozenset[str] | None = None) -> Bools:
    """bool[n_tokens]: the opening tags of all elements, or of those with one of *names*."""
    starts: Bools = (tokens.kind == OPEN) & (tokens.partner >= 0)
    return starts if names is None else starts & is_tag_of(tokens, names)


def is_tag_of(tokens: Tokens, names: frozenset[str], part: slice = slice(None)) -> Bools:
    """The opening and closing tags with one of *names*; not to be written to.

    It is bool[n]: of all tokens, or of those of a *part*.
    """
    # As bytes are translated: a quarter of the time of a look-up by indices.
    tags = np.frombuffer(tokens.tag[part].tobytes().translate(tag_table(names)), np.bool_)
    # All texts have the number of the unknown tag.
    return tags & (tokens.kind[part] <= CLOSE) if tag_table(names)[UNKNOWN_TAG] else tags


@lru_cache(64)
def tag_table(names: frozenset[str]) -> bytes:
    """256 bytes: whether the tag of each number is one of *names*."""
    numbers = tag_numbers(names)
    return bytes(number in numbers for number in range(256))


def prefix_sums(values: Bools | Ints) -> Counts:
    """int64[n+1]: the sums of the first 0, 1, 2 … *values*; a run's is a difference of two."""
    sums = np.zeros(len(values) + 1, np.int64)
    np.cumsum(values, out=sums[1:])
    return sums


def sum_inside(tokens: Tokens, starts: Indices, values: Bools | Ints) -> Counts:
    """The sum of *values*, one a token, in each of the elements that begin at *starts*."""
    before = prefix_sums(values)
    return before[tokens.partner[starts]] - before[starts]


def mask_inside(tokens: Tokens, chosen: Bools) -> Bools:
    """bool[n_tokens]: the tokens of the elements that begin at *chosen* tags, tags included."""
    starts = np.flatnonzero(chosen)
    return mask_runs(len(tokens), starts, tokens.partner[starts])


def mask_runs(n_tokens: int, first: Indices | Ints, last: Indices | Ints) -> Bools:
    """bool[n_tokens]: the tokens of the runs from *first* to *last*, both included.

    No two runs begin or end at the same token; they may contain each other.
    """
    if not len(first):
        return np.zeros(n_tokens, np.bool_)
    edges = np.zeros(n_tokens + 1, np.int32)
    edges[first] += 1
    edges[last + 1] -= 1
    return np.greater(np.cumsum(edges[:-1], dtype=np.int32), 0)


def linked_words(tokens: Tokens) -> Bools:
    """bool[n_tokens]: the words inside links."""
    return tokens.is_word & mask_inside(tokens, element_starts(tokens, LINK))
