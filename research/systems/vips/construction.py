"""From the visual blocks of a round to a tree of them.

The report merges the blocks beside the lightest separators first, until the heaviest are met. Here
the same tree is made from its root: the blocks are parted at their heaviest separators, then each
part at its own. Separators are looked for again in each part, so that columns are found below a
headline that spans them.

The degree of coherence of a new block is 10 less the weight of its heaviest separator, and at most
that of the blocks in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from research.systems.vips.extraction import Extracted
from research.systems.vips.nodes import Nodes
from research.systems.vips.rules import HIGHEST
from research.systems.vips.separators import Direction, ordered, separators

LOWEST: Final = 1


@dataclass(slots=True)
class VisualBlock:
    """A block of the page: the nodes that it is made of, and the blocks in it."""

    nodes: tuple[int, ...]
    degree: int
    children: list[VisualBlock] = field(default_factory=list)

    def all(self) -> list[VisualBlock]:
        """It and all blocks below it, a block before those in it."""
        found = [self]
        for block in found:  # which grows
            found.extend(block.children)
        return found


def construct(nodes: Nodes, pool: Sequence[Extracted]) -> list[VisualBlock]:
    """The blocks that a block is made of, which has been divided into those of the *pool*."""
    top = VisualBlock((), LOWEST)
    stack = [(top, list(pool))]
    while stack:
        into, blocks = stack.pop()
        parts, degree = part(nodes, blocks)
        into.degree = min(degree, *(block.degree for block in blocks), HIGHEST)
        for members in parts:
            child = VisualBlock(tuple(each.node for each in members), members[0].degree)
            into.children.append(child)
            if len(members) > 1:
                stack.append((child, members))
    return top.children


def part(nodes: Nodes, blocks: list[Extracted]) -> tuple[list[list[Extracted]], int]:
    """The parts between the heaviest separators of *blocks*, and the degree of the whole.

    Where no line separates them, each is a part.
    """
    best: list[list[Extracted]] = [[block] for block in blocks]
    heaviest = 0
    for direction in Direction:
        row = ordered(nodes, blocks, direction)
        found = separators(nodes, row, direction)
        weight = max((each.weight for each in found), default=0)
        if weight > heaviest:
            heaviest = weight
            cuts = [0, *(each.place for each in found if each.weight == weight), len(row)]
            best = [row[a:b] for a, b in pairwise(cuts)]
    return best, HIGHEST - heaviest
