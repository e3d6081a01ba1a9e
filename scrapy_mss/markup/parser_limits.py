"""A page's source without what is too much, for callers that parse it with libxml2.

A node of the tree takes as long as fifty letters, and sixty times the memory. A page with more tags
than its length pays for is cut where they are too many.

libxml2 compares each attribute of a tag with all those before it, so that one tag of 350 KB takes
two seconds to parse, and one of 5 MB minutes. A tag keeps its first `MAX_ATTRIBUTES`, however long
they are. What is a tag, and what is inside a comment or a script, is for the tokenizer to say.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

import numpy as np

from scrapy_mss.markup.tokenizer import tag_sources, tokenize
from scrapy_mss.markup.tokens import OPEN, Tokens

Run = tuple[int, int]  # offsets into the source

MAX_ATTRIBUTES: Final = 128  # of 5,100 pages none has a tag with more than 101
SHORTEST: Final = 2 * MAX_ATTRIBUTES  # characters of a tag with more: a letter and a space each

DENSEST: Final = 17  # characters of source for each tag; no long page of 5,100 has as many
MIN_TAGS: Final = 4_000  # that any page may have: what they cost is no matter
_ANGLE: Final = re.compile("<")  # of a comment, too, and of a text: none is cheap for the parser

_ATTRIBUTE: Final = re.compile(
    r"""[^\s/>=]+(?:\s*=\s*(?:"[^"]*(?:"|\Z)|'[^']*(?:'|\Z)|[^\s>"']*))?"""
)


def affordable(source: str) -> str:
    """*source* up to the last tag that its length pays for, without surplus attributes."""
    n_tags = max(MIN_TAGS, len(source) // DENSEST)
    if source.count("<") > n_tags:
        surplus = next(islice(_ANGLE.finditer(source), n_tags, None), None)
        source = source[: surplus.start()] if surplus else source
    return without_surplus_attributes(source)


def without_surplus_attributes(source: str) -> str:
    """*source*, each start tag with its first `MAX_ATTRIBUTES` attributes."""
    if not any(map(_is_crowded, tag_sources(source))):
        return source
    parts, position = [], 0
    for start, end in surplus_attributes(tokenize(source)):
        parts.append(source[position:start])
        position = end
    return "".join((*parts, source[position:]))


def surplus_attributes(tokens: Tokens) -> list[Run]:
    """What to leave out of the source of *tokens*: the attributes of each tag after the first."""
    is_long = tokens.end - tokens.start > SHORTEST
    runs = []
    for token in np.flatnonzero(is_long & (tokens.kind == OPEN)).tolist():
        start, end = int(tokens.start[token]), int(tokens.end[token])
        surplus = _surplus(tokens.source[start:end])
        if surplus:
            runs.append((start + surplus, end - tokens.source.endswith(">", start, end)))
    return runs


def _is_crowded(tag: str) -> bool:
    return len(tag) > SHORTEST and _surplus(tag) > 0


def _surplus(tag: str) -> int:
    """Where in *tag* the attributes begin that are too many; 0 if there are none."""
    attributes = _ATTRIBUTE.finditer(tag)
    next(attributes, None)  # the name
    return next((each.start() for each in islice(attributes, MAX_ATTRIBUTES, None)), 0)
