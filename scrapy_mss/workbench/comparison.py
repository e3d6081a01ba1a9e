"""Compares what a rule and the model select on a page.

Both are masks over the same tokens, so their differences are known by position: no texts are
compared, and the page is read only once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scrapy_mss.blocks.explanation import ExplainedBlock
from scrapy_mss.markup.tags import BLOCK_TAGS, TAG_NUMBERS
from scrapy_mss.markup.tokens import CLOSE, Bools, Indices, Tokens
from scrapy_mss.suggest.readings import SitePage

_BLOCKS: Final = [TAG_NUMBERS[name] for name in BLOCK_TAGS]
BOTH, RULE, MODEL, GAP = "both", "rule", "model", "gap"
AROUND: Final = 8  # words of agreement that are shown before and after a difference
MAX_WORDS: Final = 3_000  # of a page's differences
MAX_RUNS: Final = 300


@dataclass(frozen=True, slots=True)
class Run:
    """Words that the rule, the model or both keep; or a gap: words of both that are not shown."""

    kind: str
    text: str


def by_model(page: SitePage) -> Bools:
    """bool[n_tokens]: the article of the model; nothing on a page that is not an article."""
    kept: Bools = page.extraction.kept
    return kept if page.extraction.is_article else np.zeros_like(kept)


def blocks_inside(blocks: Sequence[ExplainedBlock], tokens: Tokens, inside: Bools) -> str:
    """A digit for each block: 1 if half of its words and symbols at least are *inside*."""
    counts = np.concatenate(([0], np.cumsum(tokens.kind > CLOSE)))
    within = np.concatenate(([0], np.cumsum(inside & (tokens.kind > CLOSE))))
    first = np.array([block.first for block in blocks], np.intp)
    after = np.array([block.last + 1 for block in blocks], np.intp)
    of_block, inside_it = counts[after] - counts[first], within[after] - within[first]
    return "".join(
        "01"[is_in] for is_in in ((2 * inside_it >= of_block) & (inside_it > 0)).tolist()
    )


def differences(tokens: Tokens, by_rule: Bools, by_model: Bools) -> list[Run]:
    """Where only the rule or only the model keeps words, with the words around."""
    at = np.flatnonzero((by_rule | by_model) & (tokens.kind > CLOSE))
    kinds = np.where(by_rule[at] & by_model[at], 0, np.where(by_rule[at], 1, 2))
    names = (BOTH, RULE, MODEL)
    edges = np.flatnonzero(np.diff(kinds, prepend=-1, append=-1))
    runs = [
        (names[int(kinds[start])], at[start:end])
        for start, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)
    ]
    if len(runs) == 1 and runs[0][0] == BOTH:
        return []
    return list(_shown(tokens, runs[:MAX_RUNS]))


def _shown(tokens: Tokens, runs: Sequence[tuple[str, Indices]]) -> Iterator[Run]:
    left = MAX_WORDS
    for number, (kind, at) in enumerate(runs):
        if left <= 0:
            yield Run(GAP, "…")
            return
        if kind != BOTH or len(at) <= 2 * AROUND:
            yield Run(kind, _text(tokens, at[:left]))
            left -= len(at)
            continue
        if number > 0:
            yield Run(BOTH, _text(tokens, at[:AROUND]))
        yield Run(GAP, f"{len(at):,}")
        if number < len(runs) - 1:
            yield Run(BOTH, _text(tokens, at[-AROUND:]))
        left -= 2 * AROUND


def _text(tokens: Tokens, at: Indices) -> str:
    """The words and symbols *at* these places, with a line end where a block begins or ends."""
    pieces: list[str] = []
    end, last = -1, -1
    for token in at.tolist():
        start = int(tokens.clean_start[token])
        if last >= 0 and start > end:
            is_new = np.isin(tokens.tag[last + 1 : token], _BLOCKS).any()
            pieces.append("\n" if is_new else " ")
        pieces.append(tokens.clean[start : int(tokens.clean_end[token])])
        end, last = int(tokens.clean_end[token]), token
    return "".join(pieces)
