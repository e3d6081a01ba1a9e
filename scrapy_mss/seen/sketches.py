"""A bottom-k sketch of a text's passages, by which copies in other papers are recognized.

Each passage, a few consecutive words, is hashed to a number. The smallest numbers are a
sample of the passages, drawn in the same way from every text: the share of numbers that two texts
have in common estimates the share of passages in common, whatever was left out, added or
moved. The very smallest are the keys of an index. (Broder 1997; one permutation, so
that a text costs one sort instead of a hundred passes.)

Numbers are stored, so the hash is our own: no library guarantees the same values in its next
release.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.uint32]

SIZE: Final = 96  # numbers of a sketch: a share of a half is known to a twentieth
KEYS: Final = 12  # of them ask the index: of texts that share a half, one in 4,000 is not found
WORDS: Final = 5  # of a passage; four are a phrase that strangers use, six halve under an edit
CHARACTERS: Final = 10  # of a passage where no spaces are between words
LONGEST: Final = 50_000  # characters that are read: nine of ten thousand articles are shorter
MIN_PASSAGES: Final = 20  # passages; what is shorter is a caption, and says little of its own

# Above what different pages of a site share, by `python -m research.studies.stories`.
OF_BOTH: Final = 0.3
OF_SHORTER: Final = 0.6
SAME: Final = 0.9

# Letters, digits, and the marks that belong to letters but which \w leaves out.
_WORDS = re.compile(
    r"[\w\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0970-\u0dff\u0e00-\u109f"
    r"\u1780-\u17d3]+"
)
_WITHOUT_SPACES = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
)
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, its bits well spread: 2**64 by the golden ratio
_HALF = np.uint64(32)


class Likeness(NamedTuple):
    """How much two texts have in common, as shares of their passages."""

    of_both: float  # Jaccard's index
    of_shorter: float

    @property
    def is_copy(self) -> bool:
        """Whether one is a copy of the other, cut and edited as papers do that."""
        return self.of_both >= OF_BOTH and self.of_shorter >= OF_SHORTER

    @property
    def is_same(self) -> bool:
        """Whether one of them is enough in the index to find the copies of both."""
        return self.of_both >= SAME


def sketch(text: str) -> Numbers | None:
    """uint32[at most SIZE], ascending: the sample of *text*; None if that is too short."""
    words, length = _words(text[:LONGEST].lower())
    count = len(words) - length + 1
    if count < MIN_PASSAGES:
        return None
    codes = np.fromiter((crc32(each.encode("utf-8", "replace")) for each in words), np.uint64)
    mixed = np.zeros(count, np.uint64)
    for position in range(length):
        mixed = (mixed + codes[position : position + count]) * _FACTOR
    mixed ^= mixed >> _HALF
    mixed *= _FACTOR
    found = np.unique((mixed >> _HALF).astype(np.uint32))[:SIZE]
    return found if len(found) >= MIN_PASSAGES else None


def words_of(text: str) -> list[str]:
    """The words of *text*; a clause is one where no spaces are between words."""
    return _WORDS.findall(text)


def has_no_spaces(text: str) -> int:
    """How many characters of *text* are of scripts without spaces between words."""
    return 0 if text.isascii() else len(_WITHOUT_SPACES.findall(text))


def _words(text: str) -> tuple[list[str], int]:
    """The words of *text*, or its characters, and how many make a passage."""
    words = words_of(text)
    if 2 * has_no_spaces(text) > sum(map(len, words)):
        return [character for word in words for character in word], CHARACTERS
    return words, WORDS


def keys_of(sketch: Numbers | None) -> list[int]:
    """The keys of the index for a sketch; [] without one."""
    keys: list[int] = [] if sketch is None else sketch[:KEYS].tolist()
    return keys


def likeness(one: Numbers, other: Numbers) -> Likeness:
    """How much the texts of two sketches have in common.

    A full sketch says nothing of numbers above its last: only those below are compared.
    """
    last = min((int(each[-1]) for each in (one, other) if len(each) == SIZE), default=2**32 - 1)
    one, other = one[one <= last], other[other <= last]
    shared = len(np.intersect1d(one, other, assume_unique=True))
    shorter = min(len(one), len(other))
    return Likeness(shared / (len(one) + len(other) - shared), shared / shorter if shorter else 0.0)
