"""Kept tokens -> plain text, with the marks of lists or without, and -> well-formed HTML.

Text has paragraphs separated by an empty line and white space as a browser shows it. The text
between two tags is one slice of the cleaned source. What lies between two slices decides how they
are joined: a block's tag begins a paragraph, a line break a line (two of them a paragraph), other
tags nothing but the white space next to them. In `readable` text the cells of a row are on one
line, and an item of a list has its mark.

HTML is the page's own source with the tags opened and closed that cutting broke. It is as safe as
the page is: what may be shown comes from `scrapy_mss.output.sanitizing`.
"""

from __future__ import annotations

import re
from itertools import chain, compress
from typing import Final, NamedTuple

import numpy as np

from scrapy_mss.markup.compiled import accelerated
from scrapy_mss.markup.elements import Indices, is_tag_of, nearest_ancestors
from scrapy_mss.markup.references import decode_all
from scrapy_mss.markup.tags import BLOCK_TAGS, RAW_TEXT_TAGS, TAG_NAMES, TAG_NUMBERS, VOID_TAGS
from scrapy_mss.markup.text_runs import (
    PARAGRAPH,
    Gaps,
    between,
    gaps_between,
    row_joints,
    run_bounds,
    text_runs,
)
from scrapy_mss.markup.tokens import CLOSE, OPEN, Bools, Bytes, Ints, Tokens

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
_PORTION = re.compile(r"(?s).{1,65536}[^ ]*")  # of a text, up to a space


def render(tokens: Tokens, kept: Bools) -> str:
    """The text of the *kept* tokens (bool[n_tokens]), and not a character more."""
    starts, ends = text_runs(tokens, kept)
    if not len(starts):
        return ""
    joints = [_JOINTS[joint] for joint in _joints(tokens, starts, ends).tolist()]
    slices, is_plain = _slices(tokens, starts, ends)
    return _joined(slices, joints, is_plain=is_plain)


def readable(tokens: Tokens, kept: Bools) -> str:
    """The same as it is read: a row of a table is a line, an item of a list has its mark.

    What has nothing that anybody sees, such as a paragraph of a zero-width space, is left out.
    """
    starts, ends = text_runs(tokens, kept)
    slices, is_plain = _slices(tokens, starts, ends)
    seen = [part.isascii() or bool(part.strip(INVISIBLE)) for part in slices]
    if not all(seen):
        slices, starts, ends = list(compress(slices, seen)), starts[seen], ends[seen]
    if not slices:
        return ""
    levels = _joints(tokens, starts, ends)
    joints = [_JOINTS[joint] for joint in levels.tolist()]
    gaps = gaps_between(tokens, starts, ends, np.equal(levels, PARAGRAPH))
    for gap, cells in row_joints(gaps):
        joints[gap] = cells
    items = items_of(gaps)
    for gap in items.tight.tolist():
        joints[gap] = "\n"
    for number, mark in zip(items.slices.tolist(), items.marks, strict=True):
        slices[number] = mark + slices[number]
    return _joined(slices, joints, is_plain=is_plain)


def _slices(tokens: Tokens, starts: Indices, ends: Indices) -> tuple[list[str], bool]:
    """The text of each of the runs from *starts* to *ends*."""
    return slice_texts(tokens.clean, tokens.clean_start[starts], tokens.clean_end[ends - 1])


def _joined(slices: list[str], joints: list[str], *, is_plain: bool) -> str:
    parts = [""] * (2 * len(slices) - 1)
    parts[::2] = slices
    parts[1::2] = joints
    text = "".join(parts).strip()
    return _without_controls(text) if not is_plain and has_controls(text) else text


def _joints(tokens: Tokens, starts: Indices, ends: Indices) -> Bytes:
    """uint8[n_runs - 1]: which of ``_JOINTS`` is between each of the runs and the next."""
    levels, blanks = between(tokens, starts, ends)
    return np.where(levels == 0, np.uint8(_SPACE) * blanks, levels)


