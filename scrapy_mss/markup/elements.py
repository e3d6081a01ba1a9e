"""The elements of a page as runs of tokens, and sums over what each of them contains.

An element is an opening tag that some closing tag closed. One that stays open to the end of its
parent counts for nothing: its content belongs to the parent. Everything is array operations, and
none of them walks an element's content again for each of its ancestors.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.markup.compiled import accelerated
from scrapy_mss.markup.tags import UNKNOWN_TAG, tag_numbers
from scrapy_mss.markup.tokens import OPEN, Bools, Bytes, Ints, Tokens

Indices: TypeAlias = NDArray[np.intp]
Counts: TypeAlias = NDArray[np.int64]

LINK = frozenset({"a"})


def element_starts(tokens: Tokens, names: frozenset[str] | None = None) -> Bools:
    """bool[n_tokens]: the opening tags of all elements, or of those with one of *names*."""
    starts: Bools = (tokens.kind == OPEN) & (tokens.partner >= 0)
    return starts if names is None else starts & is_tag_of(tokens, names)


def is_tag_of(tokens: Tokens, names: frozenset[str], part: slice = slice(None)) -> Bools:
    """The opening and closing tags with one of *names*; not to be written to.

    It is bool[n]: of all tokens, or of those of a *part*.
    """
    tags = is_one_of(tokens.tag[part], names)
    # All texts have the number of the unknown tag.
    return tags & tokens.is_tag[part] if tag_table(names)[UNKNOWN_TAG] else tags


def is_one_of(tags: Bytes, names: frozenset[str]) -> Bools:
    """bool[n]: the numbers in *tags* (uint8[n]) that are of *names*; not to be written to."""
    # As bytes are translated: a quarter of the time of a look-up by indices.
    return np.frombuffer(tags.tobytes().translate(tag_table(names)), np.bool_)


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


def nearest_ancestors(tokens: Tokens, chosen: Bools) -> Ints:
    """int32[n_tokens]: the innermost of the *chosen* elements around each token, or -1.

    An opening tag is outside its own element, a closing tag inside.
    """
    unclosed = np.append(np.int32(-1), tokens.unclosed)[: len(tokens)]
    return nearest(unclosed.astype(np.int32, copy=False), chosen)


@accelerated()
def nearest(parent: Ints, chosen: Bools) -> Ints:
    """int32[n]: the nearest of the *chosen* on the way from each to its *parent* and on; or -1.

    A parent is before those that have it.
    """
    found: list[int] = []
    is_chosen = chosen.tolist()
    for each in parent.tolist():
        found.append(each if each < 0 or is_chosen[each] else found[each])
    return np.array(found, np.int32)
