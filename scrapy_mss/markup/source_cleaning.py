r"""A source without what is never text, and the way back from places in it to the source.

Comments, and what stands between script and style tags, are taken out; letters that are written as
references are decoded (``caf&eacute;`` is one word). All that is found in one look at the source.
The few places where something was taken out are kept, so that offsets can be led back to the
source.

A comment that is never closed ends at its first ``>``. A script that is never closed swallows the
rest of the page, as it does in a browser. Quotes are not looked at: a ``<!--`` or ``<script>``
inside an attribute begins a comment or a script there, too.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.markup.compiled import accelerated
from scrapy_mss.markup.elements import Indices
from scrapy_mss.markup.references import ANY_REFERENCE, decode
from scrapy_mss.markup.tokens import Ints, TokenIds

# Possessive quantifiers keep no state a repetition, which matters on a tag with a million
# attributes; before Python 3.11 there are none, and such a tag takes memory for a moment.
_P = "+" if sys.version_info >= (3, 11) else ""

_QUOTED = rf"""(?:"[^"]*{_P}(?:"|\Z)|'[^']*{_P}(?:'|\Z))"""
TAG = rf"</?[a-zA-Z][^=>]*{_P}(?:=(?:\s*{_P}{_QUOTED})?{_P}[^=>]*{_P})*{_P}(?:>|\Z)"
TAG_PATTERN = re.compile(TAG)

# Elements whose content is taken out. ASCII: where case is ignored, "s" is also the long s, which
# makes no script.
HIDING = ("script", "style")
_HIDING = tuple(name.encode() for name in HIDING)
_HIDDEN = re.compile(rf"<!--|<((?ai:{'|'.join(HIDING)}))(?=[\s/>])")
_CLOSING = {name: re.compile(rf"</(?ai:{name})(?=[\s/>])") for name in HIDING}
# What begins so is looked at closely.
_MAY_HIDE = re.compile(r"<(?:!-|/?[sS](?:[cC][rR]|[tT][yY]))")

# The letters that a reference stands for, in one number: no reference has more than two.
_LETTER_BITS = 21
_LETTER = (1 << _LETTER_BITS) - 1


class Edits(NamedTuple):
    """What is taken out of a source: from where, to where, and the letters instead, in a number."""

    starts: Ints
    ends: Ints
    letters: TokenIds  # uint64[n]; 0 for none


class Cleaned(NamedTuple):
    """A source without what is never text; where in ``text``, and by how much, offsets shift.

    ``places`` are in half characters: a decoded letter shifts what follows from within itself,
    where no token begins or ends.
    """

    text: str
    places: NDArray[np.int64]
    shifts: Ints

    def in_source(self, starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
        """Offsets into the cleaned text, both ascending, led back to the source.

        A start at a place where something was taken out stands behind it, an end before it.
        """
        if not len(self.places):
            return starts, ends
        return (
            starts + self._shifts_from((2 * starts).searchsorted(self.places), len(starts)),
            ends + self._shifts_from((2 * ends).searchsorted(self.places, side="right"), len(ends)),
        )

    def _shifts_from(self, first: Indices, n: int) -> Ints:
        """int32[n]: for each token the last of the shifts whose *first* token is not behind it."""
        steps = np.zeros(n + 1, np.int32)
        np.add.at(steps, first, np.concatenate((self.shifts[:1], np.diff(self.shifts))))
        return np.cumsum(steps[:-1], dtype=np.int32)


def clean(source: str) -> Cleaned:
    """*source* without comments, scripts and styles, with letters decoded."""
    return Cleaned(*_cleaned(source))


@accelerated(lambda: (_packed, _HIDING), "Cleaner")
def _cleaned(source: str) -> tuple[str, NDArray[np.int64], Ints]:
    marks = _Marks(source, [found.start() for found in _MAY_HIDE.finditer(source)])
    edits = _in_order(_hidden(source, marks), _references(source))
    n_letters = sum((edits.letters >> np.uint64(n * _LETTER_BITS) > 0) for n in range(3))
    shifts = np.cumsum(edits.ends - edits.starts - n_letters, dtype=np.int32)
    places = 2 * (edits.ends - shifts).astype(np.int64) - (edits.letters > 0)
    return _edited(source, edits) if len(shifts) else source, places, shifts


def _hidden(source: str, marks: _Marks) -> Iterator[tuple[int, int]]:
    """From where to where the comments, and what stands in scripts and styles."""
    comments_end = True  # whether a "-->" is still ahead: looked for in vain at most once
    search_from = 0
    while found := marks.first(_HIDDEN, search_from):
        start, search_from = found.span()
        if found[1] is None:
            close = source.find("-->", start + 2) if comments_end else -1
            comments_end = close >= 0
            search_from = close + 3 if comments_end else _after(source, ">", search_from)
            yield start, search_from
        else:
            content = _end_of_tag(source, start)
            closing = marks.first(_CLOSING[found[1].lower()], content)
            search_from = closing.start() if closing else len(source)
            yield content, search_from


def _in_order(hidden: Iterable[tuple[int, int]], references: Edits) -> Edits:
    """What is *hidden* and those of the *references* that are not in it, in the source's order."""
    bounds = np.fromiter(chain.from_iterable(hidden), np.int32)
    if not len(bounds):
        return references
    # Between two bounds that stand in pairs one is outside after an even number of them.
    outside = np.searchsorted(bounds, references.starts, side="right") % 2 == 0
    starts = np.concatenate((bounds[::2], references.starts[outside]))
    order = np.argsort(starts, kind="stable")
    ends = np.concatenate((bounds[1::2], references.ends[outside]))
    letters = np.concatenate((np.zeros(len(bounds) // 2, np.uint64), references.letters[outside]))
    return Edits(starts[order], ends[order], letters[order])


def _edited(source: str, edits: Edits) -> str:
    starts, ends, letters = (column.tolist() for column in edits)
    kept = [source[end:start] for end, start in zip([0, *ends], [*starts, None], strict=True)]
    texts = {number: _unpacked(number) for number in set(letters)}
    return "".join(
        chain.from_iterable(zip(kept, [*map(texts.__getitem__, letters), ""], strict=True))
    )


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


def _references(source: str) -> Edits:
    """The letters that are written as references."""
    packed = {each: _packed(each) for each in set(ANY_REFERENCE.findall(source))}
    rows: list[tuple[int, int, int]] = []
    if any(packed.values()):
        references = ANY_REFERENCE.finditer(source)
        rows = [(*each.span(), packed[each[0]]) for each in references if packed[each[0]]]
    first, last, text = np.array(rows, np.uint64).reshape(-1, 3).T
    return Edits(first.astype(np.int32), last.astype(np.int32), text)


def _packed(reference: str) -> int:
    """The letters or digits that *reference* stands for, in a number; 0 if it stands for others."""
    text = decode(reference)
    if not text.isalnum():
        return 0
    return sum(ord(letter) << n * _LETTER_BITS for n, letter in enumerate(text))


def _unpacked(number: int) -> str:
    return chr(number & _LETTER) + _unpacked(number >> _LETTER_BITS) if number else ""
