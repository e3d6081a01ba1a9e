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
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, pairwise
from typing import Final, NamedTuple

import numpy as np

from scrapy_mss.markup.compiled import accelerated
from scrapy_mss.markup.references import ANY_REFERENCE, decode
from scrapy_mss.markup.tags import (
    BLOCK_TAGS,
    LINE_BREAK_TAGS,
    RAW_TEXT_TAGS,
    TAG_NAMES,
    TAG_NUMBERS,
    VOID_TAGS,
)
from scrapy_mss.markup.tokenizer import innermost
from scrapy_mss.markup.tokens import (
    CLOSE,
    LINK,
    OPEN,
    WORD,
    Bools,
    Indices,
    Ints,
    Tokens,
    element_starts,
    is_tag_of,
    mask_inside,
    prefix_sums,
    tag_table,
)

PARAGRAPH = 2  # what breaks a paragraph; two line breaks are as much as a block's tag

# What stands between two slices, by how much the text breaks there.
_JOINTS = ("", "\n", "\n\n", " ")
_SPACE = _JOINTS.index(" ")

ITEM: Final = frozenset({"li"})
ORDERED: Final = frozenset({"ol"})
LISTS: Final = frozenset({"ul", "ol", "menu"})
CELL: Final = frozenset({"td", "th"})

# What a tag does to the gap that it is in, as bits: how much it breaks, and what it tells beside.
_JOINT, _OF_LIST, _OF_BLOCK = 3, 4, 8
_OPENS_ITEM, _OPENS_CELL, _OPENS_ROW, _OF_CAPTION = 16, 32, 64, 128
_JOINT_OF = [_JOINTS[gap & _JOINT] for gap in range(256)]
_OPENS = _OPENS_ITEM | _OPENS_CELL | _OPENS_ROW  # of opening tags alone
_ROLES = bytes(
    (PARAGRAPH if name in BLOCK_TAGS else int(name in LINE_BREAK_TAGS))
    | (_OF_LIST if name in ITEM | LISTS else _OF_BLOCK * (name in BLOCK_TAGS))
    | _OPENS_ITEM * (name in ITEM)
    | _OPENS_CELL * (name in CELL)
    | _OPENS_ROW * (name == "tr")
    | _OF_CAPTION * (name == "caption")
    for name in (*TAG_NAMES, *[""] * (256 - len(TAG_NAMES)))
)

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
    gaps: bytes  # of what is before each: which of ``_JOINTS`` it is, and its tags as ``_ROLES``
    texts: list[str]  # what a browser shows of each
    is_plain: bool  # whether all of that is printable

    @property
    def joints(self) -> list[str]:
        """What is before each but the first."""
        return [*map(_JOINT_OF.__getitem__, self.gaps[1:])]


def render(tokens: Tokens, kept: Bools) -> str:
    """The text of the *kept* tokens (bool[n_tokens]), and not a character more."""
    runs = Runs(*_runs_of(tokens, kept))
    if not runs.texts:
        return ""
    return _joined(runs.texts, runs.joints, is_plain=runs.is_plain)


def readable(tokens: Tokens, kept: Bools) -> str:
    """The same as it is read: a row of a table is a line, an item of a list has its mark.

    What has nothing that anybody sees, such as a paragraph of a zero-width space, is left out.
    """
    runs = Runs(*_runs_of(tokens, kept))
    shown = enumerate(runs.texts)
    unseen = [n for n, text in shown if not text.isascii() and not text.strip(INVISIBLE)]
    if unseen:
        kept = kept.copy()
        for n in unseen:
            kept[runs.starts[n] : runs.ends[n]] = False
        runs = Runs(*_runs_of(tokens, kept))
    if not runs.texts:
        return ""
    texts, joints = runs.texts, runs.joints
    if max(runs.gaps) >= _OPENS_ITEM:  # otherwise it has neither tables nor items
        for gap, cells in row_joints(tokens, runs):
            joints[gap] = cells
        items, tight = _items_of(runs.gaps)
        for n in tight:
            joints[n - 1] = "\n"
        for n, mark in zip(items, _marks(tokens, runs.starts[items]), strict=True):
            texts[n] = mark + texts[n]
    return _joined(texts, joints, is_plain=runs.is_plain)


def _joined(slices: list[str], joints: list[str], *, is_plain: bool) -> str:
    parts = [""] * (2 * len(slices) - 1)
    parts[::2] = slices
    parts[1::2] = joints
    text = "".join(parts).strip()
    if is_plain or not has_controls(text):
        return text
    # A space for each run of controls, and still no two spaces in a row.
    return "\n".join(map(_line_without_controls, text.split("\n"))).strip()


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


