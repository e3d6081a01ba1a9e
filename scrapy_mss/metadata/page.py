"""One parsed page, as the readers of `rows` look at it.

Strategy: the tree is read and never changed. Each view of it is made when first asked for and
kept: a page whose JSON-LD says everything never has its headings or bylines looked at. Elements
are found by tag or by a compiled XPath, in C; Python sees only those.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import Final, cast

from lxml import etree

from scrapy_mss.metadata import jsonld
from scrapy_mss.metadata.jsonld import Graph, Hint, comparable
from scrapy_mss.metadata.text import (
    HIDDEN,
    Element,
    absolute,
    clean,
    folded,
    names_in_host,
    shown,
    spellings,
    text_of,
)
from scrapy_mss.metadata.titles import heading_in

MAX_HEADINGS: Final = 20
MAX_PIECES: Final = 60  # pieces of text that are looked at behind a heading
MAX_FAR: Final = 600  # the same, when no other place has a date
MAX_DEPTH: Final = 50  # elements around a heading
MAX_FOUND: Final = 40  # elements of one kind; the one that is wanted is among the first
BETWEEN: Final = " | "  # what is put between pieces that stand apart
LONG_LINES: Final = 2  # a standfirst and a caption stand above the date on many pages
LONGEST_LINE: Final = 120  # characters of a byline or a date line; a teaser has more

_WITH_ITEMPROP: Final = etree.XPath("//*[@itemprop]")
_REL_AUTHOR: Final = etree.XPath("//a[contains(@rel, 'author')]")
SITE_METAS: Final = ("og:site_name", "application-name", "apple-mobile-web-app-title")
BYLINE_CLASSES: Final = ("byline", "author", "autor", "auteur")

_AUTHOR_PAGE: Final = re.compile(
    r"/(?:authors?|autor(?:en|es|i)?|auteurs?|by|contributors?|journalists?|people|profiles?|"
    r"redaktion|staff|team|writers?)/[^/]",
    re.IGNORECASE,
)

# Types of microdata whose properties are the page's own; the address ends so.
_OWNERS: Final = ("Article", "Posting", "Page", "CreativeWork", "Report", "Recipe", "Review")
# Where the value of a property stands, first for what machines read.
_VALUE_AT: Final = ("content", "datetime", "href", "src")


class Page:
    """The views of one page; *url* is where it came from, None where that is not known."""

    def __init__(self, root: Element, url: str | None) -> None:
        """Look at the whole tree that *root* is in."""
        self.root = root.getroottree().getroot()
        self.url = url

    @cached_property
    def base(self) -> str | None:
        """What relative addresses are relative to."""
        for element in self.root.iter("base"):
            return absolute(element.get("href") or "", self.url) or self.url
        return self.url

    @cached_property
    def metas(self) -> Mapping[str, list[str]]:
        """The contents of `<meta>`, as they are, by name or property in lower case, `:` for `.`."""
        found: dict[str, list[str]] = {}
        for element in self.root.iter("meta"):
            content = element.get("content")
            if not content:
                continue
            for attribute in ("property", "name", "itemprop", "http-equiv"):
                name = (element.get(attribute) or "").strip().lower().replace(".", ":")
                if name:
                    found.setdefault(name, []).append(content)
        return found

    @cached_property
    def links(self) -> Mapping[str, list[str]]:
        """The addresses of `<link>` by relation."""
        found: dict[str, list[str]] = {}
        for element in self.root.iter("link"):
            address = element.get("href")
            for relation in (element.get("rel") or "").lower().split():
                if address:
                    found.setdefault(relation, []).append(address)
        return found

    @cached_property
    def declared_language(self) -> str | None:
        """The `lang` of `<html>`, which also decides how numeric dates are read."""
        names = ("lang", "{http://www.w3.org/XML/1998/namespace}lang", "xml:lang")
        return next((value for name in names if (value := self.root.get(name))), None)

    @cached_property
    def sites(self) -> frozenset[str]:
        """The spellings of what the site calls itself, and of the parts of its domain."""
        names = [value for name in SITE_METAS for value in self.metas.get(name, ())]
        names += self.json_ld(jsonld.ARTICLE, ("publisher",))
        names += self.json_ld(jsonld.SITE, ("name", "alternateName"))
        names += names_in_host(self.url or next(iter(self.links.get("canonical", ())), None))
        return frozenset(each for name in names for each in spellings(clean(name)))

    @cached_property
    def _headings(self) -> list[tuple[str, Element]]:
        for tag in ("h1", "h2"):
            elements = islice(self.root.iter(tag), MAX_HEADINGS)
            texts = [(text, element) for element in elements if (text := text_of(element))]
            if texts:
                return texts
        return []

    @cached_property
    def headings(self) -> list[str]:
        """The first level of headings that the page has."""
        return [text for text, _ in self._headings]

    @cached_property
    def _heading(self) -> Element | None:
        """The heading of the article: one that the tab's title begins with, else the first."""
        for title in self.tab_titles:
            chosen = heading_in(title, self.headings)
            if chosen:
                return dict(reversed(self._headings))[chosen]
        return self._headings[0][1] if self._headings else None

    @cached_property
    def _behind(self) -> list[tuple[str, Element]]:
        """The pieces of text behind the heading, each with the element that it stands in."""
        if self._heading is None:
            return []
        return list(_until_text(_cleaned(_shown_behind(self._heading))))

    @cached_property
    def lines(self) -> list[str]:
        """The short lines behind the heading of the article, up to where its text is under way."""
        return [line for line, _ in self._behind if len(line) <= LONGEST_LINE]

    @cached_property
    def near(self) -> list[str]:
        """The short lines behind the heading, then those right above it."""
        return [*self.lines, *self.lines_above]

    @cached_property
    def far(self) -> list[str]:
        """All short lines behind the heading, or of the body where there is no heading."""
        if self._heading is not None:
            pieces = _shown_behind(self._heading)
        else:
            pieces = (piece for body in islice(self.root.iter("body"), 1) for piece in shown(body))
        lines = islice(_cleaned(pieces), MAX_FAR)
        return [line for line, _ in lines if len(line) <= LONGEST_LINE]

    @cached_property
    def lines_above(self) -> list[str]:
        """The short lines right above the heading, the nearest first."""
        lines = [] if self._heading is None else map(pieces_of, _above(self._heading))
        return [line for line in lines if 0 < len(line) <= LONGEST_LINE]

    @cached_property
    def bylines(self) -> list[str]:
        """The lines behind the heading in what is called a byline or an author."""
        homes = {home: None for _, element in self._behind for home in _up(element, 3)}
        return _lines(home for home in homes if _is_byline(home))

    @cached_property
    def tab_titles(self) -> list[str]:
        """What browsers show in the tab; titles of drawings in the page are none."""
        return [
            text_of(element)
            for element in islice(self.root.iter("title"), 2)
            if not any(parent.tag in HIDDEN for parent in element.iterancestors())
        ]

    @cached_property
    def graph(self) -> Graph:
        """The JSON-LD of the page."""
        return Graph(
            element.text
            for element in self.root.iter("script")
            if "ld+json" in (element.get("type") or "").lower() and element.text
        )

    @cached_property
    def hint(self) -> Hint:
        """What tells this page's node from others."""
        addresses = (self.url, *self.links.get("canonical", ()), *self.metas.get("og:url", ()))
        titles = (*self.metas.get("og:title", ()), *self.headings)
        return Hint(
            frozenset(comparable(address) for address in addresses if address),
            frozenset(folded(title) for title in titles),
        )

    def json_ld(self, kind: str, keys: Iterable[str]) -> Iterator[str]:
        """The texts under *keys* in the likeliest node of *kind* that has any."""
        keys = tuple(keys)
        for node in self.graph.nodes(kind, self.hint)[:1]:
            yield from self.graph.texts(node, keys)

    @cached_property
    def properties(self) -> Mapping[str, list[Element]]:
        """The elements of microdata that describe the page, by property."""
        found: dict[str, list[Element]] = {}
        first: Element | None = None
        for element in _elements(_WITH_ITEMPROP, self.root):
            owner = next(element.iterancestors("*"), None)
            while owner is not None and owner.get("itemscope") is None:
                owner = owner.getparent()
            if owner is not None and not _is_owner(owner):
                continue
            if owner is not None and (owner.get("itemtype") or "").endswith(_OWNERS[:2]):
                first = owner if first is None else first
                if owner is not first:
                    continue
            for name in (element.get("itemprop") or "").lower().split():
                found.setdefault(name, []).append(element)
        return found

    @cached_property
    def times(self) -> list[Element]:
        """The `<time>` elements: those behind the first heading, then those before it."""
        before: list[Element] = []
        behind: list[Element] = []
        chosen = before
        for element in islice(self.root.iter("h1", "time"), 4 * MAX_FOUND):
            if element.tag == "h1":
                chosen = behind
            else:
                chosen.append(element)
        return [*behind, *reversed(before)]

    @cached_property
    def author_links(self) -> list[str]:
        """The texts of the first link to an author and of those beside it."""
        return _lines(neighbours(_elements(_REL_AUTHOR, self.root)))


