"""All rounds: from a drawing to the tree of its visual blocks.

Each block that is less coherent than is permitted is divided in a further round. As in the MSS
paper, the permitted degree of coherence is called the granularity: the higher, the finer.
"""

from __future__ import annotations

from research.systems.vips.construction import LOWEST, VisualBlock, construct
from research.systems.vips.extraction import extract_blocks
from research.systems.vips.nodes import Nodes


def segment(nodes: Nodes, granularity: int) -> VisualBlock:
    """The tree of the visual blocks; its root is the page."""
    root = VisualBlock((0,) if len(nodes.drawing) else (), LOWEST)
    stack = [root] if root.nodes and nodes.valid[0] else []
    while stack:
        block = stack.pop()
        pool = extract_blocks(nodes, block.nodes[0])
        if not pool or [each.node for each in pool] == list(block.nodes):
            continue
        block.children = construct(nodes, pool)
        leaves = (each for child in block.children for each in child.all() if not each.children)
        stack.extend(each for each in leaves if each.degree < granularity)
    return root
