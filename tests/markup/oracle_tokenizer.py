"""A tokenizer that walks character by character, written from the documentation alone.

It shares nothing with the library's but the tables of tag names and of scripts without spaces.
Two walks: the first takes out what is never text and decodes letters written as references,
the second cuts what is left. A `Cell` is a piece of cleaned text with its place in the source.
Stems are nltk's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from html import unescape
from html.entities import html5
from typing import NamedTuple
from unicodedata import category

from nltk.stem.porter import PorterStemmer

from scrapy_mss.markup.tags import TAG_NAMES
from scrapy_mss.markup.tokens import CJK, CLOSE, OPEN, SYMBOL, WORD

DIGITS = "0123456789"
HEX_DIGITS = DIGITS + "abcdefABCDEF"
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
IDEOGRAPH = re.compile(f"[{CJK}]")
LONGEST_REFERENCE = 40
MAX_STEMMED = 40
SHORTEST_RUN = 4  # of symbols that make one symbol
PORTER = PorterStemmer(mode=PorterStemmer.ORIGINAL_ALGORITHM)


class Cell(NamedTuple):
    """Cleaned text (a character, or a reference's letters) and what it stands for."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Token:
    """What is known of a token without arrays; *text* is the cleaned text."""

    kind: int
    token_id: int
    start: int
    end: int
    text: str
    tag: int = 0


def tokens_of(source: str) -> list[Token]:
    """All tokens of *source*."""
    cells = [cell for part in cleaned(source) for cell in _single(part)]
    return cut("".join(cell.text for cell in cells), cells)


def _single(cell: Cell) -> list[Cell]:
    """A cell for each character, so that indices into text and cells are the same."""
    return [Cell(letter, cell.start, cell.end) for letter in cell.text]


def cleaned(source: str) -> list[Cell]:
    """The first walk."""
    cells: list[Cell] = []
    at = 0
    while at < len(source):
        if source.startswith("<!--", at):
            at = after_comment(source, at)
        elif hidden := opens_hidden(source, at):
            content = after_tag(source, at)
            cells += [Cell(source[i], i, i + 1) for i in range(at, content)]
            at = find_closing(source, content, hidden)
        elif length := reference_length(source, at):
            letters = decoded(source[at : at + length])
            if letters.isalnum():
                cells.append(Cell(letters, at, at + length))
            else:
                cells += [Cell(source[i], i, i + 1) for i in range(at, at + length)]
            at += length
        else:
            cells.append(Cell(source[at], at, at + 1))
            at += 1
    return cells


def after_comment(source: str, at: int) -> int:
    """After the comment; one that is never closed ends at its first ">"."""
    for i in range(at + 2, len(source)):
        if source[i : i + 3] == "-->":
            return i + 3
    for i in range(at + 4, len(source)):
        if source[i] == ">":
            return i + 1
    return len(source)


def opens_hidden(source: str, at: int) -> str:
    """The name of the script or style that opens here."""
    for name in ("script", "style"):
        after = at + 1 + len(name)
        if source[at] == "<" and _same_letters(source[at + 1 : after], name):
            following = source[after : after + 1]
            if following and (following.isspace() or following in "/>"):
                return name
    return ""


def _same_letters(text: str, name: str) -> bool:
    return text.isascii() and text.lower() == name


def find_closing(source: str, at: int, name: str) -> int:
    """Where the script's or style's closing tag begins."""
    for i in range(at, len(source)):
        if source[i : i + 2] == "</":
            after = i + 2 + len(name)
            following = source[after : after + 1]
            if _same_letters(source[i + 2 : after], name) and (
                following and (following.isspace() or following in "/>")
            ):
                return i
    return len(source)


def after_tag(text: str, at: int) -> int:
    """After the tag that begins here: a ">" between quotes that follow a "=" is no end."""
    quote = ""
    may_quote = False  # whether only blanks are between here and a "="
    for i in range(at + 1, len(text)):
        letter = text[i]
        if quote:
            if letter == quote:
                quote = ""
        elif letter == ">":
            return i + 1
        elif letter == "=":
            may_quote = True
        elif may_quote and letter in "\"'":
            quote, may_quote = letter, False
        elif not letter.isspace():
            may_quote = False
    return len(text)


def reference_length(text: str, at: int) -> int:
    """How long the character reference is that begins here; 0 if none does."""
    if text[at] != "&":
        return 0
    if text[at + 1 : at + 2] == "#":
        begins, digits = at + 2, DIGITS
        if text[begins : begins + 1] in ("x", "X"):
            begins, digits = begins + 1, HEX_DIGITS
        ends = _run(text, begins, digits)
        return ends - at + text.startswith(";", ends) if ends > begins else 0
    if text[at + 1 : at + 2] not in tuple(LETTERS):
        return 0
    ends = _run(text, at + 1, LETTERS + DIGITS)
    if text.startswith(";", ends):
        return ends + 1 - at
    for shorter in range(min(ends, at + LONGEST_REFERENCE), at, -1):
        if text[at + 1 : shorter] in html5:
            return shorter - at
    return 0


def _run(text: str, at: int, alphabet: str) -> int:
    while at < len(text) and text[at] in alphabet:
        at += 1
    return at


def decoded(reference: str) -> str:
    """What a reference stands for; overlong numbers for nothing, overlong names for themselves."""
    if len(reference) > LONGEST_REFERENCE:
        return "\ufffd" if reference[1] == "#" else reference
    return unescape(reference)


def cut(text: str, cells: Sequence[Cell]) -> list[Token]:
    """The second walk."""
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        end, found = _piece(text, at)
        if found is not None:
            kind, token_id, tag = found
            place = cells[at].start, cells[end - 1].end
            tokens.append(Token(kind, token_id, *place, text[at:end], tag))
        at = end
    return tokens


def _piece(text: str, at: int) -> tuple[int, tuple[int, int, int] | None]:
    """Where the piece that begins here ends, and the token it is: kind, id, tag number."""
    letter, following = text[at], text[at + 1 : at + 2]
    if letter == "<":
        name_at = at + 1 + (following == "/")
        if text[name_at : name_at + 1] in tuple(LETTERS):
            return after_tag(text, at), _tag(text, name_at)
        if following and following in "!?/":
            found = text.find(">", at)
            return (found + 1 if found >= 0 else len(text)), None
    if is_blank(letter):
        return at + 1, None
    if length := reference_length(text, at):
        meaning = decoded(text[at : at + length]).strip()
        return at + length, None if not meaning or is_blank(meaning[0]) else _text(meaning)
    if IDEOGRAPH.match(letter):
        return at + 1, _text(letter)
    end = at
    while end < len(text) and _in_word(text[end]):
        end += 1
    if end == at:
        end += symbol_length(text, at)
    return end, _text(text[at:end])


def is_blank(letter: str) -> bool:
    """Whether a page shows nothing for it: white space, controls, halves of surrogate pairs."""
    return letter.isspace() or category(letter) in {"Cc", "Cs"}


def symbol_length(text: str, at: int) -> int:
    """How many symbols make one: "<" and "&" before another "<" or "&", of others four and more."""
    end = at
    if text[at] == "<":
        while text.startswith("<<", end):
            end += 1
        return max(1, end - at)
    while end < len(text) and _is_symbol(text[end]):
        end += 1
    if end - at >= SHORTEST_RUN:
        return end - at
    if text[at] in "&#":
        return max(1, text.rfind("&", at, _run(text, at, "&#")) - at)
    return 1


def _is_symbol(letter: str) -> bool:
    return not (letter.isalnum() or letter.isspace() or letter in "_<&")


def _in_word(letter: str) -> bool:
    return (letter.isalnum() or letter == "_") and not IDEOGRAPH.match(letter)


def _tag(text: str, name_at: int) -> tuple[int, int, int]:
    end = name_at
    while end < len(text) and not text[end].isspace() and text[end] not in "/>":
        end += 1
    name = text[name_at:end].lower()
    number = TAG_NAMES.index(name) if name in TAG_NAMES else 0
    kind = CLOSE if text[name_at - 1] == "/" else OPEN
    return kind, number * 4 + kind, number


def _text(text: str) -> tuple[int, int, int]:
    if text[0].isalnum() or text[0] == "_":
        return WORD, hashed(stem(text)) + WORD, 0
    return SYMBOL, hashed(text) + SYMBOL, 0


def stem(word: str) -> str:
    """The normal form of a word: its stem, or 1 for a number."""
    if word.isdigit():
        return "1"
    if len(word.lower()) > MAX_STEMMED or not word.lower().isascii():
        return word.lower()
    return str(PORTER.stem(word.lower(), to_lowercase=False))


def hashed(text: str) -> int:
    """The high 52 bits of the text's hash."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 12 << 12


def nesting(tags: Sequence[tuple[int, bool]]) -> tuple[list[int], list[int]]:
    """For (name, is it closing) of each tag: the top of the stack after it, and its partner."""
    stack: list[int] = []
    tops, partners = [], [-1] * len(tags)
    for i, (name, closing) in enumerate(tags):
        if not closing:
            stack.append(i)
        elif any(tags[j][0] == name for j in stack):
            while tags[stack[-1]][0] != name:
                stack.pop()
            partners[i] = stack.pop()
            partners[partners[i]] = i
        tops.append(stack[-1] if stack else -1)
    return tops, partners
