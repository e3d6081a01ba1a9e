"""One round: the visual blocks that the tree below a block is divided into.

The tree is gone through in the order of the document, with a stack: pages nest deeply.
"""

from __future__ import annotations

from typing import NamedTuple

from research.systems.vips.nodes import Nodes
from research.systems.vips.rules import Act, Case, verdict


class Extracted(NamedTuple):
    """A node that is a visual block, and how coherent it is."""

    node: int
    degree: int


def extract_blocks(nodes: Nodes, block: int) -> list[Extracted]:
    """The blocks that the node *block* is divided into, in the order of the document."""
    pool: list[Extracted] = []
    kept: dict[int, bool] = {}  # of a parent: whether its last child so far has not been divided
    stack = [block]
    apart: dict[int, int] = {}
    while stack:
        node = stack.pop()
        parent = nodes.drawing.parent[node]
        if node in apart:
            pool.append(Extracted(node, apart[node]))
            kept[parent] = True
            continue
        said = verdict(Case(nodes, node, block, kept.get(parent, False)))
        kept[parent] = said.act is Act.KEEP
        if said.act is Act.KEEP:
            pool.append(Extracted(node, said.degree))
        elif said.act is Act.DIVIDE:
            apart.update(said.apart)
            stack.extend(reversed(nodes.children[node]))
    return pool