def run_bounds(kept: Bools) -> tuple[Indices, Indices]:
    """The starts and the ends of the runs of true values."""
    padded = np.concatenate(([False], kept, [False]))
    edges = (padded[1:] != padded[:-1]).nonzero()[0]
    return edges[::2], edges[1::2]


# --- the texts of slices ---

# A declaration between two words is part of the slice, since it is no token.
DECLARATION = re.compile(r"<[!?/][^>]*(?:>|\Z)")


@accelerated()
def decode_all(text: str) -> str:
    """*text* with its character references decoded; no length of a number can make it fail."""
    if "&" not in text:
        return text
    return ANY_REFERENCE.sub(lambda found: decode(found[0]), text)


def _decoded(part: str) -> str:
    """A slice of the cleaned source without declarations, with references decoded."""
    return decode_all(DECLARATION.sub(" ", part) if "<" in part else part)


@accelerated(lambda: (_ROLES, _decoded), "TextRuns")
def _runs_of(tokens: Tokens, kept: Bools) -> tuple[Indices, Indices, bytes, list[str], bool]:
    """The columns of `Runs`. A page may have a run for each of its words."""
    starts, ends = run_bounds(kept & ~tokens.is_tag)
    if not len(starts):
        return starts, ends, b"", [], True
    begins, stops = tokens.clean_start[starts].tolist(), tokens.clean_end[ends - 1].tolist()
    clean = (tokens.clean[begin:stop] for begin, stop in zip(begins, stops, strict=True))
    texts = [" ".join(_decoded(each).split()) for each in clean]
    gaps = _gaps_before(tokens, starts, ends)
    return starts, ends, gaps, texts, all(map(str.isprintable, texts))


def _gaps_before(tokens: Tokens, starts: Indices, ends: Indices) -> bytes:
    """What is before each of the runs from *starts* to *ends*, as `Runs` has it."""
    is_tag = tokens.is_tag
    begin = np.flatnonzero(np.append(True, ~is_tag[: starts[0]]))[-1]
    roles = np.frombuffer(_ROLES, np.uint8)[tokens.tag] & ~(_OPENS * tokens.kind)
    is_blank = np.append(False, tokens.clean_start[1:] > tokens.clean_end[:-1])  # before each token
    gaps = bytearray()
    for first, start in zip([begin, *ends[:-1]], starts, strict=True):
        gap = _gap_of(roles[first:start][is_tag[first:start]].tolist())
        space = _SPACE * bool(is_blank[first : start + 1].any())
        gaps.append(gap if gap & _JOINT else gap | space)
    gaps[0] &= ~_JOINT
    return bytes(gaps)


def _gap_of(roles: Iterable[int]) -> int:
    """What the tags with these *roles* make of a gap."""
    level = marks = 0
    for role in roles:
        level = min(level + (role & _JOINT), PARAGRAPH)
        marks = role | (marks & ~_OPENS_ITEM if role & _OF_LIST else marks)
    return marks & ~_JOINT | level


# --- items of lists ---

DASH: Final = "- "
LONGEST_TAG: Final = 200  # characters of it that are read
_START: Final = re.compile(r"""\sstart\s*=\s*["']?(\d{1,9})(?!\d)""", re.IGNORECASE)


def _paragraphs_with(bits: int) -> bytes:
    """The gaps before paragraphs that have these *bits*, as in a class of a pattern."""
    found = (gap for gap in range(256) if gap & _JOINT == PARAGRAPH and gap & bits == bits)
    return b"".join(b"\\x%02x" % gap for gap in found)


_ITEM_RUNS: Final = re.compile(
    b"[%b][^%b]*(?=[%b]|\\Z)" % tuple(map(_paragraphs_with, (_OPENS_ITEM, 0, _OF_LIST)))
)


def _items_of(gaps: bytes) -> tuple[list[int], list[int]]:
    """The runs that begin an item of a list, by the *gaps* before all, and those on the next line.

    An item is a paragraph: it begins behind the tag of an item, and a tag of a list is behind it.
    """
    found = [*_ITEM_RUNS.finditer(bytes([gaps[0] | PARAGRAPH]) + gaps[1:])]
    tight = (after.start() for one, after in pairwise(found) if one.end() == after.start())
    return [each.start() for each in found], [n for n in tight if not gaps[n] & _OF_BLOCK]


