"""Where each of several short strings occurs in a page's source."""

from __future__ import annotations

from collections.abc import Sequence

from scrapy_mss.markup.compiled import accelerated


@accelerated()
def occurrences(text: str, wanted: Sequence[str]) -> list[list[int]]:
    """The offsets of each of the *wanted* ASCII strings in *text*, as `str.count` counts them.

    The compiled function looks at the text once for all of them, by blocks of some characters.
    """
    return [_places(text, each) for each in wanted]


def _places(text: str, wanted: str) -> list[int]:
    places = []
    place = text.find(wanted)
    while place >= 0:
        places.append(place)
        place = text.find(wanted, place + len(wanted))
    return places
