"""Blocks of running text: what is left between tags when inline markup is taken out.

Ziegler and Skubacz (2007) prepare a page in two ways before they look at its text nodes. Elements
that only format or part running text are removed: the tag goes, what is in it stays, and it is
remembered that it stood there. Elements that never hold content are pruned: they go with all that
is in them. The text nodes that are left are blocks, and every other tag parts them.

The paper's table of elements is lost in the copies we know; the text names those of each kind
from which `FORMATTING`, `STRUCTURE`, `LISTS` and `PRUNED` are continued. That lists and paragraphs
are removed follows from the features: a block is asked for the list items in it and is expected
to hold many sentences. A form is not pruned, since sites wrap whole pages in one, but its controls
are. Whether a removed tag leaves a blank behind is settled where text is rendered; a word with a
tag inside counts as two. Elements that nothing closes are not pruned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from scrapy_mss.markup.tokens import (
    OPEN,
    Bools,
    Floats,
    Ints,
    Tokens,
    element_starts,
    is_tag_of,
    mask_inside,
)

FORMATTING: Final = frozenset(
    """
    abbr acronym b big blink cite code del dfn em font i ins kbd mark q s samp small strike strong
    sub sup tt u var
    """.split()
)
STRUCTURE: Final = frozenset("blockquote br center h1 h2 h3 h4 h5 h6 hgroup hr p pre".split())
LISTS: Final = frozenset("dd dir dl dt li menu ol ul".split())
OTHER_INLINE: Final = frozenset(
    "a address basefont bdi bdo data label nobr rb rp rt rtc ruby span time wbr".split()
)
REMOVED: Final = FORMATTING | STRUCTURE | LISTS | OTHER_INLINE
PRUNED: Final = frozenset(
    """
    applet area audio base button canvas datalist embed frame iframe img input keygen link map
    meta noframes noscript object optgroup option picture script select style svg template
    textarea title video
    """.split()
)


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """The blocks of a page, each with a word in it at least."""

    number: Ints  # int32[n_tokens]: the block of each token, -1 outside of all
    words: Floats  # float64[n_blocks]: how many each holds

    def __len__(self) -> int:
        return len(self.words)

    @property
    def inside(self) -> Bools:
        """bool[n_tokens]: what stands in a block."""
        return np.greater_equal(self.number, 0)

    def sums(self, chosen: Bools, values: Ints | None = None) -> Floats:
        """float64[n_blocks]: how many *chosen* tokens each holds, or the sum of their *values*."""
        at = np.flatnonzero(chosen & self.inside)
        weights = None if values is None else values[at]
        return np.bincount(self.number[at], weights, len(self)).astype(np.float64)

    def tokens_of(self, chosen: Bools) -> Bools:
        """bool[n_tokens]: the tokens of the *chosen* blocks (bool[n_blocks])."""
        return np.append(chosen, np.False_)[self.number]


def blocks(tokens: Tokens) -> Blocks:
    """Find the blocks of a page."""
    pruned = mask_inside(tokens, element_starts(tokens, PRUNED))
    parting = tokens.is_tag & ~is_tag_of(tokens, REMOVED | PRUNED) & ~pruned
    run = np.cumsum(parting)
    words = np.bincount(run[tokens.is_word & ~pruned], minlength=np.count_nonzero(parting) + 1)
    number = np.where(words > 0, np.cumsum(words > 0) - 1, -1)[run]
    number[parting | pruned] = -1
    return Blocks(number.astype(np.int32), words[words > 0].astype(np.float64))


def opened(tokens: Tokens, names: frozenset[str]) -> Bools:
    """bool[n_tokens]: the opening tags of these *names*, whether anything closes them or not."""
    found: Bools = (tokens.kind == OPEN) & is_tag_of(tokens, names)
    return found
