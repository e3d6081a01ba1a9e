r"""HTML source -> Tokens: never raises on markup, reads a character a bounded number of times.

Two steps, each one pass of a regular expression:

1. ``_clean`` takes out comments and what stands between script and style tags, and decodes
   letters that are written as references (``caf&eacute;`` is one word). The few places where
   something was taken out are kept, so that offsets can be led back to the source.
2. `piece_pattern` cuts the cleaned text into pieces that leave nothing out: a tag, a word with the
   space after it, white space, a reference, a symbol. Four symbols or more in a row are one, and
   what no page shows (controls, halves of surrogate pairs) is white space. Since nothing is left
   out, the pieces' lengths alone give their positions. Each distinct piece is looked up once in a
   table of codes; everything after the table is arrays.

Where the standard and readers' interest differ we keep text: a comment that is never closed
ends at its first ``>``. A script that is never closed, and a tag or an attribute's quote that
is never closed, swallow the rest of the page, as they do in a browser. Step 1 does not look at
quotes: a ``<!--`` or ``<script>`` inside an attribute begins a comment or a script there, too.

Every alternative of the expressions consumes what it looked at and none can fail after a long
look, so hostile markup costs what ordinary markup costs.
"""

from __future__ import annotations

import re
import sys
from array import array
from bisect import bisect_left
from functools import cache, lru_cache
from hashlib import blake2b
from html import unescape
from html.entities import html5
from itertools import groupby
from operator import itemgetter

import numpy as np

from scrapy_mss.markup.compiled import Memory, compiled_part
from scrapy_mss.markup.stemming import Stem, normalized, porter
from scrapy_mss.markup.tags import TAG_NUMBERS, UNKNOWN_TAG
from scrapy_mss.markup.tokens import (
    CLOSE,
    HASH_SHIFT,
    KIND_BITS,
    KIND_MASK,
    OPEN,
    SYMBOL,
    TAG_MASK,
    WORD,
    Bools,
    Bytes,
    Ints,
    TokenIds,
    Tokens,
)

# Flags of a piece's code, in the bits that a token id leaves free.
_SPACE_AFTER = 1 << 10
_NO_TOKEN = 1 << 11
_ID_MASK = ~(_SPACE_AFTER | _NO_TOKEN) & (1 << 64) - 1

# Ideographs and kana: scripts without spaces, where a character is the nearest thing to a word.
# With iteration marks and the ideographic zero, without the middle dot, which separates words.
CJK = (
    "\u3005-\u3007\u303b\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U0001b000-\U0001b16f\U00020000-\U000323af"
)
_FIRST_CJK = ord(CJK[0])

# Possessive quantifiers keep no state a repetition, which matters on a tag with a million
# attributes; before Python 3.11 there are none, and such a tag takes memory for a moment.
_P = "+" if sys.version_info >= (3, 11) else ""

_QUOTED = rf"""(?:"[^"]*{_P}(?:"|\Z)|'[^']*{_P}(?:'|\Z))"""
_TAG = rf"</?[a-zA-Z][^=>]*{_P}(?:=(?:\s*{_P}{_QUOTED})?{_P}[^=>]*{_P})*{_P}(?:>|\Z)"

# References that stand without a semicolon: the standard's closed list, in groups of one first
# letter, so that a "&" before something else costs one look and not one for each name.
_BARE_NAMES = "|".join(
    f"{letter}(?:{'|'.join(sorted((name[1:] for name in names), key=len, reverse=True))})"
    for letter, names in groupby(sorted(n for n in html5 if not n.endswith(";")), itemgetter(0))
)
_REFERENCE = (
    r"&(?:#(?:[0-9]+|[xX][0-9a-fA-F]+);?"
    rf"|(?=[a-zA-Z])(?:[a-zA-Z][a-zA-Z0-9]*;|{_BARE_NAMES}))"
)
# Four symbols in a row are an ornament or noise, not four symbols of a text; nor do angle brackets
# and ampersands count that precede another of their kind. Without this rule a page of symbols would
# cost ten times what a page of words does.
_SYMBOL_RUN = r"[^\w\s<&]{4,}|<+(?=<)|[&#]+(?=&)"

# White space, and what no page shows: controls and halves of surrogate pairs.
_BLANK = r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+"
_LONGEST_REFERENCE = 40  # of those that mean a character; the longest name has 33


