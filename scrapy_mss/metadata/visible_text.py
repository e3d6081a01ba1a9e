"""The text that the elements of one page display, read within a budget.

Strategy: whatever a page nests in what, the visits to its nodes are paid from one budget, and the
text of an element is kept, since several lookups ask for the same one. When the budget is spent,
the rest of the page is as if it were empty: fields may be missing, but the time has a bound, and
the same page always gives the same fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from lxml import etree

from scrapy_mss.metadata.text import MAX_TEXT, Element, clean

Fragment = tuple[str, Element]  # a run of text, and the element that displays it

# Visits to nodes: of 2,526 pages of news sites and others 26 would take more (6,808 at most), and
# for one of them, the list of a category, the date in its footer is then not reached.
MAX_VISITS: Final = 3_000
CHARACTERS_PER_VISIT: Final = 256  # copying and cleaning so many cost as much as a visit

# Elements whose text browsers do not display, and elements that start a new line.
HIDDEN: Final = frozenset({"script", "style", "noscript", "template", "svg"})
BREAKS: Final = frozenset("address br dd div dt h1 h2 h3 h4 li p section td th tr".split())


class VisibleText:
    """The texts of one page's elements, and how many visits to its nodes are left."""

    def __init__(self, visits: int = MAX_VISITS) -> None:
        self.visits_left = visits
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

    def runs(self, element: Element) -> Iterable[Fragment]:
        """The runs of text that *element* displays, without those of white space alone."""
        if len(element):
            fragments = self._fragments(element)
            return ((text, parent) for text, parent in fragments if not text.isspace())
        text = self._own_text(element)
        return ((text, element),) if text and not text.isspace() else ()

    def _read(self, element: Element) -> str:
        if not len(element):
            return self._own_text(element)
        parts: list[str] = []
        size = 0
        for text, _ in self._fragments(element):
            parts.append(text)
            size += len(text)
            if size > MAX_TEXT:
                break
        return "".join(parts)

    def _own_text(self, element: Element) -> str:
        """The text of an element without children: most have none, and need no walk."""
        text = None if element.tag in HIDDEN else element.text
        return text if text and self.can_visit(text) else ""

    def _fragments(self, element: Element) -> Iterator[Fragment]:
        """All text that *element* displays; a single space marks the edge of a line."""
        if self.visits_left <= 0:
            return
        hidden_depth = 0
        for event, node in etree.iterwalk(element, events=("start", "end", "comment", "pi")):
            starts = event == "start"
            if starts or event == "end":
                if node.tag in HIDDEN:
                    hidden_depth += 1 if starts else -1
                elif node.tag in BREAKS:
                    yield " ", node
            if node is element and not starts:
                return
            text = None if hidden_depth else node.text if starts else node.tail
            self.visits_left -= 1 + len(text) // CHARACTERS_PER_VISIT if text else 1
            if self.visits_left < 0:
                return
            if text:
                parent = node if starts else node.getparent()
                if parent is not None:
                    yield text, parent
