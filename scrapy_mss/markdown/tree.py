"""Well-nested HTML -> a tree of elements and strings.

nh3 has parsed, repaired and written what is read here, so that no rule of HTML's error handling is
needed, and nothing is nested more deeply than the sanitizer allows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TypeAlias

from scrapy_mss.markup.tags import BLOCK_TAGS, VOID_TAGS


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
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.open[0]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("div", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag in BLOCK_TAGS:
            for each in (*self.open, element):
                each.has_block = True
        if tag not in VOID_TAGS:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if len(self.open) > 1 and self.open[-1].name == tag:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)
