"""Which block of a tree is the article: by an oracle, or by a sum of points.

VIPS does not say what its blocks are. The MSS paper assumes somebody who always picks the block
with the best F1, and compares that with a simple heuristic: a point for every word, and a penalty
for every tag. Tags of elements that have been divided are in none of the blocks.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from research.systems.vips.construction import VisualBlock
from research.systems.vips.nodes import Nodes
from scrapy_mss.core.labels import words_of


@dataclass(slots=True)
class _Bag:
    """Words of a block that the gold has too, how many it has at all, and how many are shared."""

    gold: Counter[str]
    common: Counter[str] = field(default_factory=Counter)
    n_words: int = 0
    shared: int = 0

    def add(self, found: Counter[str], n_words: int) -> None:
        self.n_words += n_words
        for word, count in found.items():
            before = min(self.common[word], self.gold[word])
            self.common[word] += count
            self.shared += min(self.common[word], self.gold[word]) - before

    @property
    def f1(self) -> float:
        return 2 * self.shared / max(1, self.n_words + self.gold.total())


def words(text: str) -> list[str]:
    """The words of *text*, lower-cased."""
    return words_of(text.lower())


def best_block(nodes: Nodes, root: VisualBlock, gold: list[str]) -> tuple[VisualBlock, float]:
    """The block with the best word-bag F1 against *gold*, and its F1; the first of equals.

    A block's bag is the largest of those of its blocks with the others added to it, so that a word
    is added as often as the logarithm of the number of blocks.
    """
    counted = Counter(gold)
    bags: dict[int, _Bag] = {}
    best, best_f1 = root, -1.0
    for block in reversed(root.all()):  # those in a block before it
        parts = [bags.pop(id(child)) for child in block.children]
        bag = max(parts, key=lambda each: each.n_words, default=_Bag(counted))
        if not parts:
            found = words(nodes.text(block.nodes))
            bag.add(Counter(word for word in found if word in counted), len(found))
        for part in parts:
            if part is not bag:
                bag.add(part.common, part.n_words)
        bags[id(block)] = bag
        if bag.f1 >= best_f1:
            best, best_f1 = block, bag.f1
    return best, best_f1


def highest_block(nodes: Nodes, root: VisualBlock, penalty: float) -> VisualBlock:
    """The block with the most words less *penalty* times its tags; the first of equals."""
    sums: dict[int, float] = {}
    best, highest = root, -float("inf")
    for block in reversed(root.all()):
        if block.children:
            points = sum(sums[id(child)] for child in block.children)
        else:
            tags = sum(map(nodes.tags, block.nodes))
            points = len(words(nodes.text(block.nodes))) - penalty * tags
        sums[id(block)] = points
        if points >= highest:
            best, highest = block, points
    return best
