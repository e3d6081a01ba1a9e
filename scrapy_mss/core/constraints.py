"""What an article does not cross: a predicted span is cut at the first such tag in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scrapy_mss.core.subsequence import Span
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokens import OPEN, Floats, Tokens


@dataclass(frozen=True, slots=True)
class Boundary:
    """A tag that ends an article, and why."""

    tag: str
    why: str


HORIZONTAL_RULE = Boundary(
    "hr", "news articles hold no rule, but one often parts them from comments"
)


def cut(span: Span, tokens: Tokens, scores: Floats, boundaries: tuple[Boundary, ...]) -> Span:
    """*span* without its first boundary tag and what stands behind it."""
    if not boundaries or span.start == span.end:
        return span
    barred = [TAG_NUMBERS[boundary.tag] for boundary in boundaries]
    inside = slice(span.start, span.end)
    found = np.flatnonzero((tokens.kind[inside] == OPEN) & np.isin(tokens.tag[inside], barred))
    if not len(found):
        return span
    end = span.start + int(found[0])
    return Span(span.start, end, float(scores[span.start : end].sum()))