@cache
def piece_pattern(*, cjk: bool) -> re.Pattern[str]:
    """One for pages with CJK text and one for others: the second is faster, and compiled sooner."""
    word = rf"[^\W{CJK}]+ ?|[{CJK}] ?" if cjk else r"\w+ ?"
    declaration = r"<[!?/][^>]*(?:>|\Z)"
    return re.compile(
        rf"{_TAG}|{word}|{_BLANK}|{_REFERENCE}|{declaration}|{_SYMBOL_RUN}|.", re.DOTALL
    )


@cache
def _any_cjk() -> re.Pattern[str]:
    return re.compile(f"[{CJK}]")


if (_compiled := compiled_part()) is not None:
    _compiled.pieces.prepare(re.findall("(.)(?:-(.))?", CJK), [n for n in html5 if not n.endswith(";")])

_ANY_BLANK = re.compile(_BLANK)
# ASCII: where case is ignored, "s" is also the long s, which makes no script.
_HIDDEN_OR_REFERENCE = re.compile(rf"<!--|<((?ai:script|style))(?=[\s/>])|{_REFERENCE}")
_MAY_HIDE = re.compile(r"<(?:!|/?[sS][cCtT])")  # whatever begins so is looked at closely
_TAG_END = re.compile(_TAG)
_CLOSING = {name: re.compile(rf"</(?ai:{name})(?=[\s/>])") for name in ("script", "style")}
_TAG_NAME = re.compile(r"</?([a-zA-Z][^\s/>]*)")


def decode(reference: str) -> str:
    """The text that a character reference stands for; the reference itself if for none."""
    if len(reference) > _LONGEST_REFERENCE:
        return "\ufffd" if reference.startswith("&#") else reference
    return _decode(reference)


_decode = lru_cache(2**12)(unescape)  # pages repeat few references, and unescape is slow
_ANY_REFERENCE = re.compile(_REFERENCE)


def decode_all(text: str) -> str:
    """*text* with its character references decoded; no length of a number can make it fail."""
    if "&" not in text:
        return text
    return _ANY_REFERENCE.sub(lambda found: decode(found[0]), text)


def tokenize(source: str, stem: Stem = porter) -> Tokens:
    """The tokens of an HTML page, or of any other text; words are told apart by their *stem*."""
    clean, places, shifts = _clean(source)
    token_id, starts, ends = _scan(clean, stem)
    kind = (token_id & np.uint64(KIND_MASK)).astype(np.uint8)
    is_tag = kind <= CLOSE
    tag = np.where(is_tag, token_id >> np.uint64(KIND_BITS) & np.uint64(TAG_MASK), 0)
    tag = tag.astype(np.uint8)
    unclosed, partner = _nesting(is_tag, kind, tag)
    start, end = _in_source(places, shifts, starts, ends)
    return Tokens(source, clean, token_id, kind, tag, start, end, starts, ends, unclosed, partner)


def word_ids(text: str) -> TokenIds:
    """The ids of the words of a short *text*, an attribute's value for example, in their order."""
    ids, _, _ = _scan(_clean(text)[0], porter)
    return ids[ids & np.uint64(KIND_MASK) == WORD]


def _scan(clean: str, stem: Stem) -> tuple[TokenIds, Ints, Ints]:
    """The id, the start and the end of each token of *clean*."""
    compiled = compiled_part()
    if compiled is None:
        return _scan_in_python(clean, stem)
    columns = compiled.pieces.scan(clean, _memory_of(stem), _NO_TOKEN)
    ids, starts, ends = map(np.asarray, columns)
    return ids, starts, ends


def _scan_in_python(clean: str, stem: Stem) -> tuple[TokenIds, Ints, Ints]:
    pieces = piece_pattern(cjk=_has_cjk(clean)).findall(clean)
    n_pieces = len(pieces)
    codes = np.fromiter(map(_codes_of(stem).__getitem__, pieces), np.uint64, n_pieces)
    ends = np.fromiter(map(len, pieces), np.int32, n_pieces).cumsum(dtype=np.int32)
    starts = np.concatenate((np.zeros(1, np.int32), ends[:-1])) if n_pieces else ends
    is_token = codes & np.uint64(_NO_TOKEN) == 0
    codes, starts, ends = codes[is_token], starts[is_token], ends[is_token]
    ends = ends - (codes & np.uint64(_SPACE_AFTER) != 0)
    return codes & np.uint64(_ID_MASK), starts, ends


def tag_sources(source: str) -> list[str]:
    """The source of every tag outside comments, scripts and styles, as `tokenize` sees it."""
    return _TAG_END.findall(_clean(source)[0])


