"""The texts of slices of a page's cleaned source, with white space as a browser shows it.

A page may have a slice for each of its words: what is done for each is done by few steps.
"""

from __future__ import annotations

import re
from typing import NamedTuple, cast

from scrapy_mss.markup.compiled import compiled_part
from scrapy_mss.markup.references import decode_all, decode_short
from scrapy_mss.markup.tokens import Ints

# A declaration between two words is part of the slice, since it is no token.
DECLARATION = re.compile(r"<[!?/][^>]*(?:>|\Z)")


class SliceTexts(NamedTuple):
    """The text of each slice, and whether all of it is printable."""

    texts: list[str]
    is_plain: bool


def slice_texts(clean: str, starts: Ints, ends: Ints) -> SliceTexts:
    """What a browser shows of *clean* from each of *starts* to *ends*."""
    compiled = compiled_part()
    if compiled is None:
        return _slice_texts(clean, starts, ends)
    found = compiled.kept.spaced(clean, starts.tobytes(), ends.tobytes(), (_decoded, decode_short))
    if None not in found:
        return SliceTexts(cast("list[str]", found), is_plain=True)
    texts = [
        text if text is not None else _spaced(_decoded(clean[start:end]))
        for text, start, end in zip(found, starts.tolist(), ends.tolist(), strict=True)
    ]
    return SliceTexts(texts, all(map(str.isprintable, texts)))


def _slice_texts(clean: str, starts: Ints, ends: Ints) -> SliceTexts:
    bounds = zip(starts.tolist(), ends.tolist(), strict=True)
    slices = [_decoded(clean[start:end]) for start, end in bounds]
    # Single spaces alone are known twice as fast as others are joined.
    is_plain = [part.isprintable() and "  " not in part for part in slices]
    spaced = [
        part.strip(" ") if plain else _spaced(part)
        for part, plain in zip(slices, is_plain, strict=True)
    ]
    rest = (part for part, plain in zip(spaced, is_plain, strict=True) if not plain)
    return SliceTexts(spaced, all(map(str.isprintable, rest)))


def _spaced(part: str) -> str:
    return " ".join(part.split())


def _decoded(part: str) -> str:
    """A slice of the cleaned source without declarations, with references decoded."""
    return decode_all(DECLARATION.sub(" ", part) if "<" in part else part)
