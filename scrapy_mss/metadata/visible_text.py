"""The text that the elements of one page display, read within a budget.

Strategy: whatever a page nests in what, the visits to its nodes are paid from one budget, and the
text of an element is kept, since several lookups ask for the same one. When the budget is spent,
the rest of the page is as if it were empty: fields may be missing, but the time has a bound, and
the same page always gives the same fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from lxml import etree

from scrapy_mss.metadata.text import MAX_TEXT, Element, clean

Fragment = tuple[str, Element]  # a run of text, and the element that displays it

# Visits to nodes: of 5,100 pages of news sites and others one, of 1.3 MB, needed more (13,500).
MAX_VISITS: Final = 10_000
CHARACTERS_PER_VISIT: Final = 64  # copying and cleaning so many cost as much as a visit

# Elements whose text browsers do not display, and elements that start a new line.
HIDDEN: Final = frozenset({"script", "style", "noscript", "template", "svg"})
BREAKS: Final = frozenset("address br dd div dt h1 h2 h3 h4 li p section td th tr".split())


class VisibleText:
    """The texts of one page's elements, and how many visits to its nodes are left."""

    def __init__(self, visits: int = MAX_VISITS) -> None:
        self.visits_left = visits
        self._texts: dict[Element, str] = {}

    def can_visit(self) -> bool:
        """Pay for a visit to a node; False if nothing is left to pay."""
        self.visits_left -= 1
        return self.visits_left >= 0

    def of(self, element: Element) -> str:
        """The text that *element* displays, on one line."""
        text = self._texts.get(element)
        if text is None:
            text = self._texts[element] = self._read(element)
        return text

    def _read(self, element: Element) -> str:
        parts: list[str] = []
        size = 0
        for text, _ in self.fragments(element):
            parts.append(text)
            size += len(text)
            if size > MAX_TEXT:
                break
        return clean("".join(parts))

    def fragments(self, element: Element) -> Iterator[Fragment]:
        """The runs of text that *element* displays; a single space marks the edge of a line."""
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
            text = node.text if starts else node.tail
            self.visits_left -= 1 + len(text) // CHARACTERS_PER_VISIT if text else 1
            if self.visits_left < 0:
                return
            if text and not hidden_depth:
                parent = node if starts else node.getparent()
                if parent is not None:
                    yield text, parent
