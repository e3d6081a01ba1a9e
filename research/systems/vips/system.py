"""VIPS as systems of the bench: its best block, told by an oracle, and its simplest choice.

Pages are drawn once and kept (`research.rendering`). The bench's clock runs while a page is drawn,
and while its drawing is read where it is kept: `research.studies.vips` says what each costs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from research.rendering.drawing import Failure
from research.rendering.drawings import FOLDER, Drawings
from research.systems.vips.choice import best_block, highest_block, words
from research.systems.vips.nodes import Nodes
from research.systems.vips.segmentation import segment

GRANULARITIES: Final = range(1, 11)
GRANULARITY: Final = 8  # what the MSS paper found best
PENALTY: Final = 2.0  # of a tag, in the MSS paper


class NotDrawnError(Exception):
    """The browser has not drawn the page."""


class _Drawn:
    """What both have: the drawings, and the granularity, where one is given for all pages."""

    def __init__(self, granularity: int | None, drawings: str) -> None:
        if granularity is not None and granularity not in GRANULARITIES:
            raise ValueError(f"expected a granularity from 1 to 10, got {granularity!r}")
        self.granularity = granularity
        self._drawings = Drawings(Path(drawings))

    def close(self) -> None:
        """End the browser, if there is one."""
        self._drawings.close()

    def nodes(self, html: str) -> Nodes:
        drawing = self._drawings.of(html)
        if isinstance(drawing, Failure):
            raise NotDrawnError(drawing.reason)
        return Nodes.of(drawing)


class VipsSimple(_Drawn):
    """The block with the most words, less *penalty* times its tags."""

    def __init__(
        self,
        *,
        granularity: int = GRANULARITY,
        penalty: float = PENALTY,
        drawings: str = str(FOLDER),
    ) -> None:
        super().__init__(granularity, drawings)
        self.penalty = penalty

    def extract(self, html: str) -> str:
        nodes = self.nodes(html)
        assert self.granularity is not None
        block = highest_block(nodes, segment(nodes, self.granularity), self.penalty)
        return nodes.text(block.nodes)


class VipsPerfect(_Drawn):
    """The block with the best F1, at the *granularity* given, or at the best one of each page."""

    def __init__(self, *, granularity: int | None = None, drawings: str = str(FOLDER)) -> None:
        super().__init__(granularity, drawings)

    def extract(self, html: str) -> str:  # noqa: ARG002 - what all systems are given
        raise TypeError("vips-perfect is an oracle: it has to be told the text that is right")

    def extract_best(self, html: str, gold: str) -> str:
        nodes, known = self.nodes(html), words(gold)
        tried = GRANULARITIES if self.granularity is None else (self.granularity,)
        found = (best_block(nodes, segment(nodes, each), known) for each in tried)
        block, _ = max(found, key=lambda each: each[1])
        return nodes.text(block.nodes)
