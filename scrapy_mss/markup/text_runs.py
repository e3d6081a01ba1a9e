"""The runs of a page's kept words and symbols, and what breaks the text between two of them."""

from __future__ import annotations

import numpy as np

from scrapy_mss.markup.compiled import compiled_part
from scrapy_mss.markup.elements import Indices, prefix_sums
from scrapy_mss.markup.tags import BLOCK_TAGS, LINE_BREAK_TAGS, TAG_NAMES
from scrapy_mss.markup.tokens import Bools, Bytes, Tokens

PARAGRAPH = 2  # what breaks a paragraph; two line breaks are as much as a block's tag

_BREAKS = np.zeros(256, np.int32)
_BREAKS[: len(TAG_NAMES)] = [
    PARAGRAPH if name in BLOCK_TAGS else int(name in LINE_BREAK_TAGS) for name in TAG_NAMES
]
_AS_BYTES = _BREAKS.astype(np.uint8).tobytes()


def text_runs(tokens: Tokens, kept: Bools) -> tuple[Indices, Indices]:
    """Where the runs of *kept* words and symbols (bool[n_tokens]) begin, and where they end."""
    compiled = compiled_part()
    if compiled is not None:
        found = compiled.kept.text_runs(tokens.kind, np.ascontiguousarray(kept).view(np.uint8))
        starts, ends = (np.asarray(each).astype(np.intp, copy=False) for each in found)
        return starts, ends
    return run_bounds(kept & ~tokens.is_tag)


def run_bounds(kept: Bools) -> tuple[Indices, Indices]:
    """The starts and the ends of the runs of true values."""
    padded = np.concatenate(([False], kept, [False]))
    edges = (padded[1:] != padded[:-1]).nonzero()[0]
    return edges[::2], edges[1::2]


def between(tokens: Tokens, starts: Indices, ends: Indices) -> tuple[Bytes, Bools]:
    """How much the text breaks between each of the runs from *starts* to *ends* and the next.

    There is at least one run. The results are uint8[n_runs - 1], at most `PARAGRAPH`, and
    bool[n_runs - 1]: whether white space is there.
    """
    compiled = compiled_part()
    if compiled is None:
        return _between(tokens, starts, ends)
    levels, blanks = compiled.kept.between(
        (tokens.kind, tokens.tag), (tokens.clean_start, tokens.clean_end), (starts, ends), _AS_BYTES
    )
    return np.minimum(np.frombuffer(levels, np.uint8), PARAGRAPH), np.frombuffer(blanks, np.bool_)


def _between(tokens: Tokens, starts: Indices, ends: Indices) -> tuple[Bytes, Bools]:
    first, last = starts[0], ends[-1]
    starts, ends = starts[1:] - first, ends[:-1] - first
    breaks = prefix_sums(_BREAKS[tokens.tag[first:last]] * tokens.is_tag[first:last])
    blanks = prefix_sums(tokens.blank_before[first:last])
    levels = np.minimum(breaks[starts] - breaks[ends], PARAGRAPH)
    return levels.astype(np.uint8), blanks[starts + 1] > blanks[ends]
