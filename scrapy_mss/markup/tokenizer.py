r"""HTML source -> Tokens: never raises on markup, reads a character a bounded number of times.

Three steps:

1. Cleaning takes out what is never text, comments and what stands between script and style tags,
   and decodes letters that are written as references (``caf&eacute;`` is one word). The few places
   where something was taken out lead offsets back to the source.
2. Scanning cuts the cleaned text into pieces that leave nothing out: a tag, a word, white space, a
   reference, a symbol. Four symbols or more in a row are one, and what no page shows (controls,
   halves of surrogate pairs) is white space. The pieces' lengths alone give their positions, and
   each distinct piece is looked up once in a table of codes. The compiled part walks over the same
   pieces without making an object of each.
3. Nesting pairs the tags by the paper's stack.

Where the standard and readers' interest differ we keep text. A tag or an attribute's quote that is
never closed swallows the rest of the page, as a script that is never closed does in a browser, too;
a comment that is never closed ends at its first ``>``. Cleaning does not look at quotes: a ``<!--``
or ``<script>`` inside an attribute begins a comment or a script there, too.

A page with more tokens than its length pays for ends where they are too many.

Every alternative of the expressions consumes what it looked at and none can fail after a long
look, so hostile markup costs what ordinary markup costs.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache
from hashlib import blake2b
from itertools import accumulate
from typing import Any

import numpy as np

from scrapy_mss.markup.compiled import accelerated
from scrapy_mss.markup.references import ANY_REFERENCE, REFERENCE, decode
from scrapy_mss.markup.stemming import Normalizer, Stem, normalizer, own_stemmer, porter
from scrapy_mss.markup.tags import TAG_NUMBERS, UNKNOWN_TAG
from scrapy_mss.markup.tokens import (
    CJK,
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
    Counts,
    Indices,
    Ints,
    TokenIds,
    Tokens,
)

# A token takes as much memory wherever it stands; a page of "&a" repeated has one for each byte.
# Of 3,600 pages the densest had one for five bytes, Chinese text one for three.
DENSEST = 2  # bytes of source for each token; what follows is not read
MIN_TOKENS = 2**15  # that any page may have

_NO_TOKEN = 1 << 11  # of a piece's code, a bit that a token id leaves free

# Four symbols in a row are an ornament or noise, not four symbols of a text; nor do angle brackets
# and ampersands count that precede another of their kind. Without this rule a page of symbols would
# cost ten times what a page of words does.
_SYMBOL_RUN = r"[^\w\s<&]{4,}|<+(?=<)|[&#]+(?=&)"

# White space, and what no page shows: controls and halves of surrogate pairs.
_BLANK = r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]+"


def tokenize(source: str, stem: Stem = porter) -> Tokens:
    """The tokens of an HTML page, or of any other text; words are told apart by their *stem*."""
    return _affordable(Tokens(source, *_columns(source, stem)))


def _affordable(tokens: Tokens) -> Tokens:
    """The *tokens* up to the last that the length of the source pays for: views of them."""
    source, n = tokens.source, len(tokens)
    if n <= max(MIN_TOKENS, len(source) // DENSEST):  # the bytes need not be counted
        return tokens
    n = max(MIN_TOKENS, len(source.encode("utf-8", "surrogatepass")) // DENSEST)
    columns: dict[str, Any] = {
        name: column[:n] for name, column in vars(tokens).items() if isinstance(column, np.ndarray)
    }
    columns["partner"] = np.where(columns["partner"] < n, columns["partner"], np.int32(-1))
    return replace(tokens, **columns)


def word_ids(text: str) -> list[int]:
    """The ids of the words of a short *text*, an attribute's value for example, in their order."""
    _, ids, *_ = _columns(text, porter)
    return [each for each in ids.tolist() if each & KIND_MASK == WORD]


def _tables() -> tuple[object, ...]:
    """What the compiled part asks for, which remembers by itself what short pieces mean."""
    return _codes, _packed, tuple(name.encode() for name in HIDING), _NO_TOKEN


def _codes(stem: Stem) -> tuple[object, ...]:
    """How pieces are coded by a *stem*: short ones, long ones, and words, which are hashed."""
    codes = _codes_of(stem)
    return codes.code, codes.__getitem__, own_stemmer(stem), normalizer(stem), _BLAKE2B


@accelerated(_tables, "Tokenizer")
def _columns(source: str, stem: Stem) -> tuple[Any, ...]:
    """The columns of `Tokens` but for the source."""
    clean, places, shifts = _cleaned(source)
    token_id, clean_start, clean_end = _scan(clean, stem)
    kind, tag, unclosed, partner = _nesting(token_id)
    # A start at a place where something was taken out stands behind it, an end before it.
    start = clean_start + shifts[places.searchsorted(2 * clean_start, side="right")]
    end = clean_end + shifts[places.searchsorted(2 * clean_end)]
    return clean, token_id, kind, tag, start, end, clean_start, clean_end, unclosed, partner


