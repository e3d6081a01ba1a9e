"""What the lookups ask of a page's elements, whoever has found them.

Two have: `lxml_tree` for a tree that is there already, and `token_tree` for a page whose tokens are
at hand, which needs no second parse. Elements have the names and habits of lxml's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Protocol, TypeAlias

# Elements whose text browsers do not display, and elements that start a new line.
HIDDEN: Final = frozenset({"script", "style", "noscript", "template", "svg"})
BREAKS: Final = frozenset("address br dd div dt h1 h2 h3 h4 li p section td th tr".split())

JSON_LD: Final = "ld+json"  # in the type of a script

MAX_ANCESTORS: Final = 50  # of a heading
LEVELS_ABOVE: Final = 4  # the heading and its ancestors whose preceding siblings are read
MAX_SIBLINGS: Final = 3  # that precede each of them


class Element(Protocol):
    """An element of a page; the same one is always the same object."""

    @property
    def tag(self) -> str:
        """The name, in lower case."""

    @property
    def text(self) -> str | None:
        """The text up to the first element inside: all of it in a script."""

    @property
    def attrib(self) -> Mapping[str, str]:
        """The attributes, with names in lower case."""

    def get(self, key: str, /) -> str | None:
        """The value of an attribute."""

    def iterancestors(self) -> Iterator[Element]:
        """The elements around it, from the inside out."""

    def iterdescendants(self, tag: str, /) -> Iterator[Element]:
        """The elements in it, in document order; *tag* is "*"."""


Fragment: TypeAlias = tuple[str, Element]  # a run of text, and the element that displays it
# Pay for a visit to a node and for its text; false if nothing is left to pay.
CanVisit: TypeAlias = Callable[[str | None], bool]


class PageTree(Protocol):
    """A page's elements."""

    @property
    def attributes(self) -> Mapping[str, str]:
        """The attributes of `<html>`."""

    def is_hidden(self, element: Element) -> bool:
        """Whether an element around *element* is one of `HIDDEN`."""

    def find(self, tags: frozenset[str], most: int) -> Iterator[Element]:
        """The first *most* elements of each of *tags*, all in document order."""

    def values(self, tag: str, names: tuple[str, ...], most: int) -> Iterable[Sequence[str | None]]:
        """The values of the attributes called *names* of the first *most* elements called *tag*."""

    def scripts(self, most: int, *, json_ld: bool) -> Iterator[str]:
        """Of the first *most* scripts, the texts of those that are JSON-LD, or of the others."""

    def properties(self, most: int) -> Iterator[Element]:
        """The first *most* elements with an `itemprop`."""

    def related_links(self, relation: str, most: int) -> Iterator[Element]:
        """The first *most* `<a>` with a `rel` that contains *relation*."""

    def fragments(self, element: Element, can_visit: CanVisit) -> Iterator[Fragment]:
        """All text that *element* displays; a single space marks the edge of a line."""

    def body_fragments(self, can_visit: CanVisit) -> Iterator[Fragment]:
        """All text that the page displays; edges of lines may be left out."""

    def fragments_after(self, element: Element, can_visit: CanVisit) -> Iterator[Fragment]:
        """The same of all that is displayed after *element*, in document order."""

    def above(self, element: Element) -> Iterator[Element]:
        """A few elements that precede *element*, then those that precede its ancestors."""


def is_json_ld(kind: str | None) -> bool:
    """Whether a script with *kind* for its type is JSON-LD."""
    return kind is not None and JSON_LD in kind.lower()
