"""Well-nested HTML -> a tree of elements and strings.

nh3 has parsed, repaired and written what is read here, so that no rule of HTML's error handling is
needed, and nothing is nested more deeply than the sanitizer allows: one expression finds the tags.
Python's HTML parser takes four times as long.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape
from typing import TypeAlias

from scrapy_mss.markup.tags import BLOCK_TAGS, VOID_TAGS

# An attribute's value may have angle brackets, and no quotation mark.
_TAG = re.compile(r'<(/?)([a-z][a-z0-9]*)((?: [a-z]+="[^"]*")*)>')
_ATTRIBUTE = re.compile(r' ([a-z]+)="([^"]*)"')


@dataclass(slots=True)
class Element:
    """An element; *has_block* if it is a block or contains one."""

    name: str
    attributes: dict[str, str]
    children: list[Node] = field(default_factory=list)
    has_block: bool = False

    @property
    def text(self) -> str:
        """All text inside, a line for each line break."""
        if self.name == "br":
            return "\n"
        return "".join(each if isinstance(each, str) else each.text for each in self.children)


Node: TypeAlias = "Element | str"


def parse(html: str) -> Element:
    """The root of *html*, which is well nested."""
    open_elements = [Element("div", {})]
    at = 0
    for tag in _TAG.finditer(html):
        start, (closing, name, attributes) = tag.start(), tag.groups()
        if start > at:
            open_elements[-1].children.append(unescape(html[at:start]))
        at = tag.end()
        if not closing:
            _open(open_elements, name, attributes)
        elif len(open_elements) > 1 and open_elements[-1].name == name:
            open_elements.pop()
    if at < len(html):
        open_elements[-1].children.append(unescape(html[at:]))
    return open_elements[0]


def _open(open_elements: list[Element], name: str, attributes: str) -> None:
    """Add an element to the innermost of the *open_elements*, and open it."""
    values = {key: unescape(value) for key, value in _ATTRIBUTE.findall(attributes)}
    element = Element(name, values)
    open_elements[-1].children.append(element)
    if name in BLOCK_TAGS:
        element.has_block = True
        for each in reversed(open_elements):
            if each.has_block:
                break
            each.has_block = True
    if name not in VOID_TAGS:
        open_elements.append(element)
