"""What was decided about each block of a page, and why.

A block is kept if its probability is above the threshold, it is in the article's span, and it is no
second copy. What weighed in its probability are `reasons`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.reasons import LABELS
from scrapy_mss.blocks.selection import Selection
from scrapy_mss.markup.tokens import Bools, Floats

LEAST_EFFECT = 0.1  # log-odds: .5 becomes .525


class Fate(Enum):
    """What became of a block."""

    KEPT = "kept"
    IMPROBABLE = "below the threshold"
    OUTSIDE = "outside the article's span"
    COPY = "a second copy of text that is kept"
    TITLE = "the page's title, which no page shows"
    CLEANED = "removed, as no part of a text"
    LEFT_OUT = "left out by a rule of the site"


@dataclass(frozen=True, slots=True)
class Reason:
    """What speaks for a block, or against it where *effect*, in log-odds, is below 0."""

    name: str
    label: str
    effect: float


@dataclass(frozen=True, slots=True)
class ExplainedBlock:
    """A block: its first and last token, and what was decided; the weightiest of ``reasons`` first.

    ``reasons`` are why its ``probability`` is what it is.
    """

    first: int
    last: int
    probability: float
    fate: Fate
    reasons: tuple[Reason, ...]


def explained_blocks(
    page: Page, probability: Floats, found: Sequence[Fate], effects: Mapping[str, Floats]
) -> tuple[ExplainedBlock, ...]:
    """The blocks of *page* by their *probability* (float64[n]), and what became of each.

    *effects* are what each group of inputs said, by its name: float64[n].
    """
    edges = zip(page.blocks.first.tolist(), page.blocks.last.tolist(), strict=True)
    return tuple(
        ExplainedBlock(
            first,
            last,
            float(probability[number]),
            found[number],
            _reasons({name: float(effect[number]) for name, effect in effects.items()}),
        )
        for number, (first, last) in enumerate(edges)
    )


def fates(page: Page, chosen: Selection, kept: Bools) -> list[Fate]:
    """What became of each block: which were *chosen*, and which tokens were *kept* of those."""
    steps: tuple[tuple[Bools, Fate], ...] = (
        (page.blocks.count(kept & page.tokens.is_word) > 0, Fate.KEPT),
        (chosen.kept, Fate.CLEANED),
        (page.in_title, Fate.TITLE),
        (~chosen.above, Fate.IMPROBABLE),
        (chosen.copied, Fate.COPY),
        (np.ones(len(page.blocks), np.bool_), Fate.OUTSIDE),
    )
    return [next(fate for holds, fate in steps if holds[n]) for n in range(len(page.blocks))]


def _reasons(effects: Mapping[str, float]) -> tuple[Reason, ...]:
    found = [
        Reason(name, LABELS[name], effect)
        for name, effect in effects.items()
        if abs(effect) >= LEAST_EFFECT
    ]
    return tuple(sorted(found, key=lambda reason: -abs(reason.effect)))
