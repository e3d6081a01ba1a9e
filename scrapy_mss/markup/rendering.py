"""Kept tokens -> plain text, with the marks of lists or without, and -> well-formed HTML.

Text has paragraphs separated by an empty line and white space as a browser shows it. The text
between two tags is one slice of the cleaned source. What lies between two slices decides how they
are joined: a block's tag begins a paragraph, a line break a line (two of them a paragraph), other
tags nothing but the white space next to them. In `readable` text the cells of a row are on one
line, and an item of a list has its mark.

A table has data if it has several rows, a row with several cells, and no cell with more than one
line. Others lay out a page: their cells are paragraphs.

HTML is the page's own source with the tags opened and closed that cutting broke. It is as safe as
the page is: what may be shown comes from `scrapy_mss.output.sanitizing`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, compress
from typing import Final, NamedTuple

import numpy as np

from scrapy_mss.markup.compiled import accelerated
from scrapy_mss.markup.references import decode_all
from scrapy_mss.markup.tags import (
    BLOCK_TAGS,
    LINE_BREAK_TAGS,
    RAW_TEXT_TAGS,
    TAG_NAMES,
    TAG_NUMBERS,
    VOID_TAGS,
    tag_numbers,
)
from scrapy_mss.markup.tokenizer import nearest_ancestors
from scrapy_mss.markup.tokens import (
    CLOSE,
    OPEN,
    SYMBOL,
    WORD,
    Bools,
    Bytes,
    Counts,
    Indices,
    Ints,
    Tokens,
    element_starts,
    is_tag_of,
    linked_words,
    mask_inside,
    prefix_sums,
)

PARAGRAPH = 2  # what breaks a paragraph; two line breaks are as much as a block's tag

_BREAKS = np.zeros(256, np.uint8)
_BREAKS[: len(TAG_NAMES)] = [
    PARAGRAPH if name in BLOCK_TAGS else int(name in LINE_BREAK_TAGS) for name in TAG_NAMES
]

# What stands between two slices, by how much the text breaks there.
_JOINTS = ("", "\n", "\n\n", " ")
_SPACE = _JOINTS.index(" ")

# Characters that are there and not seen: of no width, of direction, joiners, fillers. Within a word
# some of them matter; alone they are nothing.
_INVISIBLE = (
    *(0x20, 0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFEFF, 0xFFA0),
    *chain(range(0x180B, 0x180F), range(0x200B, 0x2010), range(0x2028, 0x202F)),
    *chain(range(0x2060, 0x2070), range(0xFE00, 0xFE10)),
)
INVISIBLE = "".join(map(chr, _INVISIBLE))

_TAG_NAME = re.compile(r"</?([^\s/>]+)")
_UP_TO_A_SPACE = re.compile(r"(?s).{1,65536}[^ ]*")  # of a text, up to a space


class Runs(NamedTuple):
    """The runs of text that were kept of a page, in their order."""

    starts: Indices  # intp[n]: the first token of each
    ends: Indices  # intp[n]: the token behind the last
    joints: Bytes  # uint8[n - 1]: which of ``_JOINTS`` is between each and the next
    texts: list[str]  # what a browser shows of each
    is_plain: bool  # whether all of that is printable

    def seen(self, tokens: Tokens) -> Runs:
        """Those of the runs that have something that anybody sees."""
        seen = [text.isascii() or bool(text.strip(INVISIBLE)) for text in self.texts]
        if all(seen):
            return self
        starts, ends, texts = self.starts[seen], self.ends[seen], list(compress(self.texts, seen))
        joints = _joints(tokens, starts, ends) if texts else self.joints[:0]
        return Runs(starts, ends, joints, texts, self.is_plain)


def render(tokens: Tokens, kept: Bools) -> str:
    """The text of the *kept* tokens (bool[n_tokens]), and not a character more."""
    runs = Runs(*_runs_of(tokens, kept))
    if not runs.texts:
        return ""
    joints = [_JOINTS[joint] for joint in runs.joints.tolist()]
    return _joined(runs.texts, joints, is_plain=runs.is_plain)


def readable(tokens: Tokens, kept: Bools) -> str:
    """The same as it is read: a row of a table is a line, an item of a list has its mark.

    What has nothing that anybody sees, such as a paragraph of a zero-width space, is left out.
    """
    starts, ends, levels, texts, is_plain = Runs(*_runs_of(tokens, kept)).seen(tokens)
    if not texts:
        return ""
    joints = [_JOINTS[joint] for joint in levels.tolist()]
    gaps = gaps_between(tokens, starts, ends, np.equal(levels, PARAGRAPH))
    for gap, cells in row_joints(gaps):
        joints[gap] = cells
    items = items_of(gaps)
    for gap in items.tight.tolist():
        joints[gap] = "\n"
    for number, mark in zip(items.slices.tolist(), items.marks, strict=True):
        texts[number] = mark + texts[number]
    return _joined(texts, joints, is_plain=is_plain)


def _joined(slices: list[str], joints: list[str], *, is_plain: bool) -> str:
    parts = [""] * (2 * len(slices) - 1)
    parts[::2] = slices
    parts[1::2] = joints
    text = "".join(parts).strip()
    if is_plain or not has_controls(text):
        return text
    # A space for each run of controls, and still no two spaces in a row.
    return "\n".join(map(_line_without_controls, text.split("\n"))).strip()


def _joints(tokens: Tokens, starts: Indices, ends: Indices) -> Bytes:
    """uint8[n_runs - 1]: which of ``_JOINTS`` is between each of the runs and the next."""
    levels, blanks = between(tokens, starts, ends)
    return np.where(levels == 0, np.uint8(_SPACE) * blanks, levels)


def _line_without_controls(line: str) -> str:
    shown = without_controls(line, " ")
    if shown is line:
        return line
    return "\t".join(map(_without_surplus_spaces, shown.split("\t")))


def _without_surplus_spaces(text: str) -> str:
    """*text* with a space for each run of white space; by portions that end before a space.

    A list of the words of all of it takes thirty bytes a letter where they are short.
    """
    portions = (" ".join(portion[0].split()) for portion in _UP_TO_A_SPACE.finditer(text))
    return " ".join(filter(None, portions))


def well_formed(tokens: Tokens, kept: Bools) -> str:
    """The source of the kept tokens, with the tags opened and closed that it cuts.

    In between the source is exact: what is repaired is what cutting broke, not the page's own
    errors. A closing tag whose opening tag was cut off gets it back as it was in the page. The
    tags of scripts and other raw text are kept in pairs or not at all: either one alone would make
    raw text of the article around it.
    """
    kept = kept & ~_unpaired_raw_text(tokens, kept)
    left_open: list[int] = []
    missing: list[str] = []
    tags = np.flatnonzero(kept & tokens.is_tag)
    for index, is_close, partner in zip(
        tags.tolist(),
        (tokens.kind[tags] == CLOSE).tolist(),
        tokens.partner[tags].tolist(),
        strict=True,
    ):
        if not is_close:
            left_open.append(index)
        elif partner >= 0 and kept[partner]:
            while left_open.pop() != partner:
                pass
        else:
            source = tokens.html(partner, partner + 1) if partner >= 0 else ""
            missing.append(source or f"<{_name(tokens, index)}>")
    body = _source(tokens, kept)
    closing = (
        _name(tokens, i) for i in reversed(left_open) if TAG_NAMES[tokens.tag[i]] not in VOID_TAGS
    )
    return "".join((*reversed(missing), body, *(f"</{name}>" for name in closing)))


def _unpaired_raw_text(tokens: Tokens, kept: Bools) -> Bools:
    """bool[n_tokens]: the tags of raw text whose other tag is missing."""
    is_paired = (tokens.partner >= 0) & kept[tokens.partner]
    return is_tag_of(tokens, RAW_TEXT_TAGS) & ~is_paired


def _source(tokens: Tokens, kept: Bools) -> str:
    """The source of the kept tokens; words that only removed tokens separated get a space."""
    starts, ends = run_bounds(kept)
    before = prefix_sums(tokens.blank_before | is_tag_of(tokens, BLOCK_TAGS))
    is_apart = [False, *(before[starts[1:] + 1] > before[ends[:-1]]).tolist()][: len(starts)]
    rows = zip(starts.tolist(), ends.tolist(), is_apart, strict=True)
    return "".join(" " * blank + tokens.html(start, end) for start, end, blank in rows)


def _name(tokens: Tokens, index: int) -> str:
    found = _TAG_NAME.match(tokens.html(index, index + 1))
    return found[1].lower() if found else TAG_NAMES[tokens.tag[index]]


# --- runs of text, and what is between them ---


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
    of_tags = _BREAKS.take(tokens.tag[first:last]) * (tokens.kind[first:last] <= CLOSE)
    # Of this part alone: a live blog has a text for each of its entries.
    blank = np.empty(last - first, np.bool_)
    np.greater(tokens.clean_start[first + 1 : last], tokens.clean_end[first : last - 1], blank[1:])
    blank[0] = False  # nobody asks what is before the first
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

    def may_have(self, names: frozenset[str]) -> bool:
        """Whether a tag may have one of *names*: what is asked of every text, and rarely so."""
        numbers = self.tokens.tag[self.begin : self.ends[-1]].tobytes()
        return any(number in numbers for number in tag_numbers(names))

    def count(self, tags: Indices) -> Counts:
        """int64[n_runs - 1]: how many of the *tags* are in each gap."""
        before_start, before_end = tags.searchsorted(self.starts), tags.searchsorted(self.ends)
        counts: Counts = (before_start[1:] - before_end[:-1]).astype(np.int64, copy=False)
        return counts


def gaps_between(tokens: Tokens, starts: Indices, ends: Indices, divides: Bools) -> Gaps:
    """What is between the runs from *starts* to *ends*, of which there is at least one."""
    kinds = tokens.kind[: starts[0]].tobytes()
    begin = max(kinds.rfind(WORD), kinds.rfind(SYMBOL)) + 1
    return Gaps(tokens, starts, ends, divides, begin)


# --- the texts of slices ---

# A declaration between two words is part of the slice, since it is no token.
DECLARATION = re.compile(r"<[!?/][^>]*(?:>|\Z)")


def _decoded(part: str) -> str:
    """A slice of the cleaned source without declarations, with references decoded."""
    return decode_all(DECLARATION.sub(" ", part) if "<" in part else part)


@accelerated(lambda: (_BREAKS.tobytes(), _decoded), "TextRuns")
def _runs_of(tokens: Tokens, kept: Bools) -> tuple[Indices, Indices, Bytes, list[str], bool]:
    """The columns of `Runs`. A page may have a run for each of its words."""
    starts, ends = text_runs(tokens, kept)
    if not len(starts):
        return starts, ends, np.zeros(0, np.uint8), [], True
    begins, stops = tokens.clean_start[starts].tolist(), tokens.clean_end[ends - 1].tolist()
    clean = (tokens.clean[begin:stop] for begin, stop in zip(begins, stops, strict=True))
    texts = [" ".join(_decoded(each).split()) for each in clean]
    return starts, ends, _joints(tokens, starts, ends), texts, all(map(str.isprintable, texts))


# --- items of lists ---

DASH: Final = "- "
ITEM: Final = frozenset({"li"})
ORDERED: Final = frozenset({"ol"})
LISTS: Final = frozenset({"ul", "ol", "menu"})
LONGEST_TAG: Final = 200  # characters of it that are read
_START: Final = re.compile(r"""\sstart\s*=\s*["']?(\d{1,9})(?!\d)""", re.IGNORECASE)