def _without_controls(text: str) -> str:
    """*text* with a space for each run of controls, and still no two spaces in a row."""
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
    portions = (" ".join(portion[0].split()) for portion in _PORTION.finditer(text))
    return " ".join(filter(None, portions))


def runs(kept: Bools) -> list[tuple[int, int]]:
    """The runs of true values, as (start, end)."""
    starts, ends = run_bounds(kept)
    return list(zip(starts.tolist(), ends.tolist(), strict=True))


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
    closing = (_name(tokens, i) for i in reversed(left_open) if not _is_void(tokens, i))
    return "".join((*reversed(missing), body, *(f"</{name}>" for name in closing)))


def _unpaired_raw_text(tokens: Tokens, kept: Bools) -> Bools:
    """bool[n_tokens]: the tags of raw text whose other tag is missing."""
    is_paired = (tokens.partner >= 0) & kept[tokens.partner]
    return is_tag_of(tokens, RAW_TEXT_TAGS) & ~is_paired


def _source(tokens: Tokens, kept: Bools) -> str:
    """The source of the kept tokens; words that only removed tokens separated get a space."""
    slices = runs(kept)
    if not slices:
        return ""
    separator = tokens.blank_before | is_tag_of(tokens, BLOCK_TAGS)
    separators = np.concatenate(([0], np.cumsum(separator)))
    starts, ends = np.array(slices).T
    separated = (separators[starts[1:] + 1] > separators[ends[:-1]]).tolist()
    parts = [tokens.html(*slices[0])]
    for (start, end), blank in zip(slices[1:], separated, strict=True):
        parts.append(" " * blank + tokens.html(start, end))
    return "".join(parts)


def _is_void(tokens: Tokens, index: int) -> bool:
    return TAG_NAMES[tokens.tag[index]] in VOID_TAGS


def _name(tokens: Tokens, index: int) -> str:
    found = _TAG_NAME.match(tokens.html(index, index + 1))
    return found[1].lower() if found else TAG_NAMES[tokens.tag[index]]


# --- the texts of slices ---

# A declaration between two words is part of the slice, since it is no token.
DECLARATION = re.compile(r"<[!?/][^>]*(?:>|\Z)")


def _decoded(part: str) -> str:
    """A slice of the cleaned source without declarations, with references decoded."""
    return decode_all(DECLARATION.sub(" ", part) if "<" in part else part)


@accelerated(lambda: (_decoded,), "Spacing")
def slice_texts(clean: str, starts: Ints, ends: Ints) -> tuple[list[str], bool]:
    """What a browser shows of *clean* from each of *starts* to *ends*; if all of it is printable.

    A page may have a slice for each of its words.
    """
    bounds = zip(starts.tolist(), ends.tolist(), strict=True)
    texts = [" ".join(_decoded(clean[start:end]).split()) for start, end in bounds]
    return texts, all(map(str.isprintable, texts))


# --- items of lists ---

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


_NO_ITEMS: Final = Items(np.zeros(0, np.intp), [], np.zeros(0, np.intp))


def items_of(gaps: Gaps) -> Items:
    """The items among the paragraphs that *gaps* divide."""
    if not len(gaps.tags(ITEM, opening=True)):
        return _NO_ITEMS
    tags = gaps.tags(ITEM | LISTS)
    between = gaps.divides.nonzero()[0]  # the gap after each paragraph but the last
    begins = np.concatenate(([0], between + 1))  # the first slice of each paragraph
    last = tags.searchsorted(gaps.starts[begins]) - 1
    tag = tags[np.maximum(last, 0)]
    is_item = (last >= 0) & (tag >= gaps.bounds()[begins])
    is_item &= (gaps.tokens.tag[tag] == TAG_NUMBERS["li"]) & (gaps.tokens.kind[tag] == OPEN)
    if not is_item.any():
        return _NO_ITEMS
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


# --- what no page shows ---

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]+")  # but for tabs and line ends
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
    """Whether *text* has what `CONTROLS` is: most texts are printable but for ends of lines."""
    return not text.replace("\n", "").isprintable() and CONTROLS.search(text) is not None
