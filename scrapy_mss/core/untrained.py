"""What the paper does without training: simple MSS and the test for an article.

Simple MSS is its baseline: words score 1, tags a penalty. An article has at least two paragraphs
and eight sentences; menus, galleries and teasers seldom do. How certain a classifier is of the span
that it chose is the mean of its tokens' probabilities, which the scores give back:
score = probability - 1/2.
"""

from __future__ import annotations

import re

import numpy as np

from scrapy_mss.core.subsequence import Span
from scrapy_mss.markup.tokens import Floats, Tokens

TAG_PENALTY = -3.25  # the paper's, tuned on its training pages
MIN_PARAGRAPHS = 2
MIN_SENTENCES = 8

_SENTENCE_END = re.compile(
    r"[.!?\u2026\u0964\u061f\u06d4](?=[\"'\u201d\u2019\u00bb)\]]*(?:\s|$))|[\u3002\uff01\uff1f]"
)


def simple_scores(tokens: Tokens, tag_penalty: float = TAG_PENALTY) -> Floats:
    """1 for each word and symbol, *tag_penalty* for each tag: float64[n_tokens]."""
    return np.where(tokens.is_tag, tag_penalty, 1.0)


def is_article(text: str) -> bool:
    """Whether *text*, with paragraphs separated by empty lines, is long enough to be an article."""
    paragraphs = text.count("\n\n") + bool(text)
    return paragraphs >= MIN_PARAGRAPHS and count_sentences(text) >= MIN_SENTENCES


def count_sentences(text: str) -> int:
    """How often a sentence ends in *text*."""
    return sum(1 for _ in _SENTENCE_END.finditer(text))


def span_probability(scores: Floats, span: Span) -> float:
    """The mean probability of the span's tokens; 0 for an empty span."""
    if span.start == span.end:
        return 0.0
    mean = float(scores[span.start : span.end].mean())
    return min(1.0, max(0.0, mean + 0.5))
