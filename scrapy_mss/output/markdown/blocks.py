"""Paragraphs, headings, lists, tables, quotations and preformatted text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TypeAlias

from scrapy_mss.output.markdown.inline import (
    LINE_BREAK,
    guarded,
    inline,
    longest_run_of_backticks,
    on_one_line,
)
from scrapy_mss.output.markdown.tree import Element, Node

_RULE = "___"  # the one of three that no list's mark can be taken for a part of
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_ROW_GROUPS = frozenset({"thead", "tbody", "tfoot"})
_MOST_DIGITS = 9  # of an item's number
LARGEST_NUMBER = 10**_MOST_DIGITS - 1
_WIDEST_CELL = 20  # columns: a page may say that a cell has a million


@dataclass(frozen=True, slots=True)
class Leaf:
    """A finished block."""

    text: str
    is_paragraph: bool = False
    inline: str = ""  # a paragraph without what keeps its lines from beginning another block


@dataclass(frozen=True, slots=True)
class Listing:
    """A list whose marks are chosen when it is known what stands before it."""

    items: list[list[Block]]
    first: int | None  # the number of the first item; None for bullets

    def written(self, *, other_mark: bool) -> str:
        """The list; with *other_mark* it is not continued from a list before it."""
        is_tight = all(map(_is_tight, self.items))
        return ("\n" if is_tight else "\n\n").join(
            _indented(joined(item, "\n" if is_tight else "\n\n"), mark)
            for item, mark in zip(self.items, self._marks(other_mark=other_mark), strict=True)
        )

    def _marks(self, *, other_mark: bool) -> Iterator[str]:
        for offset in range(len(self.items)):
            if self.first is None:
                yield "* " if other_mark else "- "
            else:
                yield f"{self.first + offset}{')' if other_mark else '.'} "


Block: TypeAlias = "Leaf | Listing"


def _is_tight(item: list[Block]) -> bool:
    """Whether *item* is read the same without empty lines between its blocks.

    A line of text after a list would belong to the list, and only a list that begins with 1
    interrupts a text.
    """
    if len(item) < 2:  # noqa: PLR2004
        return True
    _, below, *others = item
    return not others and isinstance(below, Listing) and below.first in (None, 1)


def joined(found: Sequence[Block], separator: str = "\n\n") -> str:
    """Blocks one below the other; two lists of a kind get different marks."""
    written: list[str] = []
    other_mark = False
    for before, block in pairwise([None, *found]):
        if isinstance(block, Listing):
            continues = isinstance(before, Listing) and _is_same_kind(before, block)
            other_mark = continues and not other_mark
            written.append(block.written(other_mark=other_mark))
        elif block is not None:
            written.append(block.text)
    return separator.join(written)


def _is_same_kind(one: Listing, other: Listing) -> bool:
    return (one.first is None) == (other.first is None)


def _indented(text: str, mark: str) -> str:
    lines = text.split("\n")
    margin = " " * len(mark)
    return "\n".join((mark + lines[0], *(margin + line if line else "" for line in lines[1:])))


def blocks(element: Element) -> list[Block]:
    """The blocks in *element*, in its order."""
    found: list[Block] = []
    run: list[Node] = []
    for child in element.children:
        if isinstance(child, str) or not child.has_block:
            run.append(child)
            continue
        found += _paragraphs(run)
        run = []
        found += _WRITERS.get(child.name, blocks)(child)
    return found + _paragraphs(run)


def _paragraphs(run: Sequence[Node]) -> list[Block]:
    """Inline content, which two line breaks divide."""
    if not run:
        return []
    by_emptiness = groupby(inline(run).split(LINE_BREAK), bool)
    texts = (LINE_BREAK.join(lines) for is_text, lines in by_emptiness if is_text)
    return [Leaf(guarded(text), is_paragraph=True, inline=text) for text in texts]


def _heading(element: Element) -> list[Block]:
    text = on_one_line(element.children)
    if not text:
        return []
    words = text.rstrip("#")
    if words != text:  # it would be taken for the closing mark of the heading
        text = f"{words}\\{text[len(words) :]}"
    return [Leaf(f"{'#' * _HEADINGS[element.name]} {text}")]


def _quotation(element: Element) -> list[Block]:
    text = joined(blocks(element))
    lines = (f"> {line}" if line else ">" for line in text.split("\n"))
    return [Leaf("\n".join(lines))] if text else []


def _preformatted(element: Element) -> list[Block]:
    text = element.text.strip("\n")
    if not text.strip():
        return []
    fence = "`" * max(3, longest_run_of_backticks(text) + 1)
    return [Leaf(f"{fence}\n{text}\n{fence}")]


def _rule(_: Element) -> list[Block]:
    return [Leaf(_RULE)]


def _list(element: Element) -> list[Block]:
    """A list, or numbered paragraphs where Markdown would count otherwise than the page does.

    What is in a list and not in an item, text or another list, belongs to the item before it.
    """
    outside: list[Block] = []
    items: list[list[Block]] = []
    for is_item, children in groupby(element.children, _is_item):
        if is_item:
            items += [blocks(child) for child in children if isinstance(child, Element)]
        else:
            (items[-1] if items else outside).extend(blocks(Element("li", {}, list(children))))
    numbers = _numbers(element) if element.name == "ol" else [None] * len(items)
    shown = [(item, number) for item, number in zip(items, numbers, strict=True) if item]
    return outside + _listed([item for item, _ in shown], [number for _, number in shown])


def _is_item(node: Node) -> bool:
    return isinstance(node, Element) and node.name == "li"


def _listed(items: list[list[Block]], numbers: list[int | None]) -> list[Block]:
    if not items or numbers[0] is None:
        return [Listing(items, None)] if items else []
    in_order = list(range(numbers[0], numbers[0] + len(items)))
    if numbers == in_order and numbers[0] >= 0 and in_order[-1] <= LARGEST_NUMBER:
        return [Listing(items, numbers[0])]
    return [
        block
        for item, number in zip(items, numbers, strict=True)
        for block in (Leaf(f"{number}\\.", is_paragraph=True), *item)
    ]


def _numbers(element: Element) -> list[int | None]:
    """The numbers that a browser gives to the items of an ordered list."""
    items = list(_children(element, "li"))
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
    return int(value) if value and is_number and len(value) <= _MOST_DIGITS else otherwise


def _table(element: Element) -> list[Block]:
    """A table, or what is in its cells one after the other where they hold more than a line."""
    above = [block for caption in _children(element, "caption") for block in blocks(caption)]
    rows = list(_rows(element))
    contents = [[blocks(cell) for cell in row] for row in rows]
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
    return [*above, Leaf("\n".join(f"| {' | '.join(line)} |" for line in table))]


def _children(element: Element, name: str) -> Iterator[Element]:
    return (each for each in element.children if isinstance(each, Element) and each.name == name)


def _rows(element: Element) -> Iterator[list[Element]]:
    for child in element.children:
        if isinstance(child, str):
            continue
        if child.name in _ROW_GROUPS:
            yield from _rows(child)
        elif child.name == "tr":
            cells = [each for each in child.children if isinstance(each, Element)]
            if cells:
                yield cells


def _line(row: list[Element], contents: list[list[Block]]) -> list[str]:
    """The cells of a *row*, whose *contents* are a paragraph each, or nothing."""
    cells: list[str] = []
    for cell, blocks_of_cell in zip(row, contents, strict=True):
        text = " ".join(block.inline for block in blocks_of_cell if isinstance(block, Leaf))
        cells.append(" ".join(text.split()).replace("|", "\\|"))
        cells += [""] * (_span(cell) - 1)
    return cells


def _span(cell: Element) -> int:
    return min(max(_number(cell.attributes.get("colspan"), 1), 1), _WIDEST_CELL)


def _is_line(cell: list[Block]) -> bool:
    return not cell or (len(cell) == 1 and isinstance(cell[0], Leaf) and cell[0].is_paragraph)


_WRITERS: dict[str, Callable[[Element], list[Block]]] = {
    **dict.fromkeys(_HEADINGS, _heading),
    **dict.fromkeys(("ul", "ol"), _list),
    "blockquote": _quotation,
    "pre": _preformatted,
    "hr": _rule,
    "table": _table,
}