def _has_cjk(text: str) -> bool:
    """Whether *text* holds an ideograph or kana; most texts hold few characters so far up."""
    if text.isascii():
        return False
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    high = codes[codes >= _FIRST_CJK].tobytes().decode("utf-32-le", "surrogatepass")
    return bool(_any_cjk().search(high))


class _Marks:
    """The *places* of *source* at which something may begin that is taken out, in their order."""

    def __init__(self, source: str, places: list[int]) -> None:
        self._source = source
        self._places = places
        self._next = 0

    def first(self, pattern: re.Pattern[str], position: int) -> re.Match[str] | None:
        """The first match of *pattern* at a place from *position* on; positions only grow."""
        source, places = self._source, self._places
        for number in range(bisect_left(places, position, self._next), len(places)):
            found = pattern.match(source, places[number])
            if found:
                self._next = number
                return found
        self._next = len(places)
        return None


def _marks(source: str) -> _Marks:
    """Where a comment, a script, a style or a letter written as a reference may begin."""
    compiled = compiled_part()
    if compiled is not None:
        return _Marks(source, compiled.pieces.marks(source, _letters()))
    places = [found.start() for found in _MAY_HIDE.finditer(source)]
    references = set(_ANY_REFERENCE.findall(source))
    if letters := set(filter(_is_letters, references)):
        found = _ANY_REFERENCE.finditer(source)
        places += [each.start() for each in found if each[0] in letters]
        places.sort()
    return _Marks(source, places)


@cache
def _letters() -> Memory:
    """Which references stand for letters or digits, as the compiled part remembers it."""
    compiled = compiled_part()
    assert compiled is not None
    return compiled.pieces.Memory(_is_letters)


def _is_letters(reference: str) -> bool:
    return decode(reference).isalnum()


def _clean(source: str) -> tuple[str, list[int], list[int]]:
    """*source* without what is hidden; where in the result, and by how much, offsets shift."""
    marks = _marks(source)
    kept: list[str] = []
    places, shifts = [0], [0]
    position = length = 0
    comments_end = True  # whether a "-->" is still ahead: looked for in vain at most once

    def keep(until: int, resume: int, instead: str = "") -> None:
        nonlocal position, length
        kept.extend((source[position:until], instead))
        length += until - position + len(instead)
        position = resume
        places.append(2 * length - bool(instead))
        shifts.append(resume - length)

    search_from = 0
    while found := marks.first(_HIDDEN_OR_REFERENCE, search_from):
        start, search_from = found.span()
        opener = found[0]
        if opener[0] == "&":
            letters = decode(opener)
            if letters.isalnum():
                keep(start, search_from, letters)
        elif opener == "<!--":
            close = source.find("-->", start + 2) if comments_end else -1
            comments_end = close >= 0
            search_from = close + 3 if comments_end else _after(source, ">", search_from)
            keep(start, search_from)
        else:
            content = _end_of_tag(source, start)
            closing = marks.first(_CLOSING[found[1].lower()], content)
            search_from = closing.start() if closing else len(source)
            keep(content, search_from)
    if not kept:
        return source, places, shifts
    kept.append(source[position:])
    return "".join(kept), places, shifts


def _after(source: str, what: str, position: int) -> int:
    found = source.find(what, position)
    return found + len(what) if found >= 0 else len(source)


def _end_of_tag(source: str, start: int) -> int:
    found = _TAG_END.match(source, start)
    return found.end() if found else start


