"""The text that the elements of one page display, read within a budget.

Strategy: whatever a page nests in what, the visits to its nodes are paid from one budget, and the
text of an element is kept, since several lookups ask for the same one. When the budget is spent,
the rest of the page is as if it were empty: fields may be missing, but the time has a bound, and
the same page always gives the same fields.

The text around the heading of an article, where readers look for its author and date, is read from
the heading on, in document order, until the article itself has begun (`MAX_LONG_LINES`). Short
lines up to there are about the article, while the same words further down are about others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Final

from scrapy_mss.markup.lazy import lazy
from scrapy_mss.metadata.tree import Element, Fragment, PageTree
from scrapy_mss.pages.text import MAX_TEXT, clean

# Visits to nodes: of 2,526 pages of news sites and others 26 would take more (6,808 at most), and
# for one of them, the list of a category, the date in its footer is then not reached.
MAX_VISITS: Final = 3_000
CHARACTERS_PER_VISIT: Final = 256  # copying and cleaning so many cost as much as a visit


class VisibleText:
    """The texts of the elements of *tree*, and how many visits to its nodes are left."""

    def __init__(self, tree: PageTree, visits: int = MAX_VISITS) -> None:
        self.visits_left = visits
        self._tree = tree
        self._texts: dict[Element, str] = {}

    def can_visit(self, text: str | None = None) -> bool:
        """Pay for a visit to a node and for its *text*; False if nothing is left to pay."""
        self.visits_left -= 1 + len(text) // CHARACTERS_PER_VISIT if text else 1
        return self.visits_left >= 0

    def of(self, element: Element) -> str:
        """The text that *element* displays, on one line."""
        text = self._texts.get(element)
        if text is None:
            text = self._texts[element] = clean(self._read(element))
        return text

    def runs(self, element: Element) -> Iterator[Fragment]:
        """The runs of text that *element* displays, without those of white space alone."""
        return _with_text(self._fragments(element))

    def runs_after(self, element: Element) -> Iterator[Fragment]:
        """The same of all text after *element*, in document order."""
        return _with_text(self._tree.fragments_after(element, self.can_visit))

    def runs_of_page(self) -> Iterator[Fragment]:
        """The same of all text of the page."""
        return _with_text(self._tree.body_fragments(self.can_visit))

    def _fragments(self, element: Element) -> Iterator[Fragment]:
        return self._tree.fragments(element, self.can_visit) if self.visits_left > 0 else iter(())

    def _read(self, element: Element) -> str:
        parts: list[str] = []
        size = 0
        for text, _ in self._fragments(element):
            parts.append(text)
            size += len(text)
            if size > MAX_TEXT:
                break
        return "".join(parts)


def _with_text(fragments: Iterator[Fragment]) -> Iterator[Fragment]:
    return (each for each in fragments if each[0] and not each[0].isspace())


# --- around the heading ---------------------------------------------------------------------------

MAX_LINES: Final = 60  # after a heading; 30, 60 and 120 gave the same dates
MAX_DISTANT_LINES: Final = 600  # the same, when no other place has a date
MAX_BYLINES: Final = 40
BYLINE_LEVELS: Final = 3  # a line's element and its ancestors that may be marked as byline
MAX_LONG_LINES: Final = 2  # on many pages, a standfirst and a caption are above the date
MAX_LINE: Final = 120  # characters of a byline or a line with a date; a teaser has more
SEPARATOR: Final = " | "  # between the lines of one element

BYLINE_MARKERS: Final = ("byline", "author", "autor", "auteur")
_AUTHOR_PAGE: Final = re.compile(
    r"/(?:authors?|autor(?:en|es|i)?|auteurs?|by|contributors?|journalists?|people|profiles?|"
    r"redaktion|staff|team|writers?)/[^/]",
    re.IGNORECASE,
)


class HeadingContext:
    """The lines around *heading*; if that is None, distant lines are those of all of *tree*."""

    def __init__(self, heading: Element | None, tree: PageTree, visible: VisibleText) -> None:
        self._heading = heading
        self._tree = tree
        self._visible = visible

    @lazy
    def _lines(self) -> Iterator[Fragment]:
        """The lines that were not read yet; each is read once, whichever view needs it."""
        return _lines(
            self._visible.runs_of_page()
            if self._heading is None
            else self._visible.runs_after(self._heading)
        )

    @lazy
    def _until_body(self) -> list[Fragment]:
        """The lines from the heading to where the article has begun."""
        return [] if self._heading is None else list(_until_long_lines(self._lines))

    @lazy
    def following(self) -> list[str]:
        """The short lines after the heading, up to where the article has begun."""
        return [line for line, _ in self._until_body if len(line) <= MAX_LINE]

    @lazy
    def nearby(self) -> list[str]:
        """The short lines after the heading, then those right above it."""
        above = () if self._heading is None else self._tree.above(self._heading)
        return [*self.following, *short_texts(above, self._visible)]

    @lazy
    def distant(self) -> list[str]:
        """All short lines after the heading, or of the whole page if there is no heading."""
        read = self._until_body
        further = islice(self._lines, MAX_DISTANT_LINES - len(read))
        return [line for line, _ in chain(read, further) if len(line) <= MAX_LINE]

    @lazy
    def bylines(self) -> list[str]:
        """The texts after the heading that are marked as byline or link to an author's page."""
        parents = dict.fromkeys(parent for _, parent in self._until_body)
        elements = dict.fromkeys(
            each for parent in parents for each in _upwards(parent, BYLINE_LEVELS)
        )
        return short_texts(filter(_is_byline, elements), self._visible)


