"""Where each of several short strings occurs in a page's source, in one look at it.

A search for each of them would read the page as often as there are strings. Four characters make
one number, which numpy looks up in a table of those that may be in one of the strings; what is
found there is compared in full. Where all strings are longer, not each place has to be looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.markup.compiled import compiled_part

WIDTH: Final = 4  # characters that are looked at together: the shortest string that can be sought
STEPS: Final = (4, 2, 1)  # from one place that is looked at to the next
_WORD = np.dtype("<u4")
_FACTOR, _SHIFT = np.uint32(0x9E3779B1), np.uint32(20)  # to twelve bits that depend on all
_N_PLACES = 1 << 32 - int(_SHIFT)


def occurrences(text: str, wanted: Sequence[str]) -> list[list[int]]:
    """The offsets of each of the *wanted* ASCII strings in *text*, as `str.count` counts them."""
    compiled = compiled_part()
    if compiled is not None:
        return compiled.arrays.find_all(text, [each.encode("ascii") for each in wanted])
    return _find_all(text, wanted)


def _find_all(text: str, wanted: Sequence[str]) -> list[list[int]]:
    """The same without the compiled part."""
    data = text.encode("ascii", "replace")  # a byte a character, and "?" is in none of them
    strings = [each.encode("ascii") for each in wanted]
    shortest = min(map(len, strings), default=WIDTH)
    step = next(step for step in STEPS if WIDTH + step - 1 <= shortest)
    # Whatever the string, one of its first words is where it is looked.
    begins = [[_word(each, offset) for offset in range(step)] for each in strings]
    places, words = _likely(data, np.array(begins, _WORD), step)
    return [
        list(_apart(data, each, places, [words == word for word in of_each]))
        for each, of_each in zip(strings, begins, strict=True)
    ]


def _word(text: bytes, offset: int) -> np.uint32:
    return np.uint32(int.from_bytes(text[offset : offset + WIDTH], "little"))


def _likely(
    data: bytes, begins: NDArray[np.uint32], step: int
) -> tuple[NDArray[np.intp], NDArray[np.uint32]]:
    """The places, a *step* or more apart, where one of *begins* may be, and the words there."""
    is_likely = np.zeros(_N_PLACES, np.bool_)
    is_likely[begins * _FACTOR >> _SHIFT] = True
    places, found = [], []
    for shift in range(0, min(WIDTH, len(data)), step):
        words = np.frombuffer(data, _WORD, (len(data) - shift) // WIDTH, shift)
        likely = np.flatnonzero(is_likely.take(words * _FACTOR >> _SHIFT))
        places.append(WIDTH * likely + shift)
        found.append(words[likely])
    if not places:
        return np.zeros(0, np.intp), np.zeros(0, _WORD)
    return np.concatenate(places), np.concatenate(found)


def _apart(
    data: bytes, wanted: bytes, places: NDArray[np.intp], are_at: list[NDArray[np.bool_]]
) -> Iterator[int]:
    """Where *wanted* occurs in *data*, without those that overlap the one before.

    *are_at* tells of each offset in it at which of the *places* it may be.
    """
    starts = [places[is_there] - offset for offset, is_there in enumerate(are_at)]
    end = 0
    for start in np.sort(np.concatenate(starts)).tolist():
        if start >= end and data.startswith(wanted, start):
            end = start + len(wanted)
            yield start
