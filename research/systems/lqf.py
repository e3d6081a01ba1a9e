"""Link Quota Filter (Mantratzis, Orgun and Cassidy, 2005): what is mostly links goes.

The method finds lists of links as elements whose text is for the most part the text of links;
for extraction it is turned round and the rest of the page is kept. The sources leave open how
much is too much, here half of the words, and which elements are looked at: here those that begin a
paragraph, since any link in running text is an element of nothing but link, and not the page
itself. Each is judged by all that it holds, so that a container goes with an article in it if
most of its words are links.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from research.systems.tokenwise import TokenSystem
from scrapy_mss.markup.tags import BLOCK_TAGS
from scrapy_mss.markup.tokens import (
    Bools,
    Tokens,
    element_starts,
    linked_words,
    mask_inside,
    sum_inside,
)

QUOTA: Final = 0.5  # more links than other words
JUDGED: Final = BLOCK_TAGS - {"html", "body"}


class LinkQuotaFilter(TokenSystem):
    """All but the blocks in which more than *quota* of the words are links."""

    def __init__(self, *, quota: float = QUOTA) -> None:
        self.quota = quota

    def kept(self, tokens: Tokens) -> Bools:
        lists = element_starts(tokens, JUDGED)
        blocks = np.flatnonzero(lists)
        words = sum_inside(tokens, blocks, tokens.is_word)
        links = sum_inside(tokens, blocks, linked_words(tokens))
        lists[blocks] = links > self.quota * words
        return ~mask_inside(tokens, lists)
