"""Which paragraphs are items of lists, and what mark each has: a dash, or its number.

An item is what follows the opening tag of one, up to the next tag of a list. One that has several
paragraphs gets no mark: those are the cards and entries of a page's layout.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

import numpy as np

from scrapy_mss.markup.elements import Indices, is_tag_of, nearest_ancestors
from scrapy_mss.markup.slice_gaps import Gaps
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokens import OPEN, Tokens

DASH: Final = "- "
ITEM: Final = frozenset({"li"})
ORDERED: Final = frozenset({"ol"})
LISTS: Final = frozenset({"ul", "ol", "menu"})
_START: Final = re.compile(r"""\sstart\s*=\s*["']?(\d{1,9})(?!\d)""", re.IGNORECASE)


class Items(NamedTuple):
    """The *slices* that begin an item, their marks, and the gaps without an empty line."""

    slices: Indices
    marks: list[str]
    tight: Indices


NONE: Final = Items(np.zeros(0, np.intp), [], np.zeros(0, np.intp))


def items_of(gaps: Gaps) -> Items:
    """The items among the paragraphs that *gaps* divide."""
    if not len(gaps.tags(ITEM, opening=True)):
        return NONE
    tags = gaps.tags(ITEM | LISTS)
    between = gaps.divides.nonzero()[0]  # the gap after each paragraph but the last
    begins = np.concatenate(([0], between + 1))  # the first slice of each paragraph
    last = tags.searchsorted(gaps.starts[begins]) - 1
    tag = tags[np.maximum(last, 0)]
    is_item = (last >= 0) & (tag >= gaps.bounds()[begins])
    is_item &= (gaps.tokens.tag[tag] == TAG_NUMBERS["li"]) & (gaps.tokens.kind[tag] == OPEN)
    if not is_item.any():
        return NONE
    is_item[:-1] &= gaps.count(tags)[between] > 0
    tight = is_item[:-1] & is_item[1:] & gaps.has_only(tags)[between]
    return Items(begins[is_item], _marks(gaps.tokens, tag[is_item]), between[tight])


def _marks(tokens: Tokens, items: Indices) -> list[str]:
    """The mark of each of the *items*, which are opening tags."""
    ordered = is_tag_of(tokens, ORDERED)
    if not ordered.any():
        return [DASH] * len(items)
    lists = (ordered | is_tag_of(tokens, LISTS)) & (tokens.kind == OPEN)
    parent = nearest_ancestors(tokens, lists)
    every = np.flatnonzero(is_tag_of(tokens, ITEM) & (tokens.kind == OPEN))
    numbers: dict[int, int] = {}
    marks: dict[int, str] = {}
    for item, around in zip(every.tolist(), parent[every].tolist(), strict=True):
        if around >= 0 and ordered[around]:
            number = numbers[around] + 1 if around in numbers else _first(tokens, around)
            numbers[around] = number
            marks[item] = f"{number}. "
    return [marks.get(item, DASH) for item in items.tolist()]


def _first(tokens: Tokens, ordered_list: int) -> int:
    """The number of the first item."""
    found = _START.search(tokens.html(ordered_list, ordered_list + 1)[:200])
    return int(found[1]) if found else 1
