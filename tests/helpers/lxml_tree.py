"""The elements of a page that lxml has parsed: the oracle of `scrapy_mss.metadata.tree`.

Elements are found by tag or by a compiled XPath, in C, and Python visits those alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import cast

from lxml import etree

from scrapy_mss.metadata.tree import (
    BREAKS,
    HIDDEN,
    LEVELS_ABOVE,
    MAX_SIBLINGS,
    CanVisit,
    Element,
    Fragment,
    is_json_ld,
)

MAX_ANCESTORS = 50  # of a heading
LxmlElement = etree._Element  # noqa: SLF001 - lxml's class of elements has no other name
_Finder = Callable[[LxmlElement], list[LxmlElement]]


@lru_cache(maxsize=8)
def _finder(path: str, most: int) -> _Finder:
    """The first *most* elements on *path*."""
    return cast("_Finder", etree.XPath(f"(/descendant::{path})[position() <= {most}]"))


class LxmlTree:
    """The tree that *element* is part of; it is read and never changed."""

    def __init__(self, element: LxmlElement) -> None:
        self.root = element.getroottree().getroot()

    @property
    def attributes(self) -> Mapping[str, str]:
        return cast("Mapping[str, str]", self.root.attrib)

    def find(self, tags: frozenset[str], most: int) -> Iterator[Element]:
        left = dict.fromkeys(tags, most)
        for element in map(_own, self.root.iter(*tags)):
            left[element.tag] -= 1
            if left[element.tag] >= 0:
                yield element

    def values(self, tag: str, names: tuple[str, ...], most: int) -> Iterator[list[str | None]]:
        elements = islice(self.root.iter(tag), most)
        return (list(map(element.get, names)) for element in elements)

    def scripts(self, most: int, *, json_ld: bool) -> Iterator[str]:
        scripts = islice(self.root.iter("script"), most)
        return (each.text or "" for each in scripts if is_json_ld(each.get("type")) == json_ld)

    def properties(self, most: int) -> Iterator[Element]:
        return map(_own, _finder("*[@itemprop]", most)(self.root))

    def related_links(self, relation: str, most: int) -> Iterator[Element]:
        return map(_own, _finder(f"a[contains(@rel, '{relation}')]", most)(self.root))

    def fragments(self, element: Element, can_visit: CanVisit) -> Iterator[Fragment]:
        top = _lxml(element)
        if not len(top):  # most have none inside, and need no walk
            text = None if top.tag in HIDDEN else top.text
            return iter([(text, element)] if text and can_visit(text) else ())
        return _walk(top, can_visit)

    def body_fragments(self, can_visit: CanVisit) -> Iterator[Fragment]:
        for body in islice(self.root.iter("body"), 1):
            yield from self.fragments(_own(body), can_visit)

    def fragments_after(self, element: Element, can_visit: CanVisit) -> Iterator[Fragment]:
        for node in _upwards(_lxml(element), MAX_ANCESTORS):
            parent = node.getparent()
            if parent is None:
                return
            if node.tail:
                yield node.tail, _own(parent)
            for sibling in node.itersiblings():
                if not can_visit(None):
                    return
                if isinstance(sibling.tag, str):  # of a comment, only the text after it is visible
                    yield from self.fragments(_own(sibling), can_visit)
                if sibling.tail:
                    yield sibling.tail, _own(parent)

    def above(self, element: Element) -> Iterator[Element]:
        for node in _upwards(_lxml(element), LEVELS_ABOVE):
            yield from map(_own, islice(node.itersiblings("*", preceding=True), MAX_SIBLINGS))


def _own(element: LxmlElement) -> Element:
    return cast("Element", element)


def _lxml(element: Element) -> LxmlElement:
    return cast("LxmlElement", element)


def _upwards(element: LxmlElement, count: int) -> Iterator[LxmlElement]:
    """The element and its ancestors, *count* in all."""
    yield element
    yield from islice(element.iterancestors(), count - 1)


def _walk(top: LxmlElement, can_visit: CanVisit) -> Iterator[Fragment]:
    hidden_depth = 0
    for event, node in etree.iterwalk(top, events=("start", "end", "comment", "pi")):
        starts = event == "start"
        if starts or event == "end":
            if node.tag in HIDDEN:
                hidden_depth += 1 if starts else -1
            elif node.tag in BREAKS:
                yield " ", _own(node)
        if node is top and not starts:
            return
        text = None if hidden_depth else node.text if starts else node.tail
        if not can_visit(text):
            return
        if text:
            parent = node if starts else node.getparent()
            if parent is not None:
                yield text, _own(parent)
