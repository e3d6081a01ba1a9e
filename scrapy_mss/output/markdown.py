"""Sanitized HTML -> Markdown: CommonMark with the tables and the strikethrough of GitHub.

A mark is written only where a parser of Markdown takes it for one: `**` next to a letter and before
a quotation mark would stay on the page as two asterisks, so the words are left without emphasis.
Why no library does this: research/notes/markdown.md.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from itertools import count, groupby, repeat, zip_longest
from typing import TypeAlias
from urllib.parse import quote

from scrapy_mss.markup.tags import BLOCK_TAGS, VOID_TAGS


def markdown(html: str) -> str:
    """*html*, sanitized by `scrapy_mss.output.sanitizing`, as Markdown that shows the same."""
    return _joined(_blocks(_parsed(html)))


# --- the tree of the HTML -------------------------------------------------------------------------

# nh3 has parsed, repaired and written what is read here, so that no rule of HTML's error handling
# is needed, and nothing is nested more deeply than the sanitizer allows: one expression finds the
# tags. Python's HTML parser takes four times as long.

# An attribute's value may have angle brackets, and no quotation mark.
_TAG = re.compile(r'<(/?)([a-z][a-z0-9]*)((?: [a-z]+="[^"]*")*)>')
_ATTRIBUTE = re.compile(r' ([a-z]+)="([^"]*)"')


@dataclass(slots=True)
class _Element:
    """An element; *has_block* if it is a block or contains one."""

    name: str
    attributes: dict[str, str]
    children: list[_Node] = field(default_factory=list)
    has_block: bool = False

    @property
    def text(self) -> str:
        """All text inside, a line for each line break."""
        if self.name == "br":
            return "\n"
        return "".join(each if isinstance(each, str) else each.text for each in self.children)


_Node: TypeAlias = "_Element | str"


def _parsed(html: str) -> _Element:
    """The root of *html*, which is well nested."""
    open_elements = [_Element("div", {})]
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


def _open(open_elements: list[_Element], name: str, attributes: str) -> None:
    values = {key: unescape(value) for key, value in _ATTRIBUTE.findall(attributes)}
    element = _Element(name, values)
    open_elements[-1].children.append(element)
    if name == "a":  # parsers leave one around it that was not closed many blocks ago: it is none
        for each in open_elements:
            if each.name == name:
                each.attributes.clear()
    if name in BLOCK_TAGS:
        element.has_block = True
        for each in reversed(open_elements):
            if each.has_block:
                break
            each.has_block = True
    if name not in VOID_TAGS:
        open_elements.append(element)


# --- inside a block -------------------------------------------------------------------------------

_LINE_BREAK = "  \n"

_MARKS = {"b": "**", "strong": "**", "i": "*", "em": "*", "cite": "*", "dfn": "*", "del": "~~"}
_MARKS |= {"s": "~~"}
_CODE = frozenset({"code", "kbd", "samp", "var"})

_BLANKS = re.compile(r"[ \t\n\r\f]+")
# An underscore inside a word marks no emphasis, and an ampersand need be escaped only where it may
# begin a reference, which may end behind an element that leaves nothing, such as a picture without
# an address.
_SPECIAL = re.compile(r"[\\`*\[\]<~]|&(?=#?\w*(?:;|$))|(?<![^\W_])_|_(?![^\W_])")
_BACKTICKS = re.compile("`+")
# What ends an address in parentheses, or would end the line that it is in.
_NOT_IN_ADDRESSES = re.compile(r"[\s()<>\\]")
_LINE_ENDS = re.compile(r"[\t\n\r]")

# What at the beginning of a line makes a heading, a quotation, a list, a rule or a table of it.
_LINE_START = re.compile(
    r"^(?=#{1,6}(?:\s|$)|[-+](?:\s|$)|>|=+\s*$|[-|:][-|:\s]*$)|(?<=^)(\d{1,9})(?=[.)](?:\s|$))",
    re.MULTILINE,
)


def _escaped(text: str) -> str:
    """*text* with a backslash before all that Markdown would take for a mark."""
    return _SPECIAL.sub(lambda found: f"\\{found[0]}", text)


def _inline(nodes: Sequence[_Node]) -> str:
    """*nodes* as lines of Markdown; what is a block elsewhere stands between spaces here."""
    line = _Line([])
    line.add_all(nodes, emphasized=False)
    lines = (each.strip() for each in line.written().split("\n"))
    return "\n".join(lines).strip().replace("\n", _LINE_BREAK)


@dataclass(frozen=True, slots=True)
class _Marked:
    """Text between two marks; *plain* is the same without, *is_code* if no mark in it counts."""

    mark: str
    text: str
    plain: str
    is_code: bool = False

    def can_be_marked(self, before: str, after: str) -> bool:
        """Whether a parser would take the marks for such, by CommonMark's rules of flanking."""
        return self.is_code or all(
            not _is_punctuation(inner) or not outer or outer.isspace() or _is_punctuation(outer)
            for inner, outer in ((self.text[0], before), (self.text[-1], after))
        )