def _in_source(places: list[int], shifts: list[int], starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """Offsets into the cleaned text led back to the source.

    A start at a place where something was taken out stands behind it, an end before it. Places
    are in half characters: a decoded letter shifts what follows from within itself, where no
    token begins or ends.
    """
    if len(places) == 1:
        return starts, ends
    at, more = np.array(places), np.diff(np.array(shifts, np.int32), prepend=np.int32(0))
    start = starts + _running(more, np.searchsorted(2 * starts, at, side="left"), len(starts))
    end = ends + _running(more, np.searchsorted(2 * ends, at, side="right"), len(ends))
    return start, end


def _running(more: Ints, first: Indices, n: int) -> Ints:
    """int32[n]: the sum of what is *more* from each *first* token on."""
    steps = np.zeros(n + 1, np.int32)
    np.add.at(steps, first, more)
    return np.cumsum(steps[:-1], dtype=np.int32)


def _nesting(is_tag: Bools, kind: Bytes, tag: Bytes) -> tuple[Ints, Ints]:
    """For each token its most recent unclosed tag, for each tag its partner.

    The paper's stack: an opening tag goes on top, a closing tag unwinds to its match, and one
    without a match changes nothing. How many of each name are open is kept beside the stack,
    so that a closing tag without a match is known without a look through it.
    """
    at = np.flatnonzero(is_tag).astype(np.int32)
    tops, partners = _nest(tag[at], kind[at] == CLOSE)
    partner = np.full(len(is_tag), -1, np.int32)
    # The extra -1 at the end stands for "none".
    at = np.append(at, np.int32(-1))
    partner[at[:-1]] = at[partners]
    tops = np.append(at[tops], np.int32(-1))
    return tops[np.cumsum(is_tag) - 1], partner


def _nest(tag: Bytes, is_close: Bools) -> tuple[Ints, Ints]:
    """The same among tags alone: both as numbers of tags, -1 where there is none."""
    compiled = compiled_part()
    if compiled is None:
        return _nest_in_python(tag, is_close)
    tops, partners = map(np.asarray, compiled.arrays.nest(tag.tobytes(), is_close.tobytes()))
    return tops, partners


def _nest_in_python(tag: Bytes, is_close: Bools) -> tuple[Ints, Ints]:
    names, closing = tag.tolist(), is_close.tolist()
    partner = np.full(len(names), -1, np.int32)
    stack: list[int] = []
    open_count = [0] * (TAG_MASK + 1)
    top_after = array("i")
    opened_at, closed_at = array("i"), array("i")
    for index, (name, is_closing) in enumerate(zip(names, closing, strict=True)):
        if not is_closing:
            stack.append(index)
            open_count[name] += 1
        elif open_count[name]:
            opened = -1
            while opened < 0 or names[opened] != name:
                opened = stack.pop()
                open_count[names[opened]] -= 1
            opened_at.append(opened)
            closed_at.append(index)
        top_after.append(stack[-1] if stack else -1)
    if opened_at:
        partner[opened_at], partner[closed_at] = closed_at, opened_at
    return np.array(top_after, np.int32), partner


class _Codes(dict[str, int]):
    """What a piece is, worked out once for each distinct short piece.

    Two generations bound it: when the young one is full it becomes the old one, and what is
    asked for again is promoted from there. Words of a language stay, the rest is evicted.
    """

    LIMIT = 2**16  # pieces a generation: about 13 MB, and the working set of a news crawl
    LONGEST_KEPT = 48  # characters: tags with addresses in them do not come twice

    def __init__(self, stem: Stem) -> None:
        super().__init__()
        self._stem = stem
        self._old: dict[str, int] = {}

    def __missing__(self, piece: str) -> int:
        if len(piece) > self.LONGEST_KEPT:
            tag = _TAG_NAME.match(piece)
            is_known = tag is not None and len(tag[0]) <= self.LONGEST_KEPT
            return self[tag[0]] if is_known else _code(piece, self._stem)
        code = self._old.get(piece)
        if code is None:
            code = _code(piece, self._stem)
        if len(self) >= self.LIMIT:
            self._old = dict(self)
            self.clear()
        self[piece] = code
        return code


_codes_of = cache(_Codes)  # a table for each of the two stemmers


@cache
def _memory_of(stem: Stem) -> Memory:
    """What the compiled part remembers of the codes of that *stem*."""
    compiled = compiled_part()
    assert compiled is not None
    return compiled.pieces.Memory(_codes_of(stem).__getitem__)


def _code(piece: str, stem: Stem) -> int:
    """The token id of *piece*, with flags for trailing space and for what is no token."""
    first = piece[0]
    if first == "<" and len(piece) > 1 and piece[1] != "<":
        return _tag_code(piece)
    if first == "&" and len(piece) > 1:
        return _text_code(decode(piece).strip(), stem)
    if piece[-1] == " ":
        return _text_code(piece[:-1], stem) | _SPACE_AFTER
    return _text_code(piece, stem)


def _tag_code(piece: str) -> int:
    found = _TAG_NAME.match(piece)
    if not found:
        return _NO_TOKEN  # a declaration
    kind = CLOSE if piece[1] == "/" else OPEN
    return TAG_NUMBERS.get(found[1].lower(), UNKNOWN_TAG) << KIND_BITS | kind


def _text_code(text: str, stem: Stem) -> int:
    if text and (text[0].isalnum() or text[0] == "_"):
        return _hash(normalized(text, stem)) | WORD
    if not text or _ANY_BLANK.match(text):
        return _NO_TOKEN
    return _hash(text) | SYMBOL


def _hash(text: str) -> int:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> HASH_SHIFT << HASH_SHIFT
