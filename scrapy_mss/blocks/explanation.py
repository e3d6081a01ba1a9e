"""What was decided about each block of a page, and why.

A block is kept if its probability is above the threshold, it is in the article's span, and it is no
second copy; a data table is kept or left out as a whole. What weighed in its probability are
`reasons`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.reasons import LABELS
from scrapy_mss.blocks.selection import Selection
from scrapy_mss.markup.tokens import Bools, Floats

LEAST_EFFECT = 0.1  # log-odds: .5 becomes .525


class Decision(Enum):
    """What became of a block."""

    KEPT = "kept"
    IMPROBABLE = "below the threshold"
    OUTSIDE = "outside the article's span"
    COPY = "a second copy of text that is kept"
    TITLE = "the page's title, which no page shows"
    CLEANED = "left out with the rest of its table"
    LEFT_OUT = "left out by a rule of the site"


@dataclass(frozen=True, slots=True)
class Reason:
    """What speaks for a block, or against it where *effect*, in log-odds, is below 0."""

    name: str
    label: str
    effect: float


@dataclass(frozen=True, slots=True)
class ExplainedBlock:
    """A block: its first and last token, and what was decided."""

    first: int
    last: int
    probability: float
    decision: Decision
    _number: int
    _effects: Mapping[str, Floats] = field(repr=False, compare=False)  # float64[n] of all blocks

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Why its ``probability`` is what it is, the weightiest first.

        They are made when asked for: those of all blocks take more than all else of a dense page.
        """
        effects = ((name, values.item(self._number)) for name, values in self._effects.items())
        found = (Reason(name, LABELS[name], each) for name, each in effects if _weighs(each))
        return tuple(sorted(found, key=lambda reason: -abs(reason.effect)))


def explained_blocks(
    page: Page, probability: Floats, found: Sequence[Decision], effects: Mapping[str, Floats]
) -> tuple[ExplainedBlock, ...]:
    """The blocks of *page* by their *probability* (float64[n]), and what became of each.

    *effects* are what each group of inputs said, by its name: float64[n].
    """
    first, last = page.blocks.first.tolist(), page.blocks.last.tolist()
    rows = zip(first, last, probability.tolist(), found, strict=True)
    return tuple(ExplainedBlock(*row, number, effects) for number, row in enumerate(rows))


def decisions(page: Page, chosen: Selection, kept: Bools) -> list[Decision]:
    """What became of each block: which were *chosen*, and which tokens were *kept* of those."""
    steps: tuple[tuple[Bools, Decision], ...] = (
        (page.blocks.count(kept & page.tokens.is_word) > 0, Decision.KEPT),
        (chosen.kept, Decision.CLEANED),
        (page.in_title, Decision.TITLE),
        (~chosen.above, Decision.IMPROBABLE),
        (chosen.copied, Decision.COPY),
        (np.ones(len(page.blocks), np.bool_), Decision.OUTSIDE),
    )
    first = np.argmax([holds for holds, _ in steps], axis=0)
    return [steps[step][1] for step in first.tolist()]


def _weighs(effect: float) -> bool:
    return abs(effect) >= LEAST_EFFECT