# --- cleaning ---

# Possessive quantifiers keep no state a repetition, which matters on a tag with a million
# attributes; before Python 3.11 there are none, and such a tag takes memory for a moment.
_P = "+" if sys.version_info >= (3, 11) else ""

_QUOTED = rf"""(?:"[^"]*{_P}(?:"|\Z)|'[^']*{_P}(?:'|\Z))"""
TAG = rf"</?[a-zA-Z][^=>]*{_P}(?:=(?:\s*{_P}{_QUOTED})?{_P}[^=>]*{_P})*{_P}(?:>|\Z)"
TAG_PATTERN = re.compile(TAG)

# Elements whose content is taken out. ASCII: where case is ignored, "s" is also the long s, which
# makes no script.
HIDING = ("script", "style")
_HIDDEN = re.compile(rf"<!--|<((?ai:{'|'.join(HIDING)}))(?=[\s/>])")
_CLOSING = {name: re.compile(rf"</(?ai:{name})(?=[\s/>])") for name in HIDING}

_LETTER_BITS = 21  # of each of the letters of a reference, in one number for the compiled part


def _cleaned(source: str) -> tuple[str, Counts, Ints]:
    """*source* without what is never text; where in it, and by how much, offsets shift.

    The places are in half characters: a decoded letter shifts what follows from within itself,
    where no token begins or ends. The first shift, of 0, is that before all of them.
    """
    parts, places, shifts = list[str](), list[int](), [0]
    position = 0
    for start, end, letters in _edits(source):
        parts += source[position:start], letters
        position = end
        shifts.append(shifts[-1] + end - start - len(letters))
        places.append(2 * (end - shifts[-1]) - bool(letters))
    text = "".join((*parts, source[position:]))
    return text, np.array(places, np.int64), np.array(shifts, np.int32)


def _edits(source: str) -> Iterator[tuple[int, int, str]]:
    """What is taken out of a source: from where to where, and the letters instead."""
    position = 0
    for start, end in _hidden(source):
        yield from _letters(source, position, start)
        yield start, end, ""
        position = end
    yield from _letters(source, position, len(source))