class Items(NamedTuple):
    """The *slices* that begin an item, their marks, and the gaps without an empty line."""

    slices: Indices
    marks: list[str]
    tight: Indices


_NO_ITEMS: Final = Items(np.zeros(0, np.intp), [], np.zeros(0, np.intp))


def items_of(gaps: Gaps) -> Items:
    """The items among the paragraphs that *gaps* divide."""
    if not gaps.may_have(ITEM):
        return _NO_ITEMS
    tags = gaps.tags(ITEM | LISTS)
    ends = gaps.divides.nonzero()[0]  # the gap after each paragraph but the last
    begins = np.concatenate(([0], ends + 1))  # the first slice of each paragraph
    last = tags.searchsorted(gaps.starts[begins]) - 1
    tag = tags[np.maximum(last, 0)]
    is_item = (last >= 0) & (tag >= gaps.bounds()[begins])
    is_item &= (gaps.tokens.tag[tag] == TAG_NUMBERS["li"]) & (gaps.tokens.kind[tag] == OPEN)
    if not is_item.any():
        return _NO_ITEMS
    is_item[:-1] &= gaps.count(tags)[ends] > 0
    has_other_blocks = gaps.count(gaps.tags(BLOCK_TAGS)) > gaps.count(tags)
    tight = is_item[:-1] & is_item[1:] & ~has_other_blocks[ends]
    return Items(begins[is_item], _marks(gaps.tokens, tag[is_item]), ends[tight])


