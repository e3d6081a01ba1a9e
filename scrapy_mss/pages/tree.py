"""The elements of a page, found among its tokens without another parse.

Strategy: the tags among the tokens are rows of a few arrays, and an element is the row of its
opening tag. Objects are made of those elements alone that a lookup asks for; they have the names
and habits of lxml's. What stands between two tags is a slice of the source. An element has a
content if a closing tag says where it ends; all that follows a tag that is never closed belongs to
the element around it.

Whatever a page nests in what, the visits to its text are paid from one budget, and the text of an
element is kept, since several lookups ask for the same one. When the budget is spent, the rest of
the page is as if it had no text: the time has a bound, and the same page always gives the same.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Iterator, Mapping
from itertools import islice, takewhile
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from scrapy_mss.markup.attributes import (
    TagPlaces,
    Values,
    attribute_values,
    attributes_of_tag,
    rows_with,
)
from scrapy_mss.markup.compiled import accelerated
from scrapy_mss.markup.lazy import lazy
from scrapy_mss.markup.rendering import decode_all
from scrapy_mss.markup.tags import RAW_TEXT_TAGS, TAG_NAMES, TAG_NUMBERS, UNKNOWN_TAG, VOID_TAGS
from scrapy_mss.markup.tokenizer import nearest
from scrapy_mss.markup.tokens import OPEN, Bools, Indices, Ints, Tokens, tag_table
from scrapy_mss.pages.text import MAX_TEXT, clean

# Elements whose text browsers do not display, and elements that start a new line.
HIDDEN: Final = frozenset({"script", "style", "noscript", "template", "svg"})
_WITHOUT_TEXT: Final = HIDDEN | VOID_TAGS
BREAKS: Final = frozenset("address br dd div dt h1 h2 h3 h4 li p section td th tr".split())

JSON_LD: Final = "ld+json"  # in the type of a script

MAX_LEVELS: Final = 1_000  # of elements in one another that are looked at
LEVELS_ABOVE: Final = 4  # the heading and its ancestors whose preceding siblings are read
MAX_SIBLINGS: Final = 3  # that precede each of them

# A run of text, and where it is: the row that it stands behind, for `PageTree.around_texts`.
Fragment: TypeAlias = tuple[str, int]

# Visits to nodes: of 2,526 pages of news sites and others 26 would take more (6,808 at most), and
# for one of them, the list of a category, the date in its footer is then not reached.
MAX_VISITS: Final = 3_000
CHARACTERS_PER_VISIT: Final = 256  # copying and cleaning so many cost as much as a visit

Rows: TypeAlias = "array[int]"  # int32

TAG_NAME: Final = re.compile(r"</?([^\s/>]*)")
IS_RAW: Final = tag_table(RAW_TEXT_TAGS - HIDDEN)
# What is no text between two tags.
_MARKS: Final = re.compile(r"<!--.*?(?:-->|\Z)|<[!?/][^>]*(?:>|\Z)", re.DOTALL)
MAX_MARKS: Final = 2**12  # in one text: more than the visits that a page is given
_NO_TEXT, _LINE = 1, 2  # what a tag does to the text around it
_EFFECTS: Final = bytes(
    _NO_TEXT if name in HIDDEN else _LINE if name in BREAKS else 0 for name in TAG_NAMES
).ljust(256, b"\0")


class Element(NamedTuple):
    """The element whose opening tag is in *row* of *tree*; that around all has the row -1.

    The tree keeps none of them, but what was read of them: in a cycle, all of a page would wait
    for the collection of garbage.
    """

    tree: PageTree
    row: int
    tag: str

    @property
    def attrib(self) -> Mapping[str, str]:
        return self.tree.attributes_in(self.row)

    def get(self, key: str, /) -> str | None:
        return self.attrib.get(key)

    @property
    def has_end(self) -> bool:
        """Whether a closing tag says where it ends."""
        return self.tree.is_closed(self.row)

    @property
    def text(self) -> str:
        """The text that it displays, on one line."""
        return self.tree.text_of(self)

    def iterancestors(self) -> Iterator[Element]:
        return self.tree.around(self.row)

    def iterdescendants(self) -> Iterator[Element]:
        return self.tree.inside(self.row)


class TagRows(NamedTuple):
    """The tags of a page but for those in raw text, such as a title, a row each; -1 means none."""

    number: bytes | bytearray  # uint8[n]: of its name
    opens: bytes | bytearray  # bool[n]
    token: Rows  # its place among the tokens
    start: Rows  # where it begins in the source
    end: Rows
    partner: Rows
    parent: Rows  # the element around it; a closing tag is inside its own
    opening: Rows  # the rows of the opening tags
    by_name: Rows  # the same, in the order of the numbers of their names
    first: Rows  # int32[257]: where those of each number begin there


@accelerated()
def tag_rows(tokens: Tokens, is_raw: bytes) -> TagRows:
    """The tags among *tokens*; what the tags whose numbers are *is_raw* begin is raw text."""
    at = (tokens.is_tag & ~_is_in_raw_text(tokens, is_raw)).nonzero()[0]
    row_of = np.full(len(tokens) + 1, -1, np.int32)  # the last is that of no token
    row_of[at] = np.arange(len(at), dtype=np.int32)
    number, opens = tokens.tag.take(at), tokens.kind.take(at) == OPEN
    partner = row_of.take(tokens.partner.take(at))
    before = np.full(len(at), -1, np.int32)  # the tag that is unclosed before each
    before[1:] = row_of.take(tokens.unclosed.take(at[:-1]))
    opening = opens.nonzero()[0]
    numbers = number.take(opening)
    return TagRows(
        number.tobytes(),
        opens.tobytes(),
        _rows(at),
        _rows(tokens.start.take(at)),
        _rows(tokens.end.take(at)),
        _rows(partner),
        _rows(nearest(before, opens & (partner >= 0))),
        _rows(opening),
        _rows(opening[numbers.argsort(kind="stable")]),
        _rows(np.searchsorted(np.sort(numbers), np.arange(257))),
    )


@accelerated()
def text_runs(
    source: str, rows: TagRows, effects: bytes, bounds: tuple[int, int, int]
) -> Iterator[tuple[str, int, bool, int]]:
    """What is displayed between tags, but for white space alone; the last is empty.

    With each text come the row that it stands behind, whether a line begins or white space is
    between it and the one before, and what the visits since that cost. The *bounds* are the first
    row, the one that it ends at, and what a text may cost. The *effects* are those of tags, by
    their numbers.
    """
    row, stop, most = bounds
    spaced, cost = False, 0
    while row < stop and cost <= most:
        start, end = rows.end[row] if row >= 0 else 0, rows.start[row + 1]
        cost += 1 + (end - start) // CHARACTERS_PER_VISIT
        text = source[start:end]
        if text and not text.isspace():
            yield text, row, spaced, cost
            spaced, cost = False, 0
        row += 1
        effect = effects[rows.number[row]] if row < stop else 0
        spaced = spaced or text.isspace() or effect == _LINE
        if effect == _NO_TEXT and rows.partner[row] > row:
            row = min(rows.partner[row], stop)
    yield "", row, spaced, cost


def _rows(values: Ints | Indices) -> Rows:
    return array("i", values.astype(np.int32, copy=False).tobytes())


def _is_in_raw_text(tokens: Tokens, is_raw: bytes) -> Bools:
    inside = np.zeros(len(tokens), np.bool_)
    end = 0
    begins = np.frombuffer(tokens.tag.tobytes().translate(is_raw), np.bool_)
    for start in (begins & (tokens.kind == OPEN)).nonzero()[0].tolist():
        if start >= end:
            end = max(int(tokens.partner[start]), start + 1)
            inside[start + 1 : end] = True
    return inside


class PageTree:
    """The elements among *tokens*, by the rows of their opening tags."""

    def __init__(self, tokens: Tokens, visits: int = MAX_VISITS) -> None:
        self.tokens = tokens
        self.visits = visits  # that are left to pay for
        self._source = tokens.source
        self._attributes: dict[int, Mapping[str, str]] = {}
        self._texts: dict[int, str] = {}
        self._rows = rows = TagRows(*tag_rows(tokens, IS_RAW))
        self._n = len(rows.number)
        self._number, self._opens, self._tokens, self._start, self._end, self._partner = rows[:6]
        self._parents, self._opening, self._by_name, self._first_of = rows[6:]
        self._tokens.append(len(tokens))
        self._start.append(len(tokens.source))  # of what is behind the last

    def pay(self, n_characters: int = 0) -> bool:
        """Pay for a visit to a node, and for its text; False if nothing is left to pay."""
        self.visits -= 1 + n_characters // CHARACTERS_PER_VISIT
        return self.visits >= 0

    # --- rows -------------------------------------------------------------------------------------

    def attributes_in(self, row: int) -> Mapping[str, str]:
        known = self._attributes.get(row) if row >= 0 else {}
        if known is None:
            known = attributes_of_tag(self._source, self._start[row], self._end[row])
            self._attributes[row] = known
        return known

    def is_closed(self, row: int) -> bool:
        return self._partner[row] > row

    def tag_of(self, element: Element) -> str:
        """An opening tag in lower case: a look at it is cheaper than to read its attributes."""
        return self._source[self._start[element.row] : self._end[element.row]].lower()

    def element(self, row: int) -> Element:
        number = self._number[row] if row >= 0 else UNKNOWN_TAG
        if number != UNKNOWN_TAG:  # `Element(...)` would take twice as long
            return tuple.__new__(Element, (self, row, TAG_NAMES[number]))
        found = TAG_NAME.match(self._source, self._start[row]) if row >= 0 else None
        return Element(self, row, found[1].lower() if found else "")

    def around(self, row: int) -> Iterator[Element]:
        while row >= 0:
            row = self._parents[row]
            yield self.element(row)

    def rows_around(self, row: int, names: frozenset[str], most: int) -> list[int]:
        """The rows of the innermost elements around one whose names are known and among *names*."""
        numbers, parents, is_named = self._number, self._parents, tag_table(names)
        rows = list[int]()
        for _ in range(MAX_LEVELS):
            row = parents[row]
            if row < 0:
                break
            rows.append(row)
        return [row for row in rows if is_named[numbers[row]]][:most]

    def inside_of(self, first: int, last: int, rows: list[int]) -> list[int]:
        """Of *rows* of elements around one, those that are between two tokens: the innermost."""
        tokens, partners = self._tokens, self._partner
        for n, row in enumerate(rows):
            if tokens[row] <= first or tokens[partners[row]] > last:
                return rows[:n]
        return rows

    def among(self, rows: Iterable[int], names: frozenset[str]) -> list[Element]:
        """The elements in those *rows* whose names are known and among *names*."""
        numbers, is_named = self._number, tag_table(names)
        return [self.element(row) for row in rows if is_named[numbers[row]]]

    def inside(self, row: int) -> Iterator[Element]:
        stop = self._partner[row]
        return takewhile(lambda each: each.row < stop, self.after(row))

    def after(self, row: int) -> Iterator[Element]:
        """The elements that begin after a tag."""
        rows = self._opening
        return (self.element(rows[n]) for n in range(bisect_right(rows, row), len(rows)))

    def within(self, element: Element, name: str, most: int) -> list[Element]:
        """The first elements called *name* in *element*."""
        number, rows = TAG_NUMBERS[name], self._by_name
        first, stop = self._first_of[number], self._first_of[number + 1]
        first = bisect_right(rows, element.row, first, stop)
        stop = bisect_left(rows, self._last(element.row), first, stop)
        return list(map(self.element, rows[first : min(stop, first + most)]))

    def beginning(self, names: frozenset[str], first: int, stop: int) -> Iterator[Element]:
        """The elements with one of *names* whose opening tags are from token *first* to *stop*."""
        begin, end = bisect_left(self._tokens, first), bisect_left(self._tokens, stop)
        is_named = self._number[begin:end].translate(tag_table(names))
        at = is_named.find(1)
        while at >= 0:
            if self._opens[begin + at]:
                yield self.element(begin + at)
            at = is_named.find(1, at + 1)

    # --- elements ---------------------------------------------------------------------------------

    def find(self, tags: frozenset[str], most: int) -> Iterator[Element]:
        rows = sorted(row for name in tags for row in self._rows_of(name)[:most])
        return map(self.element, rows)

    def called(self, tag: str, most: int) -> list[Element]:
        return list(map(self.element, self._rows_of(tag)[:most]))

    def values(self, tag: str, names: tuple[str, ...], most: int) -> list[Values]:
        return self._values_in(self._rows_of(tag)[:most], names)

    def _values_in(self, rows: Rows, names: tuple[str, ...]) -> list[Values]:
        if not rows:
            return []
        return attribute_values(names, self._source, TagPlaces(rows, self._start, self._end))

    def link_values(self, relation: str, names: tuple[str, ...], most: int) -> list[Values]:
        """The values of those of the first `<link>` tags that hold *relation*."""
        return self._values_in(self._holding(relation, self._rows_of("link")[:most]), names)

    def scripts(self, most: int, *, json_ld: bool) -> Iterator[str]:
        rows = self._rows_of("script")[:most]
        rows = self._holding("json", rows) if json_ld else rows
        return (
            self._source[self._end[row] : self._start[row + 1]]
            for row, (kind,) in zip(rows, self._values_in(rows, ("type",)), strict=True)
            if is_json_ld(kind) == json_ld
        )

    def _rows_of(self, name: str) -> Rows:
        """The rows of the opening tags called *name*."""
        number = TAG_NUMBERS[name]
        return self._by_name[self._first_of[number] : self._first_of[number + 1]]

    def having(self, name: str, rows: Rows | None = None) -> Iterator[tuple[int, str]]:
        """The rows of elements with an attribute called *name*, and its values.

        They are among those in *rows*, or all.
        """
        rows = self._holding(name, self._opening if rows is None else rows)
        values = zip(rows, self._values_in(rows, (name,)), strict=True)
        return ((row, value) for row, (value,) in values if value is not None)

    def rows_above(self, rows: Iterable[int]) -> Rows:
        """The rows of all elements around those in *rows*."""
        above = set[int]()
        for row in rows:
            row = self._parents[row]  # noqa: PLW2901 - upwards
            while row >= 0 and row not in above:
                above.add(row)
                row = self._parents[row]  # noqa: PLW2901
        return array("i", above)

    def nearest(self, row: int, rows: Container[int]) -> int:
        """The innermost element around one that is among *rows*; -1 if none is."""
        for _ in range(MAX_LEVELS):
            row = self._parents[row]
            if row < 0 or row in rows:
                break
        return row if row in rows else -1

    def related_links(self, relation: str, most: int) -> list[Element]:
        rows = (row for row, relations in self._relations if relation in relations)
        return list(map(self.element, islice(rows, most)))

    @lazy
    def _relations(self) -> list[tuple[int, str]]:
        """The relations of links: few have one, and they are asked for several times."""
        return list(self.having("rel", self._rows_of("a")))

    def named(self, name: str, most: int) -> Iterator[Element]:
        """The elements of a class or with an identifier."""
        elements = map(self.element, self._holding(name, self._opening))
        named = (
            each
            for each in elements
            if name == each.get("id") or name in (each.get("class") or "").split()
        )
        return islice(named, most)

    def tokens_in(self, element: Element) -> tuple[int, int]:
        """The token that *element* begins with, and the one that its content ends before."""
        return self._tokens[element.row], self._tokens[self._last(element.row)]

    def _holding(self, name: str, rows: Rows) -> Rows:
        """Those of *rows* whose tags hold *name*, in any case."""
        return rows_with(name, self._source, TagPlaces(rows, self._start, self._end))

    # --- text -------------------------------------------------------------------------------------

    def text_of(self, element: Element) -> str:
        known = self._texts.get(element.row)
        if known is None:
            known = self._texts[element.row] = clean(self._read_in(element))
        return known

    def _read_in(self, element: Element) -> str:
        if self._partner[element.row] == element.row + 1 and element.tag not in _WITHOUT_TEXT:
            # Without a tag in it, as most titles and names.
            text = self._source[self._end[element.row] : self._start[element.row + 1]]
            if "<" not in text:
                return decode_all(text) if self.pay(len(text)) else ""
        parts, size = list[str](), 0
        for text, _ in self.fragments(element):
            parts.append(text)
            size += len(text)
            if size > MAX_TEXT:
                break
        return "".join(parts)

    def fragments(self, element: Element) -> Iterator[Fragment]:
        if element.tag in _WITHOUT_TEXT:
            return iter(())
        return self._walk(element.row, self._last(element.row))

    def fragments_after(self, element: Element | None) -> Iterator[Fragment]:
        """The text behind *element*, or all of the page."""
        if element is not None:
            return self._walk(self._last(element.row), self._n)
        for name, opens in (("body", True), ("head", False), ("title", False)):
            row = self._first(name, opens=opens)
            if row >= 0:
                return self._walk(row, self._n)
        return self._walk(-1, self._n)

    def _first(self, name: str, *, opens: bool) -> int:
        """The row of the first tag called *name* that opens or closes; -1 if there is none."""
        row = self._number.find(TAG_NUMBERS[name])
        while row >= 0 and self._opens[row] != opens:
            row = self._number.find(TAG_NUMBERS[name], row + 1)
        return row

    def _last(self, row: int) -> int:
        """The row that the content of an element ends at: the next one if no tag closes it."""
        return max(self._partner[row], row + 1)

    def _walk(self, row: int, stop: int) -> Iterator[Fragment]:
        runs = text_runs(self._source, self._rows, _EFFECTS, (row, stop, self.visits))
        for text, at, spaced, cost in runs:
            self.visits -= cost
            if self.visits < 0 or not text:
                return
            if "<" not in text:
                line = f" {text}" if spaced else text
                yield decode_all(line) if "&" in line else line, at
                continue
            for number, each in enumerate(_MARKS.split(text, MAX_MARKS)):
                if number and not self.pay():
                    return
                yield (" " if spaced and not number else "") + decode_all(each), at

    def around_texts(
        self, rows: Iterable[int], levels: int, signs: Iterable[str], links: re.Pattern[str]
    ) -> Iterator[Element]:
        """Of the elements that display what stands behind the tags in *rows*, those with a sign.

        That is one of *signs* in their opening tags, or in those of links what *links* finds. Of
        each text, so many *levels* of elements are looked at, the innermost first.
        """
        around = dict[int, None]()
        for row in map(self._displaying, rows):
            for _ in range(levels):
                if row < 0:
                    break
                around[row] = None
                row = self._parents[row]  # noqa: PLW2901 - upwards
        looked_at, number = array("i", around), TAG_NUMBERS["a"]
        signed = {row for sign in signs for row in self._holding(sign, looked_at)}
        for row in around:
            if row in signed or (
                self._number[row] == number
                and links.search(self._source, self._start[row], self._end[row])
            ):
                yield self.element(row)

    def _displaying(self, row: int) -> int:
        """The element that displays what stands behind the tag in *row*; -1 if there is none."""
        partner = self._partner[row] if row >= 0 else row
        if partner > row or row < 0:
            return row
        return self._parents[row if partner < 0 else partner]

    def above(self, element: Element) -> Iterator[Element]:
        row = element.row
        for _ in range(LEVELS_ABOVE):
            yield from islice(self._before(row), MAX_SIBLINGS)
            row = self._parents[row]
            if row < 0:
                return

    def _before(self, row: int) -> Iterator[Element]:
        """The elements in front of *row* in the same element, the nearest first."""
        row -= 1
        while row >= 0 and not (self._opens[row] and self._partner[row] >= 0):
            partner = self._partner[row]
            row = partner if partner >= 0 else row
            if self._opens[row]:
                yield self.element(row)
            row -= 1


def is_json_ld(kind: str | None) -> bool:
    """Whether a script with *kind* for its type is JSON-LD."""
    return kind is not None and JSON_LD in kind.lower()
