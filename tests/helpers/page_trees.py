"""A page's elements as each of two trees finds them: ours, and its oracle, parsed by lxml."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeAlias, cast

from lxml import etree

from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.metadata.tree import (
    BREAKS,
    HIDDEN,
    LEVELS_ABOVE,
    MAX_SIBLINGS,
    Fragment,
    PageTree,
    Visits,
    is_json_ld,
)

MAX_ANCESTORS = 50  # of a heading
LxmlElement: TypeAlias = Any  # has of our elements' attributes those that are read
Elements: TypeAlias = Iterator[LxmlElement]


class LxmlTree:
    """The tree below *root*."""

    def __init__(self, root: LxmlElement) -> None:
        self.root = root
        self.attributes: Mapping[str, str] = root.attrib

    def find(self, tags: frozenset[str], most: int) -> Elements:
        left = dict.fromkeys(tags, most)
        for element in self.root.iter(*tags):
            left[element.tag] -= 1
            if left[element.tag] >= 0:
                yield element

    def values(self, tag: str, names: tuple[str, ...], most: int) -> Iterator[list[str | None]]:
        elements = islice(self.root.iter(tag), most)
        return (list(map(element.get, names)) for element in elements)

    def link_values(
        self, relations: Iterable[str], names: tuple[str, ...], most: int
    ) -> Iterator[list[str | None]]:
        return self.values("link", names, most)

    def is_hidden(self, element: LxmlElement) -> bool:
        return any(each.tag in HIDDEN for each in element.iterancestors())

    def tag_of(self, element: LxmlElement) -> str:
        return f"<{element.tag} {dict(element.attrib)}>".lower()

    def around_texts(
        self, elements: Elements, levels: int, sign: re.Pattern[str]
    ) -> list[LxmlElement]:
        around = (islice((each, *each.iterancestors()), levels) for each in dict.fromkeys(elements))
        found = dict.fromkeys(each for levels in around for each in levels)
        return [each for each in found if sign.search(self.tag_of(each))]

    def scripts(self, most: int, *, json_ld: bool) -> Iterator[str]:
        scripts = islice(self.root.iter("script"), most)
        return (each.text or "" for each in scripts if is_json_ld(each.get("type")) == json_ld)

    def properties(self, most: int) -> Elements:
        return islice(self.root.iterfind(".//*[@itemprop]"), most)

    def nearest(self, name: str, element: LxmlElement, _: object) -> LxmlElement | None:
        return next((each for each in element.iterancestors() if name in each.attrib), None)

    def related_links(self, relation: str, most: int) -> Elements:
        links = (each for each in self.root.iter("a") if relation in each.get("rel", ""))
        return islice(links, most)

    def fragments(self, element: LxmlElement, visits: Visits) -> Iterator[Fragment]:
        hidden_depth = 0
        for event, node in etree.iterwalk(element, events=("start", "end", "comment", "pi")):
            starts = event == "start"
            if starts or event == "end":
                if node.tag in HIDDEN:
                    hidden_depth += 1 if starts else -1
                elif node.tag in BREAKS:
                    yield " ", cast("Any", node)
            if node is element and not starts:
                return
            text = None if hidden_depth else node.text if starts else node.tail
            if not visits.pay(len(text or "")):
                return
            if text:
                yield text, cast("Any", node if starts else node.getparent())

    def body_fragments(self, visits: Visits) -> Iterator[Fragment]:
        for body in islice(self.root.iter("body"), 1):
            yield from self.fragments(body, visits)

    def fragments_after(self, element: LxmlElement, visits: Visits) -> Iterator[Fragment]:
        for node in islice((element, *element.iterancestors()), MAX_ANCESTORS):
            parent = node.getparent()
            if parent is None:
                return
            if node.tail:
                yield node.tail, parent
            for sibling in node.itersiblings():
                if not visits.pay():
                    return
                if isinstance(sibling.tag, str):  # of a comment, only the text after it is visible
                    yield from self.fragments(sibling, visits)
                if sibling.tail:
                    yield sibling.tail, parent

    def above(self, element: LxmlElement) -> Elements:
        for node in islice((element, *element.iterancestors()), LEVELS_ABOVE):
            yield from islice(node.itersiblings("*", preceding=True), MAX_SIBLINGS)


def parsed_by_lxml(source: str) -> PageTree:
    return cast("PageTree", LxmlTree(etree.fromstring(source, etree.HTMLParser(huge_tree=True))))


def made_of_tokens(source: str) -> PageTree:
    return PageTree(tokenize(source))