def _marks(tokens: Tokens, starts: Indices) -> list[str]:
    """The marks of the items whose texts begin at *starts*."""
    if not len(starts) or TAG_NUMBERS["ol"] not in tokens.tag[: starts[-1]].tobytes():
        return [DASH] * len(starts)  # as of most lists
    before = slice(0, int(starts[-1]))
    opens = _opening(tokens, ORDERED, before)
    ends = np.where(tokens.partner[opens] >= 0, tokens.partner[opens], len(tokens))
    is_around = starts.searchsorted(opens) < starts.searchsorted(ends)
    if not np.count_nonzero(is_around):
        return [DASH] * len(starts)  # the ordered lists are elsewhere
    every, ordered = _opening(tokens, ITEM, before), {*opens.tolist()}
    items = every[every.searchsorted(starts) - 1]
    numbers: dict[int, int] = {}
    marks: dict[int, str] = {}
    inside = every[every.searchsorted(opens[is_around.argmax()]) :].tolist()
    for item, around in zip(inside, _lists_around(tokens, inside), strict=True):
        if around in ordered:
            number = numbers[around] + 1 if around in numbers else _first(tokens, around)
            numbers[around] = number
            marks[item] = f"{number}. "
    return [marks.get(item, DASH) for item in items.tolist()]


def _opening(tokens: Tokens, names: frozenset[str], part: slice) -> Indices:
    """The opening tags with one of *names* in a *part*, which begins with the page."""
    return (is_tag_of(tokens, names, part) & np.equal(tokens.kind[part], OPEN)).nonzero()[0]


def _lists_around(tokens: Tokens, items: list[int]) -> Iterator[int]:
    """The innermost list around each of the *items*; -1 for none."""
    is_list, tag, unclosed = tag_table(LISTS), tokens.tag.data, tokens.unclosed.data
    known = {-1: -1}  # by what is around them
    for item in items:
        passed: list[int] = []
        at = unclosed[item - 1] if item else -1
        while at not in known and not is_list[tag[at]]:
            passed.append(at)
            at = unclosed[at - 1] if at else -1
        found = known.get(at, at)
        for each in passed:
            known[each] = found
        yield found


def _first(tokens: Tokens, ordered_list: int) -> int:
    """The number of the first item."""
    start = tokens.start[ordered_list]
    found = _START.search(tokens.source, start, min(tokens.end[ordered_list], start + LONGEST_TAG))
    return int(found[1]) if found else 1


# --- tables of data ---

TABLE: Final = frozenset({"table"})
_ROW, _TD, _TH = (TAG_NUMBERS[name] for name in ("tr", "td", "th"))
# Words. Of the tables of 5,117 labelled pages of which the model keeps a part, those with data have
# at most 32 in a cell, and lists of notes at least 52.
LONGEST_CELL: Final = 40


@accelerated(lambda: (_ROLES,))
def tables_with_rows(tokens: Tokens) -> tuple[Indices, Indices]:
    """The tables that have rows and columns, and neither tables nor lines in a cell.

    Their opening and their closing tags, ascending.
    """
    runs = Runs(*_runs_of(tokens, mask_inside(tokens, element_starts(tokens, TABLE))))
    first = np.array(sorted(_Rows.of(tokens, runs).data) if runs.texts else (), np.intp)
    return first, tokens.partner[first].astype(np.intp)


def are_data(tokens: Tokens, tables: tuple[Indices, Indices], some: Indices) -> Bools:
    """Whether *some* of the `tables_with_rows`, one at least, have data; others cost nothing.

    Tables of links lead elsewhere, and those with prose in a cell, such as lists of notes, only lay
    it out.
    """
    first, last = (each[some] for each in tables)
    part = slice(first[0], last.max() + 1)
    words = np.equal(tokens.kind[part], WORD).nonzero()[0] + part.start
    of_links = _are_of_links(tokens, part, words, (first, last))
    return ~(of_links | _have_prose(tokens, part, words, tables)[some])


def _are_of_links(
    tokens: Tokens, part: slice, words: Indices, tables: tuple[Indices, Indices]
) -> Bools:
    """bool[n_tables]: whether half of the words are linked, or half of the runs with words."""
    links = element_starts(tokens, LINK).nonzero()[0]
    closed = np.sort(tokens.partner[links])
    linked = prefix_sums(links.searchsorted(words) > closed.searchsorted(words))
    runs = run_bounds(np.greater(tokens.kind[part], CLOSE))
    starts, ends = (words.searchsorted(each + part.start) for each in runs)
    starts, ends = (each[starts < ends] for each in (starts, ends))
    linked_runs = prefix_sums(linked[ends] - linked[starts] == ends - starts)
    first, last = (words.searchsorted(each) for each in tables)
    begin, end = (starts.searchsorted(each) for each in (first, last))
    by_words: Bools = 2 * (linked[last] - linked[first]) >= last - first
    by_runs: Bools = 2 * (linked_runs[end] - linked_runs[begin]) >= end - begin
    return by_words | by_runs


