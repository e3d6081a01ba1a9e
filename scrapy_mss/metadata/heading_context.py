"""The text around the heading of an article, where readers look for who and when.

Strategy: from the heading the page is read on in its own order, piece of text by piece of text,
until the article is under way (`LONG_LINES`): what is said there in few words is about the
article, while the same words further down are about others. No element is looked at twice and
nothing is read that nobody asks for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain, islice
from typing import Final

from scrapy_mss.metadata.text import Element, clean, shown

MAX_PIECES: Final = 60  # pieces of text behind a heading; 30, 60 and 120 gave the same dates
MAX_FAR: Final = 600  # the same, when no other place has a date
MAX_DEPTH: Final = 50  # elements around a heading
MAX_BYLINES: Final = 40
ABOVE: Final = (4, 3)  # how far up, and how many elements before each
AROUND: Final = 3  # elements around a piece of text that may be called its byline
LONG_LINES: Final = 2  # a standfirst and a caption stand above the date on many pages
LONGEST_LINE: Final = 120  # characters of a byline or a date line; a teaser has more
BETWEEN: Final = " | "  # what is put between pieces that stand apart

BYLINE_MARKS: Final = ("byline", "author", "autor", "auteur")
_AUTHOR_PAGE: Final = re.compile(
    r"/(?:authors?|autor(?:en|es|i)?|auteurs?|by|contributors?|journalists?|people|profiles?|"
    r"redaktion|staff|team|writers?)/[^/]",
    re.IGNORECASE,
)

Piece = tuple[str, Element]  # some text, and the element that it stands in


class Surroundings:
    """The lines around *heading*; of the whole of *root* where there is no heading."""

    def __init__(self, heading: Element | None, root: Element) -> None:
        self._heading = heading
        self._root = root

    @cached_property
    def _pieces(self) -> list[Piece]:
        if self._heading is None:
            return []
        return list(_until_text(_lines_of(_behind(self._heading))))

    @cached_property
    def behind(self) -> list[str]:
        """The short lines behind the heading, up to where the article is under way."""
        return [line for line, _ in self._pieces if len(line) <= LONGEST_LINE]

    @cached_property
    def near(self) -> list[str]:
        """The short lines behind the heading, then those right above it."""
        above = [] if self._heading is None else map(pieces_of, _above(self._heading))
        return [*self.behind, *(line for line in above if 0 < len(line) <= LONGEST_LINE)]

    @cached_property
    def far(self) -> list[str]:
        """All short lines behind the heading, or of the page where there is no heading."""
        bodies = islice(self._root.iter("body"), 1)
        pieces = chain.from_iterable(
            map(shown, bodies) if self._heading is None else [_behind(self._heading)]
        )
        lines = islice(_lines_of(pieces), MAX_FAR)
        return [line for line, _ in lines if len(line) <= LONGEST_LINE]

    @cached_property
    def bylines(self) -> list[str]:
        """The lines behind the heading in what is called a byline, or links to an author."""
        homes = {home: None for _, element in self._pieces for home in _up(element, AROUND)}
        return short_lines(home for home in homes if _is_byline(home))


def short_lines(elements: Iterable[Element]) -> list[str]:
    """The texts of *elements*, those that are as short as a byline."""
    texts = map(pieces_of, islice(elements, MAX_BYLINES))
    return [text for text in texts if 0 < len(text) <= LONGEST_LINE]


def pieces_of(element: Element) -> str:
    """The pieces of text in *element*, apart: two names in two links have no space between."""
    return BETWEEN.join(line for line, _ in islice(_lines_of(shown(element)), MAX_PIECES))


def marks_of(element: Element) -> str:
    """What an element is called: its class, id and property, in lower case."""
    return " ".join(element.get(name) or "" for name in ("class", "id", "itemprop")).lower()


def neighbours(elements: Iterable[Element]) -> Iterator[Element]:
    """The first element and the others that share its parent or its parent's parent."""
    homes: set[Element] | None = None
    for element in elements:
        own = set(islice(element.iterancestors(), 2))
        homes = own if homes is None else homes
        if homes & own:
            yield element


def _behind(heading: Element) -> Iterator[Piece]:
    """All text behind *heading* in the order of the page, without what is hidden."""
    for node in _up(heading, MAX_DEPTH):
        home = node.getparent()
        if home is None:
            return
        yield node.tail or "", home
        for sibling in node.itersiblings():
            if isinstance(sibling.tag, str):  # a comment shows nothing but what follows it
                yield from shown(sibling)
            yield sibling.tail or "", home


def _above(heading: Element) -> Iterator[Element]:
    """A few elements before *heading*, then before those around it."""
    height, count = ABOVE
    for node in _up(heading, height):
        yield from islice(node.itersiblings("*", preceding=True), count)


def _up(element: Element, count: int) -> Iterator[Element]:
    """The element and those around it, *count* in all."""
    yield element
    yield from islice(element.iterancestors(), count - 1)


def _lines_of(pieces: Iterable[Piece]) -> Iterator[Piece]:
    return ((line, home) for piece, home in pieces if (line := clean(piece)))


def _until_text(pieces: Iterable[Piece]) -> Iterator[Piece]:
    long_ones = 0
    for line, home in islice(pieces, MAX_PIECES):
        long_ones += len(line) > LONGEST_LINE
        if long_ones > LONG_LINES:
            return
        yield line, home


def _is_byline(element: Element) -> bool:
    marks = marks_of(element)
    if any(mark in marks for mark in BYLINE_MARKS):
        return True
    return element.tag == "a" and bool(_AUTHOR_PAGE.search(element.get("href") or ""))
