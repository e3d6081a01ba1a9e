"""Body Text Extraction (Finn, Kushmerick and Smyth, 2001): one region, few tags in it.

The page is a row of words and tags; the main text is the region that maximises the number of
tags before it, words in it and tags behind it. Tags outside are all tags less those inside,
so that is the maximum subsequence of words at +1 and tags at -1: simple MSS with a penalty of
one. A sign is a part of the word that it stands at, and counts nothing.
"""

from __future__ import annotations

import numpy as np

from research.systems.tokenwise import SpanSystem
from scrapy_mss.core.subsequence import Span, best_span
from scrapy_mss.markup.tokens import Tokens


class BodyText(SpanSystem):
    """The region with the most words inside and tags outside."""

    def span(self, tokens: Tokens) -> Span:
        return best_span(np.where(tokens.is_tag, -1.0, tokens.is_word))
