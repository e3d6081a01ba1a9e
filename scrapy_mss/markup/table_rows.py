"""The rows of data tables: a line for each, with a tab between two cells, as browsers copy them.

A table has data if it has several rows, a row with several cells, and no cell with more than one
line. Others lay out a page: their cells are paragraphs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

import numpy as np

from scrapy_mss.markup.elements import element_starts, nearest_ancestors
from scrapy_mss.markup.slice_gaps import Gaps
from scrapy_mss.markup.tags import LINE_BREAK_TAGS

TABLE: Final = frozenset({"table"})
ROW: Final = frozenset({"tr"})
CELL: Final = frozenset({"td", "th"})
CAPTION: Final = frozenset({"caption"})


def row_joints(gaps: Gaps) -> Iterator[tuple[int, str]]:
    """The gaps between the cells and rows of data tables, and what is there in the text."""
    cells = gaps.tags(CELL, opening=True)
    if not len(cells):
        return
    rows = gaps.tags(ROW, opening=True)
    table = nearest_ancestors(gaps.tokens, element_starts(gaps.tokens, TABLE))
    left, right = table[gaps.ends[:-1] - 1], table[gaps.starts[1:]]
    inside = (left == right) & (left >= 0)
    n_cells, n_captions = gaps.count(cells), gaps.count(gaps.tags(CAPTION))
    is_between = inside & (n_cells > 0) & (n_captions == 0)
    is_row = is_between & (gaps.count(rows) > 0)
    breaks = gaps.divides | (gaps.count(gaps.tags(LINE_BREAK_TAGS)) > 0)
    bad = (
        *left[inside & (n_cells == 0) & (n_captions == 0) & breaks],  # more than a line in a cell
        *left[(left != right) & (right >= 0) & (table[right] == left)],  # a table in a cell
        *right[(left != right) & (left >= 0) & (table[left] == right)],
    )
    data = set(left[is_row].tolist()) & set(left[is_between & ~is_row].tolist()) - set(bad)
    cell_places, row_places = cells.tolist(), rows.tolist()
    begins, ends = gaps.ends[:-1].tolist(), gaps.starts[1:].tolist()
    for gap in np.flatnonzero(np.isin(right, list(data)) & (n_cells > 0)).tolist():
        joint = _joint(begins[gap], ends[gap], cell_places, row_places)
        # What is not between two cells is the first row, below other text.
        yield gap, joint if is_between[gap] else "\n" + joint


def _joint(begin: int, end: int, cells: list[int], rows: list[int]) -> str:
    """A tab for each cell that begins, in the last row that does; those of empty cells, too."""
    row = bisect_left(rows, end) - 1
    is_new_row = row >= 0 and rows[row] >= begin
    first = rows[row] if is_new_row else begin
    count = bisect_left(cells, end) - bisect_left(cells, first)
    return "\n" + "\t" * (count - 1) if is_new_row else "\t" * count