@dataclass(slots=True)
class _Line:
    """Inline Markdown in the making; whether emphasis can be marked depends on what follows."""

    parts: list[str | _Marked]

    def add_all(self, nodes: Iterable[_Node], *, emphasized: bool) -> None:
        for node in nodes:
            if isinstance(node, str):
                self._add(_escaped(_BLANKS.sub(" ", node)))
            else:
                self._add_element(node, emphasized=emphasized)

    def _add_element(self, element: _Element, *, emphasized: bool) -> None:
        name = element.name
        if name == "br":
            self._add("\n")
        elif name == "img":
            self._add(_picture(element))
        elif name in _CODE:
            self._add_code(element.text)
        elif name == "a":
            self._add_link(element, emphasized=emphasized)
        elif name in _MARKS and not emphasized:
            self._add_emphasis(_MARKS[name], element)
        else:
            gap = " " if name in BLOCK_TAGS else ""
            self._add(gap)
            self.add_all(element.children, emphasized=emphasized)
            self._add(gap)

    def _add(self, text: str) -> None:
        if text:
            self.parts.append(text)

    def _add_emphasis(self, mark: str, element: _Element) -> None:
        """Each line of the element, without the white space around it, which is no emphasis."""
        inside = _Line([])
        inside.add_all(element.children, emphasized=True)
        lines = zip(inside.written().split("\n"), inside.plain().split("\n"), strict=True)
        for number, (line, plain) in enumerate(lines):
            if number:
                self.parts.append("\n")
            text = line.strip()
            self._add(" " * line[:1].isspace())
            if text:
                self.parts.append(_Marked(mark, text, plain.strip()))
                self._add(" " * line[-1].isspace())

    def _add_link(self, element: _Element, *, emphasized: bool) -> None:
        inside = _Line([])
        inside.add_all(element.children, emphasized=emphasized)
        written = inside.written()
        text, address = " ".join(written.split()), element.attributes.get("href", "")
        if not text or not address:
            self.parts += inside.parts
            return
        self._add(" " * written[0].isspace())
        self._add(f"[{text}]({_address(address)})")
        self._add(" " * written[-1].isspace())

    def _add_code(self, content: str) -> None:
        text = " ".join(content.split())
        if not text:
            self._add(content[:1] and " ")
            return
        fence = "`" * (_longest_run_of_backticks(text) + 1)
        gap = " " if "`" in (text[0], text[-1]) else ""
        self._add(" " * content[0].isspace())
        self.parts.append(_Marked(fence, f"{gap}{text}{gap}", _escaped(text), is_code=True))
        self._add(" " * content[-1].isspace())

    def plain(self) -> str:
        return _concatenated(part if isinstance(part, str) else part.plain for part in self.parts)

    def written(self) -> str:
        """All parts, marked where they can be; of two that touch only the first is."""
        written: list[str] = []
        before, was_marked = "", False
        for part, following in zip_longest(self.parts, self.parts[1:], fillvalue=""):
            if isinstance(part, str):
                text, was_marked = part, False
            else:
                after = following if isinstance(following, str) else following.plain
                was_marked = not was_marked and part.can_be_marked(before, after[:1])
                text = f"{part.mark}{part.text}{part.mark}" if was_marked else part.plain
            written.append(text)
            before = text[-1]
        return _concatenated(written)


def _concatenated(parts: Iterable[str]) -> str:
    """All *parts*; an exclamation mark before a link would make a picture of it."""
    found: list[str] = []
    for part in parts:
        if part.startswith("[") and found and found[-1].endswith("!"):
            found[-1] = f"{found[-1][:-1]}\\!"
        found.append(part)
    return "".join(found)


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


def _picture(element: _Element) -> str:
    """A picture with an address; those that are in the page itself would fill the text."""
    address = element.attributes.get("src", "")
    if not address or address.startswith("data:"):
        return ""
    text = " ".join(_escaped(element.attributes.get("alt", "")).split())
    return f"![{text}]({_address(address)})"


