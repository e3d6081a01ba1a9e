"""Which tokens an element is: start tags are numbered before parsing, and numbers read back.

Each start tag that the tokenizer saw gets one more attribute, its token's index. The parser
carries it into the tree, so whatever a selector selects says itself where it begins in the
source. The attribute comes first in its tag, where a second of its name counts for nothing, and
its name stands nowhere else in the page.

Where an element ends no attribute can tell. It is a place between two start tags: the last
one inside the element, and the first one behind it. The closing tags in between are replayed on
the elements that the tree says were open there, by the parser's own rule; what no closing tag
closes, the next start tag did.
"""

from __future__ import annotations

import re
from string import ascii_lowercase, ascii_uppercase

import numpy as np
from lxml import etree

from scrapy_mss.markup.tags import TAG_NAMES, UNKNOWN_TAG, VOID_TAGS
from scrapy_mss.markup.tokens import CLOSE, OPEN, Tokens
from scrapy_mss.wrappers.selectors import Element

ATTRIBUTE = "_0_"  # a name without letters: a page cannot write it in another case

_NAME_LENGTHS = np.array([len(name) for name in TAG_NAMES], np.int32)
_NAME = re.compile(r"</?([^\s/>]+)")
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)  # a tag's name is lowered in ASCII alone

# libxml2 ignores a closing tag if an element that is stronger than its own is open inside.
_STRENGTHS = {
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
_STRENGTH = 100


class NumberedPage:
    """A page's tree, whose elements know their tokens."""

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.attribute = _free_attribute(tokens.source)
        self.root = _parse(_numbered(tokens, self.attribute))
        self._inserted = re.compile(rf' {self.attribute}="\d+"')

    def without_numbers(self, text: str) -> str:
        """*text* of the tree as the page has it.

        In a few elements, such as ``<title>``, tags are text for the parser and get numbers
        as well.
        """
        return self._inserted.sub("", text) if self.attribute in text else text

    def start(self, element: Element) -> int | None:
        """The token that *element* begins with; None if the page has no tag of it or inside it.

        An element that only the parser made begins with the first that the page has in it.
        """
        numbers = (self._number(inner) for inner in element.iter("*"))
        return next((number for number in numbers if number is not None), None)

    def end(self, element: Element) -> int:
        """The token behind the last one of *element*."""
        inside = _last_branch(element)
        last = self._last_number(inside)
        if len(inside) == 1 and element.tag in VOID_TAGS:
            return last + 1
        outside, following = self._behind(element)
        still_open = _OpenElements([*inside, *outside])
        for token, kind in enumerate(self.tokens.kind[last + 1 : following].tolist(), last + 1):
            closed = still_open.close(self._name(token)) if kind == CLOSE else 0
            if closed >= len(inside):
                return token + 1 if closed == len(inside) else token
        return following

    def _number(self, element: Element) -> int | None:
        value = element.get(self.attribute)
        return int(value) if value else None

    def _last_number(self, branch: list[Element]) -> int:
        """The number of the last start tag in the element that *branch* leads up to."""
        number = self._number(branch[0])
        if number is None:
            numbers = [self._number(inner) for inner in branch[-1].iter("*")]
            number = max((n for n in numbers if n is not None), default=-1)
        return number

    def _behind(self, element: Element) -> tuple[list[Element], int]:
        """The elements around *element* that end with it at the latest, and the next start tag."""
        around: list[Element] = []
        node: Element | None = element
        while node is not None:
            for sibling in node.itersiblings("*"):
                start = self.start(sibling)
                if start is not None:
                    return around, start
            node = node.getparent()
            if node is not None:
                around.append(node)
        return around, len(self.tokens)

    def _name(self, token: int) -> str:
        known = int(self.tokens.tag[token])
        if known != UNKNOWN_TAG:
            return TAG_NAMES[known]
        return _source_name(self.tokens, token).translate(_LOWER)


class _OpenElements:
    """Elements that are open, the innermost first, as closing tags come."""

    def __init__(self, elements: list[Element]) -> None:
        self._names = [str(element.tag) for element in elements]
        self._closed = 0
        self._ignored: set[str] = set()  # until something is closed

    def close(self, name: str) -> int:
        """How many elements are closed by now, after a closing tag of *name*."""
        if name not in self._ignored:
            self._ignored.add(name)
            strength = _STRENGTHS.get(name, _STRENGTH)
            for at in range(self._closed, len(self._names)):
                if self._names[at] == name:
                    self._closed = at + 1
                    self._ignored.clear()
                    break
                if _STRENGTHS.get(self._names[at], _STRENGTH) > strength:
                    break
        return self._closed


def _last_branch(element: Element) -> list[Element]:
    """The last element in *element*, the one around it, and so on up to *element*."""
    branch = [element]
    while (child := next(branch[-1].iterchildren("*", reversed=True), None)) is not None:
        branch.append(child)
    return branch[::-1]


def _free_attribute(source: str) -> str:
    """A name for the attribute that does not occur in *source*."""
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
    source, position = tokens.source, 0
    parts = []
    for place, number in zip(places.tolist(), opening.tolist(), strict=True):
        parts.append(f'{source[position:place]} {attribute}="{number}"')
        position = place
    parts.append(source[position:])
    return "".join(parts)


def _source_name(tokens: Tokens, token: int) -> str:
    found = _NAME.match(tokens.source, int(tokens.start[token]))
    return found[1] if found else ""


def _parse(source: str) -> Element | None:
    """The tree of *source*; None where the parser finds nothing to make one of.

    NUL ends the page for some versions of the parser, and a lone surrogate is in no encoding:
    both are replaced, which moves no number.
    """
    data = source.replace("\0", "\ufffd").encode("utf-8", "replace")
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True)
    try:
        return etree.fromstring(data, parser)
    except etree.LxmlError:
        return None
