"""The elements of a page as runs of tokens, and what each of them holds.

An element is an opening tag that some closing tag closed. One that is left open to the end of
what is around it counts for nothing: what it holds belongs to the element around it. All of it
is arrays, and no step looks at an element's content again for each element around it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.markup.tags import numbers
from scrapy_mss.markup.tokens import OPEN, Bools, Ints, Tokens

Places: TypeAlias = NDArray[np.intp]
Counts: TypeAlias = NDArray[np.int64]

LINK = frozenset({"a"})


def elements(tokens: Tokens, names: frozenset[str] | None = None) -> Bools:
    """bool[n_tokens]: the opening tags of all elements, or of those of these *names*."""
    found: Bools = (tokens.kind == OPEN) & (tokens.partner >= 0)
    return found if names is None else found & named(tokens, names)


def named(tokens: Tokens, names: frozenset[str]) -> Bools:
    """bool[n_tokens]: the tags of these *names*, opening and closing."""
    found: Bools = _table(names)[tokens.tag] & tokens.is_tag
    return found


@lru_cache(64)
def _table(names: frozenset[str]) -> Bools:
    """bool[256]: whether the tag of each number is one of *names*."""
    table = np.zeros(256, np.bool_)
    table[list(numbers(names))] = True
    return table


def totals(values: Bools | Ints) -> Counts:
    """int64[n+1]: the sums of the first 0, 1, 2 … *values*; a run's is a difference of two."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(values, dtype=np.int64)))


def held(tokens: Tokens, opens: Places, values: Bools | Ints) -> Counts:
    """The sum of *values*, one a token, in each of the elements that *opens* opens."""
    before = totals(values)
    return before[tokens.partner[opens]] - before[opens]


def within(tokens: Tokens, chosen: Bools) -> Bools:
    """bool[n_tokens]: what stands in one of the *chosen* elements, their tags included."""
    opens = np.flatnonzero(chosen)
    return covered(len(tokens), opens, tokens.partner[opens])


def covered(n_tokens: int, first: Places | Ints, last: Places | Ints) -> Bools:
    """bool[n_tokens]: what stands in one of the runs from *first* to *last*, both included.

    No two runs begin at one token or end at one; they may hold each other.
    """
    edges = np.zeros(n_tokens + 1, np.int32)
    edges[first] += 1
    edges[last + 1] -= 1
    return np.greater(np.cumsum(edges[:-1]), 0)


def linked(tokens: Tokens) -> Bools:
    """bool[n_tokens]: the words that are links."""
    return tokens.is_word & within(tokens, elements(tokens, LINK))


def holders(tokens: Tokens, chosen: Bools) -> Ints:
    """int32[n_tokens]: the innermost *chosen* element that each token stands in, or -1.

    An opening tag stands outside its own element, a closing tag inside. A tag points to itself
    if it is chosen, else to the most recent unclosed tag before it; each round follows all
    pointers twice as far, so there are as many rounds as the depth has binary digits.
    """
    n = len(tokens)
    around = np.append(np.int32(-1), tokens.unclosed)[:n].astype(np.int32)
    # The -1 at the end stands for "none" and points to itself.
    up = np.append(np.where(chosen, np.arange(n), around), -1).astype(np.int32)
    while not np.array_equal(further := up[up], up):
        up = further
    return up[around]
