"""What the predicted span loses: everything after a boundary, and elements that are no text.

The paper cuts a span at its first ``<hr>``, which often separates an article from its comments.
Inside an article's block it found two rules to be enough: news text has few links, and embedded
things show something or lead elsewhere. Only elements that open and close inside the span count, so
that a container around the whole text is never removed. Boundaries and rules are tables; deleting a
row deletes the behaviour.

What the paper does without training is here, too: simple MSS, its baseline, where words score 1 and
tags a penalty; and the test for an article, which has at least two paragraphs and eight sentences,
as menus, galleries and teasers seldom do. How certain a classifier is of the span that it chose is
the mean of its tokens' probabilities, which the scores give back: score = probability - 1/2.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from scrapy_mss.core.subsequence import EMPTY, Span
from scrapy_mss.markup.tags import TAG_NUMBERS, tag_numbers
from scrapy_mss.markup.tokens import (
    OPEN,
    Bools,
    Floats,
    Indices,
    Ints,
    Tokens,
    is_tag_of,
    mask_runs,
    prefix_sums,
)


@dataclass(frozen=True, slots=True)
class Boundary:
    """A tag that ends an article, and why."""

    tag: str
    why: str


HORIZONTAL_RULE = Boundary(
    "hr", "news articles contain no rule, but one often separates them from comments"
)


def cut_at_boundary(
    span: Span, tokens: Tokens, scores: Floats, boundaries: tuple[Boundary, ...]
) -> Span:
    """*span* up to its first boundary tag."""
    if not boundaries or span.start == span.end:
        return span
    numbers = [TAG_NUMBERS[boundary.tag] for boundary in boundaries]
    inside = slice(span.start, span.end)
    found = np.flatnonzero((tokens.kind[inside] == OPEN) & np.isin(tokens.tag[inside], numbers))
    if not len(found):
        return span
    end = span.start + int(found[0])
    return Span(span.start, end, float(scores[span.start : end].sum()))


@dataclass(frozen=True, slots=True)
class Rule:
    """Elements that are removed; with *containing*, only those that contain one of these."""

    name: str
    elements: frozenset[str]
    why: str
    containing: frozenset[str] = frozenset()

    def matches(self, tokens: Tokens, span: Span) -> tuple[Indices, Ints]:
        """The opening and the closing tags of what this rule removes from *span*."""
        part = slice(span.start, span.end)
        named = is_tag_of(tokens, self.elements, part).nonzero()[0] + span.start
        opens = named[tokens.kind[named] == OPEN]
        closes = tokens.partner[opens]
        is_inside = (closes >= 0) & (closes < span.end)
        opens, closes = opens[is_inside], closes[is_inside]
        if self.containing:
            before = prefix_sums(is_tag_of(tokens, self.containing) & (tokens.kind == OPEN))
            chosen = before[closes] > before[opens + 1]
            opens, closes = opens[chosen], closes[chosen]
        return opens, closes


CODE = Rule("code", frozenset({"script", "style"}), "scripts and style sheets are no text")
EMBEDDED = Rule("embedded", frozenset({"iframe", "table"}), "frames and tables are no running text")
LINKED_DIV = Rule(
    "linked_div",
    frozenset({"div"}),
    "a box with a link or a picture leads elsewhere or shows something",
    containing=frozenset({"a", "iframe", "table", "img", "embed", "applet", "object"}),
)

PAPER_RULES = (CODE, EMBEDDED, LINKED_DIV)
CODE_ONLY = (CODE,)


def trimmed(tokens: Tokens, span: Span) -> Span:
    """*span* from its first word or symbol to its last: the block that the rules are about."""
    at = (~tokens.is_tag[span.start : span.end]).nonzero()[0]
    if not len(at):
        return EMPTY
    return Span(span.start + int(at[0]), span.start + int(at[-1]) + 1, span.value)


def keep(tokens: Tokens, span: Span, rules: tuple[Rule, ...]) -> Bools:
    """bool[n_tokens]: the tokens of *span* that no rule removes."""
    kept = np.zeros(len(tokens), np.bool_)
    kept[span.start : span.end] = True
    remove(tokens, span, rules, kept)
    return kept


def remove(tokens: Tokens, span: Span, rules: tuple[Rule, ...], kept: Bools) -> None:
    """Let *kept* (bool[n_tokens]) be none of what the rules remove from *span*."""
    tags = tokens.tag[span.start : span.end].tobytes()
    for rule in rules:
        if not any(number in tags for number in tag_numbers(rule.elements)):  # as most articles
            continue
        opens, closes = rule.matches(tokens, span)
        kept[opens] = kept[closes] = False
        if (closes > opens + 1).any():  # no script has a token inside
            kept &= ~mask_runs(len(tokens), opens, closes)


# --- without training ---

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