def _letters(source: str, start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """The references that stand for letters, and these."""
    for found in ANY_REFERENCE.finditer(source, start, end):
        text = decode(found[0])
        if text.isalnum():
            yield *found.span(), text


def _hidden(source: str) -> Iterator[tuple[int, int]]:
    """From where to where the comments, and what stands in scripts and styles."""
    last_comment_end, position = source.rfind("-->"), 0
    while found := _HIDDEN.search(source, position):
        start, position = found.span()
        if found[1] is None:
            ending = "-->" if start + 2 <= last_comment_end else ">"
            end = source.find(ending, start + 2 if ending == "-->" else position)
            position = end + len(ending) if end >= 0 else len(source)
            yield start, position
        else:
            tag = TAG_PATTERN.match(source, start)
            content = tag.end() if tag else start
            closing = _CLOSING[found[1].lower()].search(source, content)
            position = closing.start() if closing else len(source)
            yield content, position


@lru_cache(2**12)
def _packed(reference: str) -> int:
    """The letters or digits that *reference* stands for, in a number; 0 if it stands for others."""
    text = decode(reference)
    if not text.isalnum():
        return 0
    return sum(ord(letter) << n * _LETTER_BITS for n, letter in enumerate(text))


# --- scanning ---


_DECLARATION = r"<[!?/][^>]*(?:>|\Z)"
_PIECE = re.compile(
    rf"{TAG}|[^\W{CJK}]+|[{CJK}]|{_BLANK}|{REFERENCE}|{_DECLARATION}|{_SYMBOL_RUN}|.", re.DOTALL
)
_ANY_BLANK = re.compile(_BLANK)
_BLAKE2B = blake2b(digest_size=8)
_TAG_NAME = re.compile(r"</?([a-zA-Z][^\s/>]*)")


def _scan(text: str, stem: Stem) -> tuple[TokenIds, Ints, Ints]:
    """The id, the start and the end of each token of a cleaned *text*."""
    pieces = _PIECE.findall(text)
    codes = np.fromiter(map(_codes_of(stem).__getitem__, pieces), np.uint64, len(pieces))
    ends = np.fromiter(accumulate(map(len, pieces)), np.int32, len(pieces))
    starts = np.append(np.int32(0), ends)[:-1]
    is_token = codes & np.uint64(_NO_TOKEN) == 0
    return codes[is_token], starts[is_token], ends[is_token]


class _Codes(dict[str, int]):
    """What a piece is, worked out once for each distinct short piece, and again when it is full."""

    LIMIT = 2**16  # pieces: about 13 MB, and the working set of a news crawl
    LONGEST_KEPT = 48  # characters: tags with addresses in them do not come twice

    def __init__(self, stem: Stem) -> None:
        super().__init__()
        self._normal = normalizer(stem)

    def __missing__(self, piece: str) -> int:
        code = self.code(piece)
        if len(self) >= self.LIMIT:
            self.clear()
        if len(piece) <= self.LONGEST_KEPT:
            self[piece] = code
        return code

    def code(self, piece: str) -> int:
        """The token id of *piece*, with a flag for what is no token."""
        first = piece[0]
        if first == "<" and len(piece) > 1 and piece[1] != "<":
            return _tag_code(piece)
        if first == "&" and len(piece) > 1:
            return _text_code(decode(piece).strip(), self._normal)
        return _text_code(piece, self._normal)


_codes_of = cache(_Codes)  # a table for each of the two stemmers


def _tag_code(piece: str) -> int:
    found = _TAG_NAME.match(piece)
    if not found:
        return _NO_TOKEN  # a declaration
    kind = CLOSE if piece[1] == "/" else OPEN
    return TAG_NUMBERS.get(found[1].lower(), UNKNOWN_TAG) << KIND_BITS | kind


def _text_code(text: str, normal: Normalizer) -> int:
    if not text:
        return _NO_TOKEN
    first = text[0]
    if first.isalnum() or first == "_":
        return _hash(normal(text)) | WORD
    return _NO_TOKEN if _ANY_BLANK.match(text) else _hash(text) | SYMBOL


def _hash(text: str) -> int:
    state = _BLAKE2B.copy()  # in less time than another one
    state.update(text.encode("utf-8", "surrogatepass"))
    return int.from_bytes(state.digest(), "little") >> HASH_SHIFT << HASH_SHIFT


# --- nesting: the paper's stack ---
#
# An opening tag goes on top, a closing tag unwinds to its match, and one without a match changes
# nothing. How many of each name are open is kept beside the stack, so that a closing tag without a
# match is known without a look through it.


def _nesting(token_id: TokenIds) -> tuple[Bytes, Bytes, Ints, Ints]:
    """The kind and tag of each token, its most recent unclosed tag, its partner; -1 for none."""
    kind = token_id.astype(np.uint8) & np.uint8(KIND_MASK)
    tag = (token_id >> np.uint64(KIND_BITS)).astype(np.uint8) * (kind <= CLOSE)
    unclosed, partner = array("i"), np.full(len(kind), -1, np.int32)
    open_tags: list[int] = []
    n_open = [0] * (TAG_MASK + 1)
    for at, (what, name) in enumerate(zip(kind.tobytes(), tag.tobytes(), strict=True)):
        if what == OPEN:
            open_tags.append(at)
            n_open[name] += 1
        elif what == CLOSE and n_open[name]:
            while True:
                top = open_tags.pop()
                n_open[tag[top]] -= 1
                if tag[top] == name:
                    break
            partner[top], partner[at] = at, top
        unclosed.append(open_tags[-1] if open_tags else -1)
    return kind, tag, np.array(unclosed, np.int32), partner


def nearest_ancestors(tokens: Tokens, chosen: Bools) -> Ints:
    """int32[n_tokens]: the innermost of the *chosen* elements around each token, or -1.

    An opening tag is outside its own element, a closing tag inside.
    """
    starts = chosen.nonzero()[0]
    ends = tokens.partner[starts]
    if np.minimum.reduce(ends, initial=0) < 0:
        unclosed = np.append(np.int32(-1), tokens.unclosed)[: len(tokens)]
        return nearest(unclosed.astype(np.int32, copy=False), chosen)
    edges, found = innermost(starts, ends)
    return found.repeat(np.diff(edges + 1, prepend=0, append=len(tokens)))


def innermost(starts: Indices, ends: Ints) -> tuple[Indices, Ints]:
    """The tags of elements from *starts* to *ends*, and the innermost element behind so many."""
    edges = np.sort(np.concatenate((starts, ends)))
    opening = {*starts.tolist()}
    around = [-1]  # those that are open, outermost first
    found = [-1]  # behind no edge, behind the first, and so on
    for edge in edges.tolist():
        if edge in opening:
            around.append(edge)
        else:
            around.pop()
        found.append(around[-1])
    return edges, np.array(found, np.int32)


def nearest(parent: Ints, chosen: Bools) -> Ints:
    """int32[n]: the nearest of the *chosen* on the way from each to its *parent* and on; or -1."""
    at = np.arange(len(parent), dtype=np.int32)
    # Where a look leads from each, and at last from none; each look goes twice as far.
    further = np.append(np.where(chosen, at, parent), np.int32(-1))
    while not np.array_equal(parent, further[parent]):
        parent, further = further[parent], further[further]
    return parent
