r"""A source without what is never text, and the way back from places in it to the source.

Comments, and what stands between script and style tags, are taken out; letters that are written as
references are decoded (``caf&eacute;`` is one word). Where something may begin that is taken out is
found in one look at the source; whether it does, the expressions here say. The few places where
something was taken out are kept, so that offsets can be led back to the source.

A comment that is never closed ends at its first ``>``. A script that is never closed swallows the
rest of the page, as it does in a browser. Quotes are not looked at: a ``<!--`` or ``<script>``
inside an attribute begins a comment or a script there, too.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.markup.compiled import PieceMemory, compiled_part
from scrapy_mss.markup.references import ANY_REFERENCE, REFERENCE, decode
from scrapy_mss.markup.tokens import Ints

# Possessive quantifiers keep no state a repetition, which matters on a tag with a million
# attributes; before Python 3.11 there are none, and such a tag takes memory for a moment.
_P = "+" if sys.version_info >= (3, 11) else ""

_QUOTED = rf"""(?:"[^"]*{_P}(?:"|\Z)|'[^']*{_P}(?:'|\Z))"""
TAG = rf"</?[a-zA-Z][^=>]*{_P}(?:=(?:\s*{_P}{_QUOTED})?{_P}[^=>]*{_P})*{_P}(?:>|\Z)"
TAG_PATTERN = re.compile(TAG)

# ASCII: where case is ignored, "s" is also the long s, which makes no script.
_HIDDEN_OR_REFERENCE = re.compile(rf"<!--|<((?ai:script|style))(?=[\s/>])|{REFERENCE}")
# What begins so is looked at closely.
_MAY_HIDE = re.compile(r"<(?:!-|/?[sS](?:[cC][rR]|[tT][yY]))")
_CLOSING = {name: re.compile(rf"</(?ai:{name})(?=[\s/>])") for name in ("script", "style")}


class Cleaned(NamedTuple):
    """A source without what is never text; where in ``text``, and by how much, offsets shift.

    ``places`` are in half characters: a decoded letter shifts what follows from within itself,
    where no token begins or ends.
    """

    text: str
    places: list[int]
    shifts: list[int]

    def in_source(self, starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
        """Offsets into the cleaned text, both ascending, led back to the source.

        A start at a place where something was taken out stands behind it, an end before it.
        """
        if len(self.places) == 1:
            return starts, ends
        at, shifts = np.array(self.places), np.array(self.shifts, np.int32)
        start, end = 2 * starts, 2 * ends
        return (
            starts + _shifted_from(np.searchsorted(start, at, side="left"), shifts, len(starts)),
            ends + _shifted_from(np.searchsorted(end, at, side="right"), shifts, len(ends)),
        )


def _shifted_from(first: NDArray[np.intp], shifts: Ints, n: int) -> Ints:
    """int32[n]: for each token the last of the *shifts* whose *first* token is not behind it."""
    steps = np.zeros(n + 1, np.int32)
    np.add.at(steps, first, np.concatenate((shifts[:1], shifts[1:] - shifts[:-1])))
    return np.cumsum(steps[:-1], dtype=np.int32)


def clean(source: str) -> Cleaned:
    """*source* without comments, scripts and styles, with letters decoded."""
    marks = _marks(source)
    kept: list[str] = []
    places, shifts = [0], [0]
    position = length = 0
    comments_end = True  # whether a "-->" is still ahead: looked for in vain at most once

    def keep(until: int, resume: int, instead: str = "") -> None:
        nonlocal position, length
        kept.extend((source[position:until], instead))
        length += until - position + len(instead)
        position = resume
        places.append(2 * length - bool(instead))
        shifts.append(resume - length)

    search_from = 0
    while found := marks.first(_HIDDEN_OR_REFERENCE, search_from):
        start, search_from = found.span()
        opener = found[0]
        if opener[0] == "&":
            letters = decode(opener)
            if letters.isalnum():
                keep(start, search_from, letters)
        elif opener == "<!--":
            close = source.find("-->", start + 2) if comments_end else -1
            comments_end = close >= 0
            search_from = close + 3 if comments_end else _after(source, ">", search_from)
            keep(start, search_from)
        else:
            content = _end_of_tag(source, start)
            closing = marks.first(_CLOSING[found[1].lower()], content)
            search_from = closing.start() if closing else len(source)
            keep(content, search_from)
    if not kept:
        return Cleaned(source, places, shifts)
    kept.append(source[position:])
    return Cleaned("".join(kept), places, shifts)


def _after(source: str, what: str, position: int) -> int:
    found = source.find(what, position)
    return found + len(what) if found >= 0 else len(source)


def _end_of_tag(source: str, start: int) -> int:
    found = TAG_PATTERN.match(source, start)
    return found.end() if found else start


class _Marks:
    """The *places* of *source* at which something may begin that is taken out, in their order."""

    def __init__(self, source: str, places: list[int]) -> None:
        self._source = source
        self._places = places
        self._next = 0

    def first(self, pattern: re.Pattern[str], position: int) -> re.Match[str] | None:
        """The first match of *pattern* at a place from *position* on; positions only grow."""
        source, places = self._source, self._places
        for number in range(bisect_left(places, position, self._next), len(places)):
            found = pattern.match(source, places[number])
            if found:
                self._next = number
                return found
        self._next = len(places)
        return None


def _marks(source: str) -> _Marks:
    """Where a comment, a script, a style or a letter written as a reference may begin."""
    compiled = compiled_part()
    if compiled is not None:
        return _Marks(source, compiled.pieces.marks(source, _letters()))
    places = [found.start() for found in _MAY_HIDE.finditer(source)]
    references = set(ANY_REFERENCE.findall(source))
    if letters := set(filter(_is_letters, references)):
        found = ANY_REFERENCE.finditer(source)
        places += [each.start() for each in found if each[0] in letters]
        places.sort()
    return _Marks(source, places)


@cache
def _letters() -> PieceMemory:
    """Which references stand for letters or digits, as the compiled part remembers it."""
    compiled = compiled_part()
    assert compiled is not None
    return compiled.pieces.Memory(_is_letters)


def _is_letters(reference: str) -> bool:
    return decode(reference).isalnum()