def value_of(element: Element) -> str:
    """The value of a property: what machines read, else the text."""
    for name in _VALUE_AT:
        value = element.get(name)
        if value:
            return value
    return text_of(element)


def name_of(element: Element) -> Iterator[str]:
    """The names in a property that is a person: nested names, else the text."""
    nested = [each for each in element.iterdescendants("*") if each.get("itemprop") == "name"]
    if element.get("content"):
        yield element.get("content") or ""
    elif nested:
        yield from (each.get("content") or text_of(each) for each in nested)
    else:
        yield text_of(element)


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


def pieces_of(element: Element) -> str:
    """The pieces of text in *element*, apart: two names in two links have no space between."""
    return BETWEEN.join(line for line, _ in islice(_cleaned(shown(element)), MAX_PIECES))


def _is_owner(owner: Element) -> bool:
    return (owner.get("itemtype") or "").rstrip("/").endswith(_OWNERS)


def _elements(path: etree.XPath, root: Element) -> Iterator[Element]:
    """What *path* finds, as lxml's own types have it."""
    evaluate = cast("Callable[[Element], list[Element]]", path)
    yield from evaluate(root)


def _up(element: Element, count: int) -> Iterator[Element]:
    """The element and those around it, *count* in all."""
    yield element
    yield from islice(element.iterancestors(), count - 1)


