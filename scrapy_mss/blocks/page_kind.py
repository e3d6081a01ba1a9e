"""What tells a list of stories from a story: its dates, and opinions that do not agree.

Fronts, sections and pages of tags have running text too: teasers, several of one template, many of
them with a date. And where there is no article, each opinion finds another one, and few of them
what was kept. Nothing here depends on a language.
"""

from __future__ import annotations

import numpy as np

from scrapy_mss.blocks.columns import Columns
from scrapy_mss.blocks.opinions import OPINIONS
from scrapy_mss.blocks.page import Page
from scrapy_mss.markup.tokens import Bools


def times_in_text(page: Page, kept: Bools) -> int:
    """How many `<time>` there are between the first and the last of the *kept* blocks."""
    at = kept.nonzero()[0]
    if not len(at):
        return 0
    first, last = page.blocks.first[at[0]], page.blocks.last[at[-1]]
    return int(np.count_nonzero(page.tokens.is_open("time")[first : last + 1]))


def agreements(page: Page, kept: Bools, columns: Columns) -> list[float]:
    """The F1, by words, of what was *kept* and of what each opinion keeps that keeps anything.

    *columns* are the inputs of the block classifier.
    """
    if not len(kept):
        return []
    words = page.words
    speaks = columns.some(_SHARES)[:, 0] > 0
    theirs = columns.some(_OPINIONS) * words
    both, size = np.add.reduce(theirs * kept, axis=1), np.add.reduce(theirs, axis=1)
    f1 = 2.0 * both / np.maximum(float(np.add.reduce(words[kept])) + size, 1.0)
    found: list[float] = f1[speaks].tolist()
    return found


_OPINIONS = tuple(f"opinion_{opinion.name}" for opinion in OPINIONS)
_SHARES = tuple(f"share_of_{opinion.name}" for opinion in OPINIONS)
