"""The text that the elements of one page display, read within a budget.

Strategy: whatever a page nests in what, the visits to its nodes are paid from one budget, and the
text of an element is kept, since several lookups ask for the same one. When the budget is spent,
the rest of the page is as if it were empty: fields may be missing, but the time has a bound, and
the same page always gives the same fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scrapy_mss.metadata.page_tree import Element, Fragment, PageTree
from scrapy_mss.metadata.text import MAX_TEXT, clean

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