def _above(element: Element) -> Iterator[Element]:
    """A few elements before *element*, and before those around it."""
    for node in _up(element, 4):
        yield from islice(node.itersiblings("*", preceding=True), 3)


def _is_byline(element: Element) -> bool:
    marks = marks_of(element)
    if any(mark in marks for mark in BYLINE_CLASSES):
        return True
    return element.tag == "a" and bool(_AUTHOR_PAGE.search(element.get("href") or ""))


def _until_text(pieces: Iterable[tuple[str, Element]]) -> Iterator[tuple[str, Element]]:
    """The pieces up to where the text of the article is under way."""
    long_ones = 0
    for line, home in islice(pieces, MAX_PIECES):
        long_ones += len(line) > LONGEST_LINE
        if long_ones > LONG_LINES:
            return
        yield line, home


def _cleaned(pieces: Iterable[tuple[str, Element]]) -> Iterator[tuple[str, Element]]:
    return ((line, home) for piece, home in pieces if (line := clean(piece)))


def _shown_behind(heading: Element) -> Iterator[tuple[str, Element]]:
    """All text behind *heading* with the element that it stands in, without what is hidden."""
    for node in _up(heading, MAX_DEPTH):
        home = node.getparent()
        if home is None:
            return
        yield node.tail or "", home
        for sibling in node.itersiblings():
            if isinstance(sibling.tag, str):
                yield from shown(sibling)
            yield sibling.tail or "", home


def _lines(elements: Iterable[Element]) -> list[str]:
    texts = (pieces_of(element) for element in islice(elements, MAX_FOUND))
    return [text for text in texts if 0 < len(text) <= LONGEST_LINE]
