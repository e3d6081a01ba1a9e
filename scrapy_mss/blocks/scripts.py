"""In which script a page is written, by the first letters of its words."""

from __future__ import annotations

from typing import Final

import numpy as np

from scrapy_mss.blocks.page import Page
from scrapy_mss.markup.tokens import Bools

# Where letters of another script begin. What has several scripts, as Japanese, is by its first.
LATIN, GREEK, CYRILLIC, HEBREW, ARABIC, INDIC, THAI, HANGUL, KANA, HAN = range(1, 11)
NAMES: Final = "other latin greek cyrillic hebrew arabic indic thai korean japanese chinese".split()
SCRIPTS: Final = (
    *((0x41, LATIN), (0x370, GREEK), (0x400, CYRILLIC), (0x530, 0), (0x590, HEBREW)),
    *((0x600, ARABIC), (0x780, 0), (0x900, INDIC), (0xE00, THAI), (0xE80, 0), (0x1100, HANGUL)),
    *((0x1200, 0), (0x1E00, LATIN), (0x1F00, GREEK), (0x2000, 0), (0x3040, KANA), (0x3100, 0)),
    *((0x3400, HAN), (0xA000, 0), (0xAC00, HANGUL), (0xD7B0, 0)),
)
SCRIPT_SAMPLE: Final = 200  # words, of which the first characters count
KANA_WEIGHT: Final = 4  # of Japanese text, half is Chinese characters

_BOUNDS = np.array([0, *(start for start, _ in SCRIPTS)])
_SCRIPT_AT = np.array([0, *(script for _, script in SCRIPTS)])


def script_of(page: Page, likely: Bools) -> int:
    """The script of the *likely* blocks (bool[n]), or of all; 0 for one that is not told apart."""
    tokens, text = page.tokens, page.blocks.text
    found = text[np.repeat(likely, page.blocks.n_texts)]
    words = (found if len(found) else text)[:SCRIPT_SAMPLE]
    first = "".join([tokens.clean[start] for start in tokens.clean_start[words].tolist()])
    letters = np.frombuffer(first.encode("utf-32-le", "surrogatepass"), np.uint32)
    counts = np.bincount(_SCRIPT_AT[_BOUNDS.searchsorted(letters, "right") - 1], minlength=HAN + 1)
    counts[0] = 0
    if counts[HAN]:
        counts[KANA] *= KANA_WEIGHT
    return int(counts.argmax())
