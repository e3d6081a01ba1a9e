"""What is removed inside the span, and how the rest becomes a well-formed block.

The paper found that inside an article's block two rules are enough: news text holds few links,
and what is embedded is there to show something or to lead somewhere. Only elements that open
and close inside the span count, so that a container around the whole text is never judged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from scrapy_mss.core.subsequence import EMPTY, Span
from scrapy_mss.markup.elements import covered, elements, named, totals
from scrapy_mss.markup.tags import BLOCK_TAGS, TAG_NAMES, VOID_TAGS
from scrapy_mss.markup.tokens import CLOSE, OPEN, Bools, Tokens


@dataclass(frozen=True, slots=True)
class Rule:
    """Elements that are removed; if *holding* is given, only those that hold one of these."""

    name: str
    elements: frozenset[str]
    why: str
    holding: frozenset[str] = frozenset()

    def matches(self, tokens: Tokens, span: Span) -> Bools:
        """bool[n_tokens]: what this rule removes from *span*, the elements' tags included."""
        inside = elements(tokens, self.elements) & (tokens.partner < span.end)
        opens = np.flatnonzero(inside[span.start : span.end]) + span.start
        closes = tokens.partner[opens]
        if self.holding:
            before = totals(named(tokens, self.holding) & (tokens.kind == OPEN))
            chosen = before[closes] > before[opens + 1]
            opens, closes = opens[chosen], closes[chosen]
        return covered(len(tokens), opens, closes)


CODE = Rule("code", frozenset({"script", "style"}), "scripts and style sheets are no text")
EMBEDDED = Rule("embedded", frozenset({"iframe", "table"}), "frames and tables are no running text")
LINKED_DIV = Rule(
    "linked_div",
    frozenset({"div"}),
    "a box with a link or a picture leads elsewhere or shows something",
    holding=frozenset({"a", "iframe", "table", "img", "embed", "applet", "object"}),
)

PAPER_RULES = (CODE, EMBEDDED, LINKED_DIV)
UNCLEANED = (CODE,)


def trimmed(tokens: Tokens, span: Span) -> Span:
    """*span* from its first word or sign to its last: the block that the rules speak of."""
    at = np.flatnonzero(~tokens.is_tag[span.start : span.end])
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


def runs(kept: Bools) -> list[tuple[int, int]]:
    """The runs of true values, as (start, end)."""
    edges = np.diff(np.concatenate(([False], kept, [False])).astype(np.int8))
    return list(
        zip(np.flatnonzero(edges > 0).tolist(), np.flatnonzero(edges < 0).tolist(), strict=True)
    )


_NAME = re.compile(r"</?([^\s/>]+)")


def well_formed(tokens: Tokens, kept: Bools) -> str:
    """The source of the kept tokens, with the tags opened and closed that it cuts.

    In between the source is exact: what is put right is what cutting broke, not the page's own
    mistakes. A closing tag whose opening tag was cut off gets it back as it stood in the page.
    """
    left_open: list[int] = []
    missing: list[str] = []
    tags = np.flatnonzero(kept & tokens.is_tag)
    for index, is_close, partner in zip(
        tags.tolist(),
        (tokens.kind[tags] == CLOSE).tolist(),
        tokens.partner[tags].tolist(),
        strict=True,
    ):
        if not is_close:
            left_open.append(index)
        elif partner >= 0 and kept[partner]:
            while left_open.pop() != partner:
                pass
        else:
            source = tokens.html(partner, partner + 1) if partner >= 0 else ""
            missing.append(source or f"<{_name(tokens, index)}>")
    body = _source(tokens, kept)
    closing = (_name(tokens, i) for i in reversed(left_open) if not _is_void(tokens, i))
    return "".join((*reversed(missing), body, *(f"</{name}>" for name in closing)))


def _source(tokens: Tokens, kept: Bools) -> str:
    """The source of the kept tokens, words apart that were apart by what is removed."""
    slices = runs(kept)
    if not slices:
        return ""
    parting = tokens.blank_before | named(tokens, BLOCK_TAGS)
    partings = np.concatenate(([0], np.cumsum(parting)))
    starts, ends = np.array(slices).T
    apart = (partings[starts[1:] + 1] > partings[ends[:-1]]).tolist()
    parts = [tokens.html(*slices[0])]
    for (start, end), blank in zip(slices[1:], apart, strict=True):
        parts.append(" " * blank + tokens.html(start, end))
    return "".join(parts)


def _is_void(tokens: Tokens, index: int) -> bool:
    return TAG_NAMES[tokens.tag[index]] in VOID_TAGS


def _name(tokens: Tokens, index: int) -> str:
    found = _NAME.match(tokens.html(index, index + 1))
    return found[1].lower() if found else TAG_NAMES[tokens.tag[index]]
