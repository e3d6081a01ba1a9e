"""What the predicted span loses: everything after a boundary, and elements that are no text.

The paper cuts a span at its first ``<hr>``, which often separates an article from its comments.
Inside an article's block it found two rules to be enough: news text has few links, and embedded
things show something or lead elsewhere. Only elements that open and close inside the span count, so
that a container around the whole text is never removed. Boundaries and rules are tables; deleting a
row deletes the behaviour.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scrapy_mss.core.subsequence import EMPTY, Span
from scrapy_mss.markup.tags import TAG_NUMBERS
from scrapy_mss.markup.tokens import OPEN, Bools, Floats, Tokens, is_tag_of, mask_runs, prefix_sums


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

    def matches(self, tokens: Tokens, span: Span) -> Bools:
        """bool[n_tokens]: what this rule removes from *span*, the tags of elements included."""
        part = slice(span.start, span.end)
        named = is_tag_of(tokens, self.elements, part).nonzero()[0] + span.start
        opens = named[(tokens.kind[named] == OPEN) & (tokens.partner[named] >= 0)]
        opens = opens[tokens.partner[opens] < span.end]
        closes = tokens.partner[opens]
        if self.containing:
            before = prefix_sums(is_tag_of(tokens, self.containing) & (tokens.kind == OPEN))
            chosen = before[closes] > before[opens + 1]
            opens, closes = opens[chosen], closes[chosen]
        return mask_runs(len(tokens), opens, closes)


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
    for rule in rules:
        kept &= ~rule.matches(tokens, span)
    return kept
