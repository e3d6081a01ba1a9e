"""The tokens of a DOM element: start tags are numbered before parsing, and the numbers read back.

Each start tag that the tokenizer saw gets one more attribute, the index of its token. The parser
carries it into the tree, so every element that a selector selects knows where it begins in the
source. The attribute is the first of its tag, so that a second one of that name is ignored, and
its name occurs nowhere else in the page.

No attribute can say where an element ends. That is somewhere between two start tags: the last
one inside the element and the first one after it. The closing tags in between are replayed on the
elements that were open there according to the tree, by the parser's own rule; an element that no
closing tag closes was closed by the next start tag.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain
from string import ascii_lowercase, ascii_uppercase

import numpy as np
from lxml import etree

from scrapy_mss.markup.parser_limits import without_surplus_attributes
from scrapy_mss.markup.tags import TAG_NAMES, UNKNOWN_TAG, VOID_TAGS
from scrapy_mss.markup.tokens import CLOSE, OPEN, Tokens
from scrapy_mss.metadata.parsed_page import LANGUAGE_ATTRIBUTES
from scrapy_mss.wrappers.selectors import Element

ATTRIBUTE = "_0_"  # without letters, so that no page has it in another case

_NAME_LENGTHS = np.array([len(name) for name in TAG_NAMES], np.int32)
_NAME = re.compile(r"</?([^\s/>]+)")
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)  # tag names ignore case in ASCII only

# End priorities of libxml2: a closing tag is ignored if an element of a higher one is open inside.
_END_PRIORITIES = {
    "div": 150,
    "td": 160,
    "th": 160,
    "tr": 170,
    "thead": 180,
    "tbody": 180,
    "tfoot": 180,
    "table": 190,
    "head": 200,
    "body": 200,
    "html": 220,
}
_DEFAULT_PRIORITY = 100  # of all other elements


class AlignedTree:
    """The tree of a page, and the first and the last token of each element."""

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.attribute = _free_attribute(tokens.source)
        self.root = _parse(_numbered(tokens, self.attribute))
        self._supplied: dict[Element, int | None] = {}  # where elements without a number begin
        self._inserted = re.compile(rf' {self.attribute}="\d+"')

    @property
    def language(self) -> str | None:
        """The `lang` of `<html>`, by which numeric dates are read."""
        known = map(self.root.get, LANGUAGE_ATTRIBUTES) if self.root is not None else ()
        return next(filter(None, known), None)

    def without_numbers(self, text: str) -> str:
        """*text* of the tree, as the page has it.

        In a few elements, such as ``<title>``, the parser takes tags for text, and their numbers
        with them.
        """
        return self._inserted.sub("", text) if self.attribute in text else text

    def start(self, element: Element) -> int | None:
        """The first token of *element*; None if neither it nor any inside has a tag in the page.

        An element that the parser supplied begins with the first element inside that has one. Such
        elements are hardly inside one another, as deep as they may be (`labeller.DEEP`).
        """
        number = self._number(element)
        if number is not None:
            return number
        if element not in self._supplied:
            numbers = map(self._number, element.iter("*"))
            self._supplied[element] = next((n for n in numbers if n is not None), None)
        return self._supplied[element]

    def starts(self, elements: Iterable[Element]) -> dict[Element, int]:
        """The first tokens of those of the *elements* that have one."""
        starts = ((element, self.start(element)) for element in elements)
        return {element: start for element, start in starts if start is not None}

    def end(self, element: Element) -> int:
        """The token after the last one of *element*."""
        branch = _last_branch(element)
        last = self._last_number(branch)
        if len(branch) == 1 and element.tag in VOID_TAGS:
            return last + 1
        ancestors, following = self._after(element)
        still_open = _OpenElements([*branch, *ancestors])
        for token, kind in enumerate(self.tokens.kind[last + 1 : following].tolist(), last + 1):
            closed = still_open.close(self._name(token)) if kind == CLOSE else 0
            if closed >= len(branch):
                return token + 1 if closed == len(branch) else token
        return following

    def _number(self, element: Element) -> int | None:
        value = element.get(self.attribute)
        return int(value) if value else None

    def _last_number(self, branch: list[Element]) -> int:
        """The number of the last start tag in the element at the end of *branch*."""
        number = self._number(branch[0])
        if number is None:
            numbers = [self._number(inner) for inner in branch[-1].iter("*")]
            number = max((n for n in numbers if n is not None), default=-1)
        return number

    def _after(self, element: Element) -> tuple[list[Element], int]:
        """The ancestors in which *element* is the last one, and the next start tag."""
        ancestors: list[Element] = []
        node: Element | None = element
        while node is not None:
            for sibling in node.itersiblings("*"):
                start = self.start(sibling)
                if start is not None:
                    return ancestors, start
            node = node.getparent()
            if node is not None:
                ancestors.append(node)
        return ancestors, len(self.tokens)

    def _name(self, token: int) -> str:
        known = int(self.tokens.tag[token])
        if known != UNKNOWN_TAG:
            return TAG_NAMES[known]
        return _source_name(self.tokens, token).translate(_LOWER)


class _OpenElements:
    """The stack of open elements, innermost first, while closing tags are replayed on it."""

    def __init__(self, elements: list[Element]) -> None:
        self._names = [str(element.tag) for element in elements]
        self._closed = 0
        self._ignored: set[str] = set()  # closing tags, until another one closes something

    def close(self, name: str) -> int:
        """How many elements are closed after one more closing tag, that of *name*."""
        if name not in self._ignored:
            self._ignored.add(name)
            priority = _END_PRIORITIES.get(name, _DEFAULT_PRIORITY)
            for at in range(self._closed, len(self._names)):
                if self._names[at] == name:
                    self._closed = at + 1
                    self._ignored.clear()
                    break
                if _END_PRIORITIES.get(self._names[at], _DEFAULT_PRIORITY) > priority:
                    break
        return self._closed


def _last_branch(element: Element) -> list[Element]:
    branch = [element]
    while (child := next(branch[-1].iterchildren("*", reversed=True), None)) is not None:
        branch.append(child)
    return branch[::-1]


def _free_attribute(source: str) -> str:
    if ATTRIBUTE not in source:
        return ATTRIBUTE
    longest = max(map(len, re.findall(r"_(0+)(?=_)", source)))
    return f"_{'0' * (longest + 1)}_"


def _numbered(tokens: Tokens, attribute: str) -> str:
    """The source, each start tag with its token's index as an attribute."""
    opening = np.flatnonzero(tokens.kind == OPEN)
    tags = tokens.tag[opening]
    places = tokens.start[opening] + 1 + _NAME_LENGTHS[tags]
    for at in np.flatnonzero(tags == UNKNOWN_TAG).tolist():
        token = int(opening[at])
        places[at] = tokens.start[token] + 1 + len(_source_name(tokens, token))
    places = places.tolist()
    source = tokens.source
    texts = [source[start:end] for start, end in zip([0, *places], [*places, None], strict=True)]
    numbers = [f' {attribute}="{number}"' for number in opening.tolist()]
    return "".join(chain.from_iterable(zip(texts, [*numbers, ""], strict=True)))


def _source_name(tokens: Tokens, token: int) -> str:
    found = _NAME.match(tokens.source, int(tokens.start[token]))
    return found[1] if found else ""


def _parse(source: str) -> Element | None:
    """The tree of *source*; None if it has no element.

    Some versions of the parser end a page at NUL, and no encoding has a lone surrogate: both are
    replaced, which leaves the numbers where they are.
    """
    source = without_surplus_attributes(source.replace("\0", "\ufffd"))
    data = source.encode("utf-8", "replace")
    del source  # frees its memory before the tree is built
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True)
    try:
        return etree.fromstring(data, parser)
    except etree.LxmlError:
        return None
