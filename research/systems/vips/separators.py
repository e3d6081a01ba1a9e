"""The gaps between visual blocks: lines across all of them that meet none, and their weights.

A horizontal separator is a gap in the projection of all boxes onto the vertical axis, a vertical
one in that onto the horizontal axis; so they are found by sorting, whatever the number of blocks.
Blocks that touch are separated by a gap of no width. The borders of the page separate nothing.

The five rules of a weight are those of the report; the numbers in `WIDTHS` and below are not, it
speaks of higher and lower alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final, NamedTuple

from research.rendering.drawing import Box
from research.systems.vips.extraction import Extracted
from research.systems.vips.nodes import Nodes

OVERLAP: Final = 1  # pixels by which rounded boxes may overlap that touch
WIDTHS: Final = (4, 12, 24, 48)  # pixels, each of which adds 1
RULE: Final = 3  # for a horizontal rule in the gap
BACKGROUND: Final = 2  # for another background behind it than before it
FONT: Final = 1  # for another size of font, another weight, and a larger font below
SIMILAR: Final = 2  # off for blocks of one structure
LIGHTEST: Final = 1
HEAVIEST: Final = 9


class Direction(Enum):
    """How a separator lies."""

    HORIZONTAL = "between what is above and below"
    VERTICAL = "between what is left and right"


class Separator(NamedTuple):
    """A gap from *start* to *end*, and its weight; *place* is how many blocks are before it."""

    direction: Direction
    start: int
    end: int
    place: int
    weight: int


def interval(box: Box, direction: Direction) -> tuple[int, int]:
    """Where *box* begins and ends across separators of the *direction*."""
    if direction is Direction.HORIZONTAL:
        return box.y, box.bottom
    return box.x, box.right


def ordered(nodes: Nodes, blocks: Sequence[Extracted], direction: Direction) -> list[Extracted]:
    """The blocks from the top down, or from left to right."""
    return sorted(blocks, key=lambda each: interval(nodes.box[each.node], direction))


def separators(nodes: Nodes, blocks: Sequence[Extracted], direction: Direction) -> list[Separator]:
    """The separators between *blocks*, which are `ordered`."""
    found = []
    reach, farthest = 0, blocks[0]
    for place, block in enumerate(blocks):
        start, end = interval(nodes.box[block.node], direction)
        if place and start >= reach - OVERLAP:
            gap = min(reach, start), max(reach, start)
            weight = weigh(nodes, (farthest.node, block.node), gap, direction)
            found.append(Separator(direction, *gap, place, weight))
        if not place or end >= reach:
            reach, farthest = end, block
    return found


def weigh(nodes: Nodes, sides: tuple[int, int], gap: tuple[int, int], direction: Direction) -> int:
    """The weight of the *gap* between the nodes on both *sides* of it."""
    before, after = sides
    width = gap[1] - gap[0]
    weight = LIGHTEST + sum(width >= each for each in WIDTHS)
    background = nodes.drawing.background
    weight += BACKGROUND * (background[before] != background[after])
    if direction is Direction.HORIZONTAL:
        weight += RULE * _has_rule(nodes, sides, gap)
        weight += _font_difference(nodes, nodes.longest[before], nodes.longest[after])
        weight -= SIMILAR * similar(nodes, before, after)
    return max(LIGHTEST, min(HEAVIEST, weight))


def _has_rule(nodes: Nodes, sides: tuple[int, int], gap: tuple[int, int]) -> bool:
    """Whether an <hr> is in the source between the two nodes, and in the gap on the page."""
    box = nodes.drawing.box
    return any(
        gap[0] - OVERLAP <= box[rule].y and box[rule].bottom <= gap[1] + OVERLAP
        for rule in nodes.rules_between(nodes.end[min(sides)], max(sides))
    )


def _font_difference(nodes: Nodes, above: int, below: int) -> int:
    if above < 0 or below < 0:
        return 0
    sizes, weights = nodes.drawing.font_size, nodes.drawing.font_weight
    different = (sizes[above] != sizes[below]) + (weights[above] != weights[below])
    return FONT * (different + (sizes[above] < sizes[below]))


def similar(nodes: Nodes, one: int, other: int) -> bool:
    """Whether two nodes have the same tag with the same tags in it, or are both text."""
    if nodes.is_textual(one) and nodes.is_textual(other):
        return True
    tags = nodes.drawing.tag
    return tags[one] == tags[other] and _structure(nodes, one) == _structure(nodes, other)


def _structure(nodes: Nodes, node: int) -> set[str]:
    return {nodes.drawing.tag[child] for child in nodes.children[node]}
