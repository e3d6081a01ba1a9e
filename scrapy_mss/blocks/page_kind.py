"""What tells a list of stories from a story: its dates, and opinions that do not agree.

Fronts, sections and pages of tags have running text too: teasers, several of one template, many of
them with a date. And where there is no article, each opinion finds another one, and few of them
what was kept. Nothing here depends on a language.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from scrapy_mss.blocks.opinions import OPINIONS
from scrapy_mss.blocks.page import Page
from scrapy_mss.markup.tokens import Bools, Floats


def times_in_text(page: Page, kept: Bools) -> int:
    """How many `<time>` there are between the first and the last of the *kept* blocks."""
    at = np.flatnonzero(kept)
    if not len(at):
        return 0
    first, last = page.blocks.first[at[0]], page.blocks.last[at[-1]]
    return int(page.tokens.is_open("time")[first : last + 1].sum())


def agreements(page: Page, kept: Bools, columns: Mapping[str, Floats]) -> list[float]:
    """The F1, by words, of what was *kept* and of what each opinion keeps that keeps anything.

    *columns* are the inputs of the block classifier.
    """
    words = page.blocks.words.astype(np.float64)
    n_kept = float(words[kept].sum())
    found = []
    for opinion in OPINIONS:
        if columns[f"share_of_{opinion.name}"].any():
            theirs = columns[f"opinion_{opinion.name}"] * words
            both = float(theirs[kept].sum())
            found.append(2.0 * both / max(n_kept + float(theirs.sum()), 1.0))
    return found
