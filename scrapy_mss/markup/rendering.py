"""Kept tokens -> plain text: paragraphs apart by an empty line, blanks as a browser shows them.

The text between two tags is one slice of the cleaned source. What stands between two slices
decides how they are joined: a block's tag begins a paragraph, a line break a line (two of them
a paragraph), other tags nothing but the blanks beside them.
"""

from __future__ import annotations

import re

import numpy as np

from scrapy_mss.core.cleaning import runs
from scrapy_mss.markup.tags import BLOCK_TAGS, LINE_BREAK_TAGS, TAG_NAMES
from scrapy_mss.markup.tokenizer import decode_all
from scrapy_mss.markup.tokens import Bools, Tokens

# How much each tag breaks: what sums up to 2 between two slices parts paragraphs.
_BREAKS = np.array(
    [2 if name in BLOCK_TAGS else int(name in LINE_BREAK_TAGS) for name in TAG_NAMES], np.int32
)
_JOINTS = ("", "\n", "\n\n")

# What no page shows: controls, and halves of surrogate pairs.
_NO_TEXT = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]+")

# Between two words it is part of the slice, as the tokenizer's pieces have it.
_DECLARATION = re.compile(r"<[!?/][^>]*(?:>|\Z)")


def render(tokens: Tokens, kept: Bools) -> str:
    """The text of the *kept* tokens (bool[n_tokens])."""
    slices = runs(kept & ~tokens.is_tag)
    if not slices:
        return ""
    breaks = np.concatenate(([0], np.cumsum(_BREAKS[tokens.tag] * tokens.is_tag)))
    blanks = np.concatenate(([0], np.cumsum(tokens.blank_before)))
    starts, ends = np.array(slices).T
    broken = np.minimum(breaks[starts[1:]] - breaks[ends[:-1]], 2).tolist()
    blank = (blanks[starts[1:] + 1] - blanks[ends[:-1]] > 0).tolist()

    parts = []
    bounds = zip(
        tokens.clean_start[starts].tolist(), tokens.clean_end[ends - 1].tolist(), strict=True
    )
    for (start, end), level, space in zip(bounds, [*broken, 0], [*blank, False], strict=True):
        part = tokens.clean[start:end]
        if "<" in part:
            part = _DECLARATION.sub(" ", part)
        parts.append(" ".join(decode_all(part).split()))
        parts.append(_JOINTS[level] or " " * space)
    return _shown("".join(parts).strip())


def _shown(text: str) -> str:
    """*text* with blanks for what no page shows."""
    if not _NO_TEXT.search(text):
        return text
    lines = _NO_TEXT.sub(" ", text).split("\n")
    return "\n".join(" ".join(line.split()) for line in lines).strip()
