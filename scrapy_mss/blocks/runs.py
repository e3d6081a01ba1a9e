"""What the model keeps at a place: its runs of kept blocks that pass through there.

A rule may say where the article is and not what in there is text. Of what the model keeps, the
blocks at the place stay, and those that follow one another without a gap from there: a headline's
standfirst, or a last paragraph of another kind, that the rule's element does not hold. What is kept
elsewhere on the page, with text between that is not kept, goes: comments, another story.
"""

from __future__ import annotations

import numpy as np

from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.selection import kept_tokens
from scrapy_mss.markup.tokens import Bools


def kept_at(page: Page, kept: Bools, place: Bools, excluded: Bools) -> Bools:
    """bool[n_tokens]: the runs of *kept* tokens through *place*, without what is *excluded*."""
    wanted = kept & ~excluded
    text = page.blocks.count(wanted & page.tokens.is_word) > 0
    at_place = page.blocks.count(place & ~page.tokens.is_tag) > 0
    run = np.cumsum(~text)
    passes = np.bincount(run, text & at_place) > 0
    return wanted & kept_tokens(page, text & passes[run])
