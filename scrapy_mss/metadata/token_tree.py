"""The elements of a page whose tokens are at hand, without another parse.

Strategy: the tags among the tokens are rows of a few arrays, and an element is the row of its
opening tag. Objects are made of those elements alone that a lookup asks for. What stands between
two tags is a slice of the source. An element has a content if a closing tag says where it ends; all
that follows a tag that is never closed belongs to the element around it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple

import numpy as np

from scrapy_mss.blocks.lazy import lazy
from scrapy_mss.markup.attributes import attributes_of_tag, attributes_of_tags, tags_with
from scrapy_mss.markup.compiled import compiled_part
from scrapy_mss.markup.elements import LINK, Indices, is_one_of, nearest
from scrapy_mss.markup.references import decode_all
from scrapy_mss.markup.tags import RAW_TEXT_TAGS, TAG_NAMES, UNKNOWN_TAG, VOID_TAGS, tag_numbers
from scrapy_mss.markup.tokens import CLOSE, OPEN, Bools, Bytes, Ints, Tokens
from scrapy_mss.metadata.page_tree import (
    BREAKS,
    HIDDEN,
    LEVELS_ABOVE,
    MAX_SIBLINGS,
    CanVisit,
    Element,
    Fragment,
)

MAX_ROOTS: Final = 10  # `<html>` tags that are read: one for old browsers, one for others
HTML: Final = frozenset({"html"})
PROPERTY: Final = "itemprop"
TAG_NAME: Final = re.compile(r"</?([^\s/>]*)")
_RAW_TEXT: Final = RAW_TEXT_TAGS - HIDDEN
# What is no text between two tags.
_MARKS: Final = re.compile(r"<!--.*?(?:-->|\Z)|<[!?/][^>]*(?:>|\Z)", re.DOTALL)
_NO_TEXT, _LINE = 1, 2  # what a tag does to the text around it
_EFFECTS: Final = bytes(
    _NO_TEXT if name in HIDDEN else _LINE if name in BREAKS else 0 for name in TAG_NAMES
)


class TokenElement:
    """The element whose opening tag is in *row* of *tree*."""

    __slots__ = ("_attributes", "_tree", "row", "tag")

    def __init__(
        self, tree: TokenTree, row: int, tag: str, attributes: Mapping[str, str] | None
    ) -> None:
        self._tree = tree
        self._attributes = attributes  # None if they were not read yet
        self.row = row
        self.tag = tag

    @property
    def attrib(self) -> Mapping[str, str]:
        if self._attributes is None:
            self._attributes = self._tree.attributes_in(self.row)
        return self._attributes

    def get(self, key: str, /) -> str | None:
        return self.attrib.get(key)

    @property
    def text(self) -> str | None:
        return self._tree.source_after(self.row)

    def iterancestors(self) -> Iterator[TokenElement]:
        return self._tree.around(self.row)

    def iterdescendants(self, _: str, /) -> Iterator[TokenElement]:
        return self._tree.inside(self.row)


class _Tags(NamedTuple):
    """The tags of a page, one row each, and the row of each token; -1 stands for none."""

    token: Indices  # int[n]
    number: Bytes  # uint8[n]
    opens: Bools
    start: Ints  # int32[n]: where each begins in the source
    end: Ints
    partner: Ints  # int32[n]
    row_of: Ints  # int32[n_tokens + 1]; the last is that of no token

    @classmethod
    def of(cls, tokens: Tokens) -> _Tags:
        """All tags among *tokens*."""
        compiled = compiled_part()
        if compiled is None:
            return cls.among(tokens, np.less_equal(tokens.kind, CLOSE).nonzero()[0])
        token, number, opens, start, end, partner, row_of = compiled.arrays.tag_rows(
            (tokens.kind.tobytes(), tokens.tag.tobytes()),
            (tokens.start.tobytes(), tokens.end.tobytes(), tokens.partner.tobytes()),
        )
        return cls(
            token=np.asarray(token),
            number=np.frombuffer(number, np.uint8),
            opens=np.frombuffer(opens, np.bool_),
            start=np.asarray(start),
            end=np.asarray(end),
            partner=np.asarray(partner),
            row_of=np.asarray(row_of),
        )

    @classmethod
    def among(cls, tokens: Tokens, token: Indices) -> _Tags:
        """The tags that are at *token*."""
        row_of = np.full(len(tokens) + 1, -1, np.int32)
        row_of[token] = np.arange(len(token), dtype=np.int32)
        return cls(
            token=token,
            number=tokens.tag[token],
            opens=tokens.kind[token] == OPEN,
            start=tokens.start[token],
            end=tokens.end[token],
            partner=row_of[tokens.partner[token]],
            row_of=row_of,
        )


class TokenTree:
    """The elements among *tokens*."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._source = tokens.source
        self._elements: dict[int, TokenElement] = {}
        tags = _Tags.of(tokens)
        hidden = _rows_in_raw_text(tags)
        if hidden:
            tags = _Tags.among(tokens, np.delete(tags.token, hidden))
        self._tags = tags
        self._n = len(tags.token)
        self._number = tags.number.data
        self._opens = tags.opens.data
        self._partner = tags.partner.data
        self._start = tags.start.data
        self._end = tags.end.data

    # --- rows -------------------------------------------------------------------------------------

    @lazy
    def _parents(self) -> memoryview:
        """The row of the element around each tag; -1 for none. A closing tag is inside its own."""
        unclosed = self._tags.row_of[self._tokens.unclosed[self._tags.token]]
        before = np.append(np.int32(-1), unclosed)[: self._n]
        return nearest(before, self._tags.opens & (self._tags.partner >= 0)).data

    def attributes_in(self, row: int) -> Mapping[str, str]:
        """The attributes of the tag in *row*."""
        return attributes_of_tag(self._source, self._start[row], self._end[row])

    def _attributes_of(self, rows: Indices) -> list[dict[str, str]]:
        return attributes_of_tags(self._source, self._tags.start[rows], self._tags.end[rows])

    def source_after(self, row: int) -> str:
        """What stands between the tag in *row* and the next one; -1 is before the first."""
        start = self._end[row] if row >= 0 else 0
        end = self._start[row + 1] if row + 1 < self._n else len(self._source)
        return self._source[start:end] if start < end else ""

    def _element(self, row: int, attributes: Mapping[str, str] | None = None) -> TokenElement:
        element = self._elements.get(row)
        if element is None:
            number = self._number[row]
            name = TAG_NAMES[number] if number != UNKNOWN_TAG else self._unknown_name(row)
            element = self._elements[row] = TokenElement(self, row, name, attributes)
        return element

    def _elements_in(self, rows: Indices) -> Iterator[TokenElement]:
        """The elements of *rows*, whose attributes are all read at once."""
        return map(self._element, rows.tolist(), self._attributes_of(rows))

    def _unknown_name(self, row: int) -> str:
        found = TAG_NAME.match(self._source, self._start[row])
        return found[1].lower() if found else ""

    @lazy
    def _root(self) -> TokenElement:
        """What is around all elements."""
        return TokenElement(self, -1, "", {})

    def _parent(self, row: int) -> TokenElement:
        parent = self._parents[row]
        return self._element(parent) if parent >= 0 else self._root

    def around(self, row: int) -> Iterator[TokenElement]:
        while row >= 0:
            element = self._parent(row)
            yield element
            row = element.row

    def inside(self, row: int) -> Iterator[TokenElement]:
        rows, stop = self._open_rows, self._partner[row]
        for number in range(bisect_right(rows, row), len(rows)):
            if rows[number] >= stop:
                return
            yield self._element(rows[number])

    @lazy
    def _open_rows(self) -> memoryview:
        return self._tags.opens.nonzero()[0].data

    # --- elements ---------------------------------------------------------------------------------

    @property
    def attributes(self) -> Mapping[str, str]:
        merged: dict[str, str] = {}
        for element in self.find(HTML, MAX_ROOTS):
            merged = {**element.attrib, **merged}
        return merged

    def is_hidden(self, element: Element) -> bool:
        assert isinstance(element, TokenElement)
        hiding = is_one_of(self._tags.number[: element.row], HIDDEN)
        return bool((self._tags.partner[: element.row][hiding] > element.row).any())

    def find(self, tags: frozenset[str], most: int) -> Iterator[TokenElement]:
        return self._elements_in(self._rows_of(tags, most))

    def declarations(
        self, tags: frozenset[str], most: int
    ) -> Iterator[tuple[str, Mapping[str, str]]]:
        rows = self._rows_of(tags, most)
        names = map(TAG_NAMES.__getitem__, self._tags.number[rows].tolist())
        return zip(names, self._attributes_of(rows), strict=True)

    def _rows_of(self, names: frozenset[str], most: int) -> Indices:
        """The first *most* opening tags of each of *names*."""
        rows = (is_one_of(self._tags.number, names) & self._tags.opens).nonzero()[0]
        if len(rows) <= most:
            return rows
        numbers = self._tags.number[rows]
        return np.sort(np.concatenate([rows[numbers == n][:most] for n in tag_numbers(names)]))

    def properties(self, most: int) -> Iterator[TokenElement]:
        rows = self._holding(PROPERTY, self._tags.opens.nonzero()[0])
        parts = (rows[first : first + most] for first in range(0, len(rows), most))
        elements = (each for part in parts for each in self._elements_in(part))
        return islice((each for each in elements if PROPERTY in each.attrib), most)

    def related_links(self, relation: str, most: int) -> Iterator[TokenElement]:
        links = map(self._element, self._holding(relation, self._with_relation).tolist())
        return islice((each for each in links if relation in (each.get("rel") or "")), most)

    @lazy
    def _with_relation(self) -> Indices:
        """The rows of links that may have a relation: few of all, and asked for several times."""
        links = is_one_of(self._tags.number, LINK) & self._tags.opens
        return self._holding("rel", links.nonzero()[0])

    def _holding(self, name: str, rows: Indices) -> Indices:
        """Those of *rows* whose tags hold *name*, in any case."""
        start, end = self._tags.start[rows], self._tags.end[rows]
        return rows[tags_with(name, self._source, start, end)]

    # --- text -------------------------------------------------------------------------------------

    def fragments(self, element: Element, can_visit: CanVisit) -> Iterator[Fragment]:
        assert isinstance(element, TokenElement)
        if element.tag in HIDDEN or element.tag in VOID_TAGS:
            return iter(())
        return self._walk(element.row, self._last(element.row), can_visit)

    def body_fragments(self, can_visit: CanVisit) -> Iterator[Fragment]:
        opens, closes = self._tags.opens, ~self._tags.opens
        for name, is_kind in (("body", opens), ("head", closes), ("title", closes)):
            rows = np.flatnonzero(is_one_of(self._tags.number, frozenset({name})) & is_kind)
            if len(rows):
                return self._texts(int(rows[0]), can_visit)
        return self._texts(-1, can_visit)

    def fragments_after(self, element: Element, can_visit: CanVisit) -> Iterator[Fragment]:
        assert isinstance(element, TokenElement)
        return self._texts(self._last(element.row), can_visit)

    def _last(self, row: int) -> int:
        """The row that the content of an element ends at: the next one if no tag closes it."""
        return max(self._partner[row], row + 1)

    def _walk(self, row: int, stop: int, can_visit: CanVisit) -> Iterator[Fragment]:
        """The text from the tag in *row* to the one in *stop*."""
        numbers, partners, line_edge = self._number, self._partner, (" ", self._root)
        while row < stop:
            text = self.source_after(row)
            if not can_visit(text):
                return
            if not text:
                pass
            elif text.isspace():
                yield line_edge
            elif "<" in text:
                parent = self._around_text(row)
                for number, each in enumerate(_between_marks(text)):
                    if number and not can_visit(None):
                        return
                    yield decode_all(each), parent
            else:
                yield decode_all(text), self._around_text(row)
            row += 1
            effect = _EFFECTS[numbers[row]] if row < stop else 0
            if effect == _LINE:
                yield line_edge
            elif effect and partners[row] > row:
                row = min(partners[row], stop)

    def _texts(self, row: int, can_visit: CanVisit) -> Iterator[Fragment]:
        """The same of all that follows, without edges of lines: nothing but white space."""
        source, starts, ends, stop = self._source, self._start, self._end, self._n
        numbers, partners = self._number, self._partner
        start = ends[row] if 0 <= row < stop else 0
        while row < stop:
            end = starts[row + 1] if row + 1 < stop else len(source)
            text = source[start:end]
            if not can_visit(text):
                return
            if "<" in text:
                parent = self._around_text(row)
                for number, each in enumerate(_between_marks(text)):
                    if number and not can_visit(None):
                        return
                    yield decode_all(each), parent
            elif text and not text.isspace():
                yield decode_all(text), self._around_text(row)
            row += 1
            if row < stop and _EFFECTS[numbers[row]] == _NO_TEXT and partners[row] > row:
                row = min(partners[row], stop)
            start = ends[row] if row < stop else 0

    def _around_text(self, row: int) -> TokenElement:
        """The element that displays what stands behind the tag in *row*."""
        if row < 0:
            return self._root
        partner = self._partner[row]
        if partner > row:
            return self._element(row)
        return self._parent(row if partner < 0 else partner)

    def above(self, element: Element) -> Iterator[TokenElement]:
        assert isinstance(element, TokenElement)
        row = element.row
        for _ in range(LEVELS_ABOVE):
            yield from islice(self._before(row), MAX_SIBLINGS)
            row = self._parents[row]
            if row < 0:
                return

    def _before(self, row: int) -> Iterator[TokenElement]:
        """The elements in front of *row* in the same element, the nearest first."""
        row -= 1
        while row >= 0 and not (self._opens[row] and self._partner[row] >= 0):
            partner = self._partner[row]
            row = partner if partner >= 0 else row
            if self._opens[row]:
                yield self._element(row)
            row -= 1


def _between_marks(text: str) -> Iterator[str]:
    """What is text in *text*, in as many pieces as comments and declarations make of it."""
    start = 0
    for mark in _MARKS.finditer(text):
        yield text[start : mark.start()]
        start = mark.end()
    yield text[start:]


def _rows_in_raw_text(tags: _Tags) -> list[int]:
    """The rows of the *tags* between those of raw text, a title for example."""
    inside: list[int] = []
    end = 0
    for row in is_one_of(tags.number, _RAW_TEXT).nonzero()[0].tolist():
        if row >= end and tags.opens[row]:
            end = max(int(tags.partner[row]), row + 1)
            inside += range(row + 1, end)
    return inside
