"""Which tags are open where, and which closing tag closes which: the paper's stack.

An opening tag goes on top, a closing tag unwinds to its match, and one without a match changes
nothing. How many of each name are open is kept beside the stack, so that a closing tag without a
match is known without a look through it.
"""

from __future__ import annotations

import numpy as np

from scrapy_mss.markup.compiled import compiled_part
from scrapy_mss.markup.tokens import CLOSE, OPEN, TAG_MASK, Bools, Bytes, Ints


def nesting(kind: Bytes, tag: Bytes) -> tuple[Ints, Ints]:
    """For each token its most recent unclosed tag, for each tag its partner; -1 for none."""
    compiled = compiled_part()
    if compiled is not None:
        tops, partners = compiled.arrays.nest(kind.tobytes(), tag.tobytes(), OPEN, CLOSE)
        return np.asarray(tops), np.asarray(partners)
    at = np.flatnonzero(kind <= CLOSE).astype(np.int32)
    top, partner_among = _nest(tag[at], kind[at] == CLOSE)
    partner = np.full(len(kind), -1, np.int32)
    # The extra -1 at the end stands for "none".
    at = np.append(at, np.int32(-1))
    partner[at[:-1]] = at[partner_among]
    top = np.append(np.int32(-1), at[top])
    n_tokens = np.diff(at[:-1], prepend=0, append=len(kind))  # from each tag to the next
    return np.repeat(top, n_tokens), partner


def _nest(tag: Bytes, is_close: Bools) -> tuple[Ints, Ints]:
    """The same among tags alone: both as numbers of tags, -1 where there is none."""
    names = tag.tolist()
    below = [-1] * len(names)  # of an opening tag: the one under it on the stack
    partner = [-1] * len(names)
    n_open = [0] * (TAG_MASK + 1)
    tops: list[int] = []
    top = -1
    for index, (name, is_closing) in enumerate(zip(names, is_close.tolist(), strict=True)):
        if not is_closing:
            below[index] = top
            top = index
            n_open[name] += 1
        elif n_open[name]:
            while names[top] != name:
                n_open[names[top]] -= 1
                top = below[top]
            n_open[name] -= 1
            partner[top], partner[index] = index, top
            top = below[top]
        tops.append(top)
    return np.array(tops, np.int32), np.array(partner, np.int32)
