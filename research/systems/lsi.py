"""Largest Size Increase (Han, Buttler and Pu, 2001): the element that puts the text together.

From the leaves upwards each element holds the text of those in it; the main text is the element
with which the size grows most. The sources leave open against which child. Here it is the
largest: against the mean child, the page as a whole would nearly always win, since it has the
most text and many small children. Size is characters of text, links' text too. The page counts
as an element, so that text in none is not lost; of equal ones the first wins, the page before all.
"""

from __future__ import annotations

import numpy as np

from research.systems.tokenwise import SpanSystem
from scrapy_mss.core.subsequence import Span
from scrapy_mss.markup.tokenizer import nearest_ancestors
from scrapy_mss.markup.tokens import Tokens, element_starts, sum_inside


class LargestSizeIncrease(SpanSystem):
    """The element that holds the most characters more than the largest element in it."""

    def span(self, tokens: Tokens) -> Span:
        chosen = element_starts(tokens)
        opens = np.flatnonzero(chosen)
        lengths = (tokens.clean_end - tokens.clean_start) * ~tokens.is_tag
        sizes = sum_inside(tokens, opens, lengths)
        # The last place is the page's: an element that is in no other has the parent -1.
        largest = np.zeros(len(tokens) + 1, np.int64)
        np.maximum.at(largest, nearest_ancestors(tokens, chosen)[opens], sizes)
        increases = np.append(lengths.sum() - largest[-1], sizes - largest[opens])
        winner = int(np.argmax(increases))
        start, last = 0, len(tokens) - 1
        if winner:
            start = int(opens[winner - 1])
            last = int(tokens.partner[start])
        return Span(start, last + 1, float(increases[winner]))