def short_texts(elements: Iterable[Element], visible: VisibleText) -> list[str]:
    """The texts of *elements* that are as short as a byline."""
    texts = (separated_text(each, visible) for each in islice(elements, MAX_BYLINES))
    return [text for text in texts if 0 < len(text) <= MAX_LINE]


def separated_text(element: Element, visible: VisibleText) -> str:
    """The lines in *element*, separated: names in adjacent links have no space between them."""
    lines = islice(_lines(visible.runs(element)), MAX_LINES)
    return SEPARATOR.join(line for line, _ in lines)


def markers_of(element: Element) -> str:
    """The class, id and property of an element, in lower case."""
    value = element.attrib.get
    return f"{value('class', '')} {value('id', '')} {value('itemprop', '')}".lower()


def first_group(elements: Iterable[Element]) -> Iterator[Element]:
    """The first element, and the others that share its parent or its parent's parent."""
    first_ancestors: set[Element] | None = None
    for element in elements:
        ancestors = set(islice(element.iterancestors(), 2))
        first_ancestors = ancestors if first_ancestors is None else first_ancestors
        if not first_ancestors.isdisjoint(ancestors):
            yield element


def _upwards(element: Element, count: int) -> Iterator[Element]:
    """The element and its ancestors, *count* in all."""
    return chain((element,), islice(element.iterancestors(), count - 1))


def _lines(runs: Iterable[Fragment]) -> Iterator[Fragment]:
    return ((line, parent) for text, parent in runs if (line := clean(text)))


def _until_long_lines(lines: Iterable[Fragment]) -> Iterator[Fragment]:
    n_long = 0
    for line, parent in islice(lines, MAX_LINES):
        n_long += len(line) > MAX_LINE
        if n_long > MAX_LONG_LINES:
            return
        yield line, parent


def _is_byline(element: Element) -> bool:
    if not element.attrib:  # as most paragraphs
        return False
    if _marks_byline(markers_of(element)):
        return True
    return element.tag == "a" and bool(_AUTHOR_PAGE.search(element.get("href") or ""))


def _marks_byline(markers: str) -> bool:
    for word in BYLINE_MARKERS:  # a third of the time of an expression  # noqa: SIM110
        if word in markers:
            return True
    return False
