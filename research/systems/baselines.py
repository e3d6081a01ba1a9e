"""What needs no training: simple MSS, the longest table cell or div, all text."""

from __future__ import annotations

import numpy as np

from research.systems.tokenwise import SpanSystem
from scrapy_mss.core.cleaning import TAG_PENALTY, simple_scores
from scrapy_mss.core.subsequence import Span, best_span
from scrapy_mss.markup.tokens import Tokens, element_starts

CELLS = frozenset({"td", "div"})


class SimpleMss(SpanSystem):
    """The paper's second baseline: words and signs count 1, tags *penalty*."""

    def __init__(self, *, penalty: float = TAG_PENALTY) -> None:
        self.penalty = penalty

    def span(self, tokens: Tokens) -> Span:
        return best_span(simple_scores(tokens, self.penalty))


class LongestBlock(SpanSystem):
    """The paper's first baseline: the table cell or div that holds the most characters."""

    def span(self, tokens: Tokens) -> Span:
        opens = np.flatnonzero(element_starts(tokens, CELLS))
        if not len(opens):
            return Span(0, len(tokens), 0.0)
        length = (tokens.clean_end - tokens.clean_start) * ~tokens.is_tag
        before = np.concatenate(([0], np.cumsum(length)))
        closes = tokens.partner[opens]
        held = before[closes] - before[opens]
        longest = int(np.argmax(held))
        return Span(int(opens[longest]), int(closes[longest]) + 1, float(held[longest]))


class AllText(SpanSystem):
    """Every word of the page: what any extraction has to better."""

    def span(self, tokens: Tokens) -> Span:
        return Span(0, len(tokens), 0.0)
