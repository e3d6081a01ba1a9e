"""Which tags are open where, and which closing tag closes which: the paper's stack.

An opening tag goes on top, a closing tag unwinds to its match, and one without a match changes
nothing. How many of each name are open is kept beside the stack, so that a closing tag without a
match is known without a look through it.
"""

from __future__ import annotations

from array import array

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
    names, closing = tag.tolist(), is_close.tolist()
    partner = np.full(len(names), -1, np.int32)
    stack: list[int] = []
    open_count = [0] * (TAG_MASK + 1)
    top_after = array("i")
    opened_at, closed_at = array("i"), array("i")
    for index, (name, is_closing) in enumerate(zip(names, closing, strict=True)):
        if not is_closing:
            stack.append(index)
            open_count[name] += 1
        elif open_count[name]:
            opened = stack.pop()
            while names[opened] != name:
                open_count[names[opened]] -= 1
                opened = stack.pop()
            open_count[name] -= 1
            opened_at.append(opened)
            closed_at.append(index)
        top_after.append(stack[-1] if stack else -1)
    if opened_at:
        partner[opened_at], partner[closed_at] = closed_at, opened_at
    return np.array(top_after, np.int32), partner