def _marks(tokens: Tokens, items: Indices) -> list[str]:
    """The mark of each of the *items*, which are opening tags."""
    ordered = is_tag_of(tokens, ORDERED)
    if not ordered.any():
        return [DASH] * len(items)
    lists = is_tag_of(tokens, LISTS) & (tokens.kind == OPEN)
    parent = nearest_ancestors(tokens, lists)
    if not ordered[parent[items]].any():  # the ordered lists are elsewhere
        return [DASH] * len(items)
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
    start = tokens.start[ordered_list]
    found = _START.search(tokens.source, start, min(tokens.end[ordered_list], start + LONGEST_TAG))
    return int(found[1]) if found else 1


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
    if TAG_NUMBERS["table"] not in tokens.tag.tobytes():  # as on most pages
        return _NO_TABLES, _NO_TABLES
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
    if not gaps.may_have(CELL):
        return
    cells = gaps.tags(CELL, opening=True)
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


# --- what no page shows ---

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]+")  # but for tabs and line ends
# The same in UTF-8; each pattern begins with one byte, which is searched for at once.
_CONTROLS_OF_ASCII = bytes((*range(0x09), *range(0x0B, 0x20), 0x7F))
_OTHER_CONTROLS = (re.compile(rb"\xc2[\x80-\x9f]"), re.compile(rb"\xed[\xa0-\xbf]"))
# Characters that are replaced at a time: a substitution keeps what is between two controls as an
# object, 50 bytes for two letters.
PORTION = 2**16


def without_controls(text: str, instead: str) -> str:
    """*text* with *instead* for each run of controls, or for its parts where portions meet."""
    if not has_controls(text):
        return text
    portions = (text[at : at + PORTION] for at in range(0, len(text), PORTION))
    return "".join(CONTROLS.sub(instead, portion) for portion in portions)


def has_controls(text: str) -> bool:
    """Whether *text* has what `CONTROLS` is: by its bytes, in a tenth of the time."""
    written = text.encode("utf-8", "surrogatepass")
    if len(written.translate(None, _CONTROLS_OF_ASCII)) < len(written):
        return True
    return len(written) > len(text) and any(each.search(written) for each in _OTHER_CONTROLS)
