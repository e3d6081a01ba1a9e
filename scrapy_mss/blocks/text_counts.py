"""How many words and symbols of each block are of a class: capitals, digits, commas, and others.

The classes are those of the first character, but for the last, which all symbols are in. They are
bits of a byte, so that one look at a character tells all of them, and one walk over the texts of a
page counts them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.page import Page, Texts
from scrapy_mss.markup.compiled import accelerated
from scrapy_mss.markup.tokens import SYMBOL, Bytes, Floats, Tokens

SENTENCE_ENDS = ".!?\u2026\u3002\uff01\uff1f\u061f\u06d4\u0964"
COMMAS = ",;\u060c\u061b\u3001\uff0c"
QUOTES = "\"'\u00ab\u00bb\u2018\u2019\u201c\u201d\u201e\u300c\u300d"
CLOSERS = SENTENCE_ENDS + '"\u00bb\u201d:)'

LAST_CODE = 0xFFFF  # no character
_N_CODES = 0x2000  # letters with a case and digits are below, but for wide and rare forms
_CHARACTERS: dict[str, Iterable[str]] = {
    "capital": [chr(code) for code in range(_N_CODES) if chr(code).isupper()],
    "digit": [chr(code) for code in range(_N_CODES) if chr(code).isdigit()],
    "sentence_end": SENTENCE_ENDS,
    "comma": COMMAS,
    "quote": QUOTES,
    "closer": CLOSERS,
    "colon": ":",
}
CLASSES = (*_CHARACTERS, "symbol")
_EACH_BIT = np.uint8(1) << np.arange(len(CLASSES), dtype=np.uint8)
BITS: dict[str, np.uint8] = dict(zip(CLASSES, _EACH_BIT, strict=True))


def _table() -> Bytes:
    """uint8[65536]: the bits of each character's classes."""
    table = np.zeros(LAST_CODE + 1, np.uint8)
    for name, characters in _CHARACTERS.items():
        table[[ord(character) for character in characters]] |= BITS[name]
    return table


_TABLE = _table()


class TextCounts(NamedTuple):
    """What is counted of the words and symbols of a page's blocks."""

    counts: Floats  # float64[len(CLASSES), n]: how many are of each class
    letters: Floats  # float64[n]: the characters of the words
    ends: dict[str, Bytes]  # uint8[n]: the classes of the "first" of each block, and of the "last"

    def of(self, name: str) -> Floats:
        """float64[n]: how many words and symbols of each block are of a class."""
        counts: Floats = self.counts[CLASSES.index(name)]
        return counts


def text_counts(page: Page) -> TextCounts:
    """The counts of a page's texts."""
    counts, letters, first, last = _counts(page.tokens, page.texts)
    return TextCounts(counts, letters, {"first": first, "last": last})


@accelerated(lambda: (_TABLE,), "TextCounter")
def _counts(tokens: Tokens, texts: Texts) -> tuple[Floats, Floats, Bytes, Bytes]:
    """How many texts of each block are of each class; letters; the classes of the ends."""
    codes = _character_codes(tokens.clean)[tokens.clean_start[texts.token]]
    is_symbol = tokens.kind[texts.token] == SYMBOL
    classes = _TABLE.take(codes, mode="clip") | is_symbol * BITS["symbol"]
    lengths = (tokens.clean_end - tokens.clean_start)[texts.token] * ~is_symbol
    counts = (texts.count(classes & bit != 0) for bit in _EACH_BIT)  # together they are too large
    return (
        np.array(list(counts), np.float64),
        np.add.reduceat(lengths, texts.first, dtype=np.int64).astype(np.float64),
        classes[texts.first],
        classes[texts.first + texts.size - 1],
    )


def _character_codes(text: str) -> NDArray[np.unsignedinteger[Any]]:
    """uint8[n] or uint32[n]: the code of each character of *text*."""
    if text.isascii():
        return np.frombuffer(text.encode("ascii"), np.uint8)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