def _longest_run_of_backticks(text: str) -> int:
    """How many backticks follow one another at most."""
    return max(map(len, _BACKTICKS.findall(text)), default=0)


def _address(address: str) -> str:
    """*address* as browsers understand it: without white space around it, and on one line."""
    address = _LINE_ENDS.sub("", address.strip())
    return _NOT_IN_ADDRESSES.sub(lambda found: quote(found[0], safe=""), address)


# --- blocks ---------------------------------------------------------------------------------------

_RULE = "___"  # the one of three that no list's mark can be taken for a part of
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_ROW_GROUPS = frozenset({"thead", "tbody", "tfoot"})
_MAX_DIGITS = 9  # of an item's number
_LARGEST_NUMBER = 10**_MAX_DIGITS - 1
_WIDEST_CELL = 20  # columns: a page may say that a cell has a million


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A finished block."""

    text: str
    inline: str = ""  # a paragraph without what keeps its lines from beginning another block


@dataclass(frozen=True, slots=True)
class _Listing:
    """A list whose marks are chosen when it is known what stands before it."""

    items: list[list[_Block]]
    first: int | None  # the number of the first item; None for bullets

    def written(self, *, other_mark: bool) -> str:
        """The list; with *other_mark* it is not continued from a list before it."""
        separator = "\n" if all(map(_is_tight, self.items)) else "\n\n"
        marks: Iterator[str] = repeat("* " if other_mark else "- ")
        if self.first is not None:
            marks = (f"{number}{')' if other_mark else '.'} " for number in count(self.first))
        items = (_joined(item, separator) for item in self.items)
        return separator.join(map(_indented, items, marks))


_Block: TypeAlias = "_Leaf | _Listing"


def _is_tight(item: list[_Block]) -> bool:
    """Whether *item* is read the same without empty lines between its blocks.

    A line of text after a list would belong to the list, and only a list that begins with 1
    interrupts a text.
    """
    if len(item) < 2:  # noqa: PLR2004
        return True
    _, below, *others = item
    return not others and isinstance(below, _Listing) and below.first in (None, 1)


def _joined(found: Sequence[_Block], separator: str = "\n\n") -> str:
    """Blocks one below the other; two lists of a kind get different marks."""
    written: list[str] = []
    kind_before, other_mark = "", False
    for block in found:
        kind = ""
        if isinstance(block, _Listing):
            kind = "ul" if block.first is None else "ol"
            other_mark = kind == kind_before and not other_mark
            written.append(block.written(other_mark=other_mark))
        else:
            written.append(block.text)
        kind_before = kind
    return separator.join(written)


def _indented(text: str, mark: str) -> str:
    lines = text.split("\n")
    margin = " " * len(mark)
    return "\n".join((mark + lines[0], *(margin + line if line else "" for line in lines[1:])))


def _blocks(element: _Element) -> list[_Block]:
    found: list[_Block] = []
    run: list[_Node] = []
    for child in element.children:
        if isinstance(child, str) or not child.has_block:
            run.append(child)
            continue
        found += _paragraphs(run)
        run = []
        found += _WRITERS.get(child.name, _blocks)(child)
    return found + _paragraphs(run)


def _paragraphs(run: Sequence[_Node]) -> list[_Block]:
    """Inline content, which two line breaks divide."""
    if not run:
        return []
    by_emptiness = groupby(_inline(run).split(_LINE_BREAK), bool)
    texts = (_LINE_BREAK.join(lines) for is_text, lines in by_emptiness if is_text)
    # With a backslash where a line would begin another kind of block.
    return [_Leaf(_LINE_START.sub(lambda found: f"{found[1] or ''}\\", t), t) for t in texts]


def _heading(element: _Element) -> list[_Block]:
    text = " ".join(_inline(element.children).split())
    if not text:
        return []
    words = text.rstrip("#")
    if words != text:  # it would be taken for the closing mark of the heading
        text = f"{words}\\{text[len(words) :]}"
    return [_Leaf(f"{'#' * _HEADINGS[element.name]} {text}")]


def _quotation(element: _Element) -> list[_Block]:
    text = _joined(_blocks(element))
    lines = (f"> {line}" if line else ">" for line in text.split("\n"))
    return [_Leaf("\n".join(lines))] if text else []


def _preformatted(element: _Element) -> list[_Block]:
    text = element.text.strip("\n")
    if not text.strip():
        return []
    fence = "`" * max(3, _longest_run_of_backticks(text) + 1)
    return [_Leaf(f"{fence}\n{text}\n{fence}")]


def _list(element: _Element) -> list[_Block]:
    """A list, or numbered paragraphs where Markdown would count otherwise than the page does.

    What is in a list and not in an item, text or another list, belongs to the item before it.
    """
    outside: list[_Block] = []
    items: list[list[_Block]] = []
    for is_item, children in groupby(
        element.children, lambda node: isinstance(node, _Element) and node.name == "li"
    ):
        if is_item:
            items += [_blocks(child) for child in children if isinstance(child, _Element)]
        else:
            (items[-1] if items else outside).extend(_blocks(_Element("li", {}, list(children))))
    numbers = _numbers(element) if element.name == "ol" else [None] * len(items)
    shown = [(item, number) for item, number in zip(items, numbers, strict=True) if item]
    return outside + _listed([item for item, _ in shown], [number for _, number in shown])


def _listed(items: list[list[_Block]], numbers: list[int | None]) -> list[_Block]:
    if not items or numbers[0] is None:
        return [_Listing(items, None)] if items else []
    in_order = list(range(numbers[0], numbers[0] + len(items)))
    if numbers == in_order and numbers[0] >= 0 and in_order[-1] <= _LARGEST_NUMBER:
        return [_Listing(items, numbers[0])]
    return [
        block
        for item, number in zip(items, numbers, strict=True)
        for block in (_Leaf(f"{number}\\."), *item)
    ]


def _numbers(element: _Element) -> list[int | None]:
    """The numbers that a browser gives to the items of an ordered list."""
    items = _children(element, "li")
    step = -1 if "reversed" in element.attributes else 1
    number = _number(element.attributes.get("start"), len(items) if step < 0 else 1)
    numbers: list[int | None] = []
    for item in items:
        number = _number(item.attributes.get("value"), number)
        numbers.append(number)
        number += step
    return numbers


def _number(value: str | None, otherwise: int) -> int:
    is_number = value is not None and value.isascii() and value.isdecimal()
    return int(value) if value and is_number and len(value) <= _MAX_DIGITS else otherwise


def _table(element: _Element) -> list[_Block]:
    """A table, or what is in its cells one after the other where they hold more than a line."""
    above = [block for caption in _children(element, "caption") for block in _blocks(caption)]
    rows = list(_rows(element))
    contents = [[_blocks(cell) for cell in row] for row in rows]
    width = max((sum(map(_span, row)) for row in rows), default=0)
    is_data = width > 1 and all(_is_line(cell) for row in contents for cell in row)
    if not is_data:
        return above + [block for row in contents for cell in row for block in cell]
    lines = [_line(*each) for each in zip(rows, contents, strict=True)]
    if not any(map(any, lines)):
        return above
    # Markdown has no table without a head: the first row is it, as most readers would take it.
    head, *body = lines
    table = [head + [""] * (width - len(head)), ["---"] * width, *body]
    return [*above, _Leaf("\n".join(f"| {' | '.join(line)} |" for line in table))]


def _children(element: _Element, name: str = "") -> list[_Element]:
    elements = (each for each in element.children if isinstance(each, _Element))
    return [each for each in elements if name in ("", each.name)]


def _rows(element: _Element) -> Iterator[list[_Element]]:
    for child in _children(element):
        if child.name in _ROW_GROUPS:
            yield from _rows(child)
        elif child.name == "tr" and (cells := _children(child)):
            yield cells


def _line(row: list[_Element], contents: list[list[_Block]]) -> list[str]:
    """The cells of a *row*, whose *contents* are a paragraph each, or nothing."""
    cells: list[str] = []
    for cell, blocks_of_cell in zip(row, contents, strict=True):
        text = " ".join(block.inline for block in blocks_of_cell if isinstance(block, _Leaf))
        cells.append(" ".join(text.split()).replace("|", "\\|"))
        cells += [""] * (_span(cell) - 1)
    return cells


def _span(cell: _Element) -> int:
    return min(max(_number(cell.attributes.get("colspan"), 1), 1), _WIDEST_CELL)


def _is_line(cell: list[_Block]) -> bool:
    return not cell or (len(cell) == 1 and isinstance(cell[0], _Leaf) and bool(cell[0].inline))


_WRITERS: dict[str, Callable[[_Element], list[_Block]]] = {
    **dict.fromkeys(_HEADINGS, _heading),
    **dict.fromkeys(("ul", "ol"), _list),
    "blockquote": _quotation,
    "pre": _preformatted,
    "hr": lambda _: [_Leaf(_RULE)],
    "table": _table,
}
