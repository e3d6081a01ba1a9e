"""The runs of text between a page's tags: what breaks the text between them, and rows of tables.

A table has data if it has several rows, a row with several cells, and no cell with more than one
line. Others lay out a page: their cells are paragraphs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from scrapy_mss.markup.elements import (
    Counts,
    Indices,
    element_starts,
    is_tag_of,
    linked_words,
    mask_inside,
    nearest_ancestors,
    prefix_sums,
)
from scrapy_mss.markup.tags import BLOCK_TAGS, LINE_BREAK_TAGS, TAG_NAMES
from scrapy_mss.markup.tokens import CLOSE, OPEN, Bools, Bytes, Ints, Tokens

PARAGRAPH = 2  # what breaks a paragraph; two line breaks are as much as a block's tag

_BREAKS = np.zeros(256, np.uint8)
_BREAKS[: len(TAG_NAMES)] = [
    PARAGRAPH if name in BLOCK_TAGS else int(name in LINE_BREAK_TAGS) for name in TAG_NAMES
]


def text_runs(tokens: Tokens, kept: Bools) -> tuple[Indices, Indices]:
    """Where the runs of *kept* words and symbols (bool[n_tokens]) begin, and where they end."""
    return run_bounds(kept & ~tokens.is_tag)


def run_bounds(kept: Bools) -> tuple[Indices, Indices]:
    """The starts and the ends of the runs of true values."""
    padded = np.concatenate(([False], kept, [False]))
    edges = (padded[1:] != padded[:-1]).nonzero()[0]
    return edges[::2], edges[1::2]


def between(tokens: Tokens, starts: Indices, ends: Indices) -> tuple[Bytes, Bools]:
    """How much the text breaks between each of the runs from *starts* to *ends* and the next.

    There is at least one run. The results are uint8[n_runs - 1], at most `PARAGRAPH`, and
    bool[n_runs - 1]: whether white space is there.
    """
    first, last = starts[0], ends[-1]
    starts, ends = starts[1:] - first, ends[:-1] - first
    of_tags = _BREAKS.take(tokens.tag[first:last]) * tokens.is_tag[first:last]
    blank = tokens.blank_before[first:last]
    gaps = np.stack((ends, starts), axis=1).ravel()  # of two slices each, the first is the gap
    levels = np.minimum(np.add.reduceat(of_tags, gaps, dtype=np.int32)[::2], PARAGRAPH)
    return levels.astype(np.uint8), np.logical_or.reduceat(blank, gaps)[::2] | blank[starts]


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """The runs of text from *starts* to *ends*, and what is between each and the next.

    ``divides`` is bool[n_runs - 1]: whether a paragraph ends there. ``begin`` is where what
    precedes the first run begins, after other text of the page.
    """

    tokens: Tokens
    starts: Indices
    ends: Indices
    divides: Bools
    begin: int

    def bounds(self) -> Indices:
        """intp[n_runs]: where what precedes each run begins."""
        bounds = np.empty_like(self.ends)
        bounds[0], bounds[1:] = self.begin, self.ends[:-1]
        return bounds

    def tags(self, names: frozenset[str], *, opening: bool = False) -> Indices:
        """The tags with one of *names*, ascending."""
        part = slice(self.begin, int(self.ends[-1]))
        chosen = is_tag_of(self.tokens, names, part)
        if opening:
            chosen = chosen & np.equal(self.tokens.kind[part], OPEN)
        return chosen.nonzero()[0] + self.begin

    def count(self, tags: Indices) -> Counts:
        """int64[n_runs - 1]: how many of the *tags* are in each gap."""
        before_start, before_end = tags.searchsorted(self.starts), tags.searchsorted(self.ends)
        counts: Counts = (before_start[1:] - before_end[:-1]).astype(np.int64, copy=False)
        return counts

    def has_only(self, tags: Indices) -> Bools:
        """bool[n_runs - 1]: whether no block in a gap begins or ends but for these *tags*."""
        return np.equal(self.count(tags), self.count(self.tags(BLOCK_TAGS)))


def gaps_between(tokens: Tokens, starts: Indices, ends: Indices, divides: Bools) -> Gaps:
    """What is between the runs from *starts* to *ends*, of which there is at least one."""
    texts = (tokens.kind[: starts[0]] > CLOSE).nonzero()[0]
    begin = int(texts[-1]) + 1 if len(texts) else 0
    return Gaps(tokens, starts, ends, divides, begin)


# --- tables of data ---

TABLE: Final = frozenset({"table"})
ROW: Final = frozenset({"tr"})
CELL: Final = frozenset({"td", "th"})
CAPTION: Final = frozenset({"caption"})
# Words. Of the tables of 5,117 labelled pages of which the model keeps a part, those with data have
# at most 32 in a cell, and lists of notes at least 52.
LONGEST_CELL: Final = 40
_NO_TABLES: Final = np.zeros(0, np.intp)


def data_tables(tokens: Tokens) -> tuple[Indices, Indices]:
    """The opening and the closing tags of a page's data tables, ascending; none contains another.

    Tables of links lead elsewhere, and those with prose in a cell, such as lists of notes, only lay
    it out: they are not among them.
    """
    starts, ends = text_runs(tokens, mask_inside(tokens, element_starts(tokens, TABLE)))
    if not len(starts):
        return _NO_TABLES, _NO_TABLES
    levels, _ = between(tokens, starts, ends)
    found = _Rows.of(gaps_between(tokens, starts, ends, np.equal(levels, PARAGRAPH))).data
    if not found:
        return _NO_TABLES, _NO_TABLES
    first = np.array(sorted(found), np.intp)
    last = tokens.partner[first].astype(np.intp)
    is_data = ~_are_of_links(tokens, (starts, ends), first, last) & ~_have_prose(
        tokens, first, last
    )
    return first[is_data], last[is_data]


def _are_of_links(
    tokens: Tokens, runs: tuple[Indices, Indices], first: Indices, last: Indices
) -> Bools:
    """bool[n_tables]: whether half of the words are linked, or half of the *runs* with words."""
    words, linked = prefix_sums(tokens.is_word), prefix_sums(linked_words(tokens))
    n_words, n_linked = (each[runs[1]] - each[runs[0]] for each in (words, linked))
    texts = prefix_sums(n_words > 0)
    links = prefix_sums((n_words > 0) & (n_linked == n_words))
    begin, end = runs[0].searchsorted(first), runs[0].searchsorted(last)
    by_words: Bools = 2 * (linked[last] - linked[first]) >= words[last] - words[first]
    return by_words | (2 * (links[end] - links[begin]) >= texts[end] - texts[begin])


def _have_prose(tokens: Tokens, first: Indices, last: Indices) -> Bools:
    """bool[n_tables]: whether a cell has more words than `LONGEST_CELL`."""
    words = prefix_sums(tokens.is_word)
    cells = np.flatnonzero(is_tag_of(tokens, CELL) & np.equal(tokens.kind, OPEN))
    ends = np.append(cells[1:], len(tokens) - 1)
    table = first.searchsorted(cells, "right") - 1  # the last that begins before each
    inside = (table >= 0) & (cells < last[table])
    n_words = words[np.minimum(ends, last[table])] - words[cells]
    return np.isin(np.arange(len(first)), table[inside & (n_words > LONGEST_CELL)])


def row_joints(gaps: Gaps) -> Iterator[tuple[int, str]]:
    """The gaps between the cells and rows of data tables, and what is there in the text."""
    cells = gaps.tags(CELL, opening=True)
    if not len(cells):
        return
    rows = _Rows.of(gaps)
    data = np.isin(rows.right, list(rows.data))
    cell_places, row_places = cells.tolist(), gaps.tags(ROW, opening=True).tolist()
    begins, ends = gaps.ends[:-1].tolist(), gaps.starts[1:].tolist()
    for gap in np.flatnonzero(data & (gaps.count(cells) > 0)).tolist():
        joint = _joint(begins[gap], ends[gap], cell_places, row_places)
        # What is not between two cells is the first row, below other text.
        yield gap, joint if rows.is_between[gap] else "\n" + joint


class _Rows(NamedTuple):
    """What is known of tables from the gaps between the runs of a text: one row a gap."""

    right: Ints  # int32[n_gaps]: the table of the run behind it, -1 for none
    is_between: Bools  # bool[n_gaps]: whether it is between two cells of a table
    data: set[int]  # the tables that have data

    @classmethod
    def of(cls, gaps: Gaps) -> _Rows:
        rows = gaps.tags(ROW, opening=True)
        table = nearest_ancestors(gaps.tokens, element_starts(gaps.tokens, TABLE))
        left, right = table[gaps.ends[:-1] - 1], table[gaps.starts[1:]]
        inside = (left == right) & (left >= 0)
        n_cells = gaps.count(gaps.tags(CELL, opening=True))
        n_captions = gaps.count(gaps.tags(CAPTION))
        is_between = inside & (n_cells > 0) & (n_captions == 0)
        is_row = is_between & (gaps.count(rows) > 0)
        breaks = gaps.divides | (gaps.count(gaps.tags(LINE_BREAK_TAGS)) > 0)
        bad = (
            *left[inside & (n_cells == 0) & (n_captions == 0) & breaks],  # more lines in a cell
            *left[(left != right) & (right >= 0) & (table[right] == left)],  # a table in a cell
            *right[(left != right) & (left >= 0) & (table[left] == right)],
        )
        data = set(left[is_row].tolist()) & set(left[is_between & ~is_row].tolist()) - set(bad)
        return cls(right, is_between, data)


def _joint(begin: int, end: int, cells: list[int], rows: list[int]) -> str:
    """A tab for each cell that begins, in the last row that does; those of empty cells, too."""
    row = bisect_left(rows, end) - 1
    is_new_row = row >= 0 and rows[row] >= begin
    first = rows[row] if is_new_row else begin
    count = bisect_left(cells, end) - bisect_left(cells, first)
    return "\n" + "\t" * (count - 1) if is_new_row else "\t" * count