def _have_prose(
    tokens: Tokens, part: slice, words: Indices, tables: tuple[Indices, Indices]
) -> Bools:
    """bool[n_tables]: whether a cell has more words than `LONGEST_CELL`."""
    first, last = tables
    opens = is_tag_of(tokens, CELL, part) & np.equal(tokens.kind[part], OPEN)
    cells = opens.nonzero()[0] + part.start
    table = first.searchsorted(cells) - 1  # the last that begins before each
    ends = np.minimum(np.append(cells[1:], part.stop)[: len(cells)], last[table])
    n_words = words.searchsorted(ends) - words.searchsorted(cells)
    has_prose = (cells < last[table]) & (n_words > LONGEST_CELL)
    return np.greater(np.bincount(table[has_prose], minlength=len(first)), 0)


def row_joints(tokens: Tokens, runs: Runs) -> Iterator[tuple[int, str]]:
    """The gaps between the cells and rows of data tables, and what is there in the text."""
    between = {gap & (_OPENS_CELL | _OPENS_ROW | _OF_CAPTION) for gap in {*runs.gaps[1:]}}
    if not between >= {_OPENS_CELL, _OPENS_CELL | _OPENS_ROW}:  # no rows of cells, as in layouts
        return
    rows = _Rows.of(tokens, runs)
    if not rows.data:
        return
    opening = (tokens.tag * (tokens.kind == OPEN)).tobytes()
    joint_of = cache(_joint)  # of the few ways in which cells follow one another
    of_gaps = rows.right, rows.has_cell, rows.is_between, runs.ends[:-1], runs.starts[1:]
    columns = (column.tolist() for column in of_gaps)
    for gap, (table, has_cell, is_between, begin, end) in enumerate(zip(*columns, strict=True)):
        if has_cell and table in rows.data:
            joint = joint_of(opening[begin:end])
            # What is not between two cells is the first row, below other text.
            yield gap, joint if is_between else "\n" + joint


class _Rows(NamedTuple):
    """What is known of tables from the gaps between the runs of a text: one row a gap."""

    right: Ints  # int32[n_gaps]: the table of the run behind it, -1 for none
    has_cell: Bools  # bool[n_gaps]: whether a cell begins in it
    is_between: Bools  # bool[n_gaps]: whether it is between two cells of a table
    data: set[int]  # the tables that have data

    @classmethod
    def of(cls, tokens: Tokens, runs: Runs) -> _Rows:
        gaps = np.frombuffer(runs.gaps, np.uint8)[1:]
        has_cell, has_row, has_caption = (
            gaps & bit > 0 for bit in (_OPENS_CELL, _OPENS_ROW, _OF_CAPTION)
        )
        starts = element_starts(tokens, TABLE).nonzero()[0]
        edges, table = innermost(starts, tokens.partner[starts])
        left, right = (
            table[edges.searchsorted(at)] for at in (runs.ends[:-1] - 1, runs.starts[1:])
        )
        around_left, around_right = (table[edges.searchsorted(each)] for each in (left, right))
        inside = (left == right) & (left >= 0)
        is_between = inside & has_cell & ~has_caption
        is_row = is_between & has_row
        breaks = (gaps & _JOINT > 0) & (gaps & _JOINT < _SPACE)
        bad = (
            left[inside & ~has_cell & ~has_caption & breaks],  # more lines in a cell
            left[(left != right) & (right >= 0) & (around_right == left)],  # a table in a cell
            right[(left != right) & (left >= 0) & (around_left == right)],
        )
        rows, cells, others = (
            {*each.tolist()}
            for each in (left[is_row], left[is_between & ~is_row], np.concatenate(bad))
        )
        return cls(right, has_cell, is_between, (rows & cells) - others)


def _joint(opening: bytes) -> str:
    """A tab for each cell that begins, in the last row that does; those of empty cells, too.

    By the numbers of the *opening* tags.
    """
    row = opening.rfind(_ROW)
    count = opening.count(_TD, max(row, 0)) + opening.count(_TH, max(row, 0))
    return "\n" + "\t" * (count - 1) if row >= 0 else "\t" * count


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
