"""Where each of several short strings occurs in a page's source, in one look at it.

A search for each of them would read the page as often as there are strings. Four characters make
one number, so that numpy compares a quarter of a page at a time; what begins alike is compared in
full.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.markup.compiled import compiled_part

WIDTH: Final = 4  # characters that are compared at once: the shortest string that can be sought
_WORD = np.dtype("<u4")


def occurrences(text: str, wanted: Sequence[str]) -> list[list[int]]:
    """The offsets of each of the *wanted* ASCII strings in *text*, as `str.count` counts them."""
    compiled = compiled_part()
    if compiled is not None:
        return compiled.arrays.find_all(text, [each.encode("ascii") for each in wanted])
    return _find_all(text, wanted)


def _find_all(text: str, wanted: Sequence[str]) -> list[list[int]]:
    """The same without the compiled part."""
    data = text.encode("ascii", "replace")  # a byte a character, and "?" is in none of them
    shifted = [
        np.frombuffer(data, _WORD, (len(data) - shift) // WIDTH, shift)
        for shift in range(min(WIDTH, len(data)))
    ]
    return [list(_apart(data, each.encode("ascii"), shifted)) for each in wanted]


def _apart(data: bytes, wanted: bytes, shifted: list[NDArray[np.uint32]]) -> Iterator[int]:
    """Where *wanted* occurs in *data*, without those that overlap the one before."""
    begins = np.frombuffer(wanted, _WORD, 1)[0]
    places = [
        WIDTH * np.flatnonzero(equal) + shift
        for shift, equal in enumerate(words == begins for words in shifted)
        if equal.any()
    ]
    end = 0
    for place in np.sort(np.concatenate(places)).tolist() if places else ():
        if place >= end and data.startswith(wanted, place):
            end = place + len(wanted)
            yield place
