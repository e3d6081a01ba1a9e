"""A drawing as the rules look at it: which nodes can be seen, which are text, who is below whom.

Everything is computed once, in passes over the columns from the last node to the first: a node
comes before all that is below it.

A node is *valid* if it can be seen, or something below it can: an element around floated boxes has
no height of its own, and its box is then that of its valid children. A *virtual text* is an inline
element with nothing but texts and virtual texts in it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from research.rendering.drawing import ROOT, TEXT, Box, Drawing

VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())


@dataclass(frozen=True, slots=True)
class Nodes:
    """Columns beside those of the *drawing*, one entry a node.

    ``children`` are the valid ones; what is below a node are the nodes up to its ``end``;
    ``longest`` is the longest visible text below it, or -1.
    """

    drawing: Drawing
    end: list[int]
    children: list[list[int]]
    box: list[Box]
    valid: list[bool]
    virtual_text: list[bool]
    longest: list[int]
    rules: list[int]  # the <hr> elements

    @classmethod
    def of(cls, drawing: Drawing) -> Nodes:
        n = len(drawing)
        found = cls(
            drawing,
            end=list(range(1, n + 1)),
            children=[[] for _ in range(n)],
            box=list(drawing.box),
            valid=list(drawing.visible),
            virtual_text=[False] * n,
            longest=[-1] * n,
            rules=[number for number, tag in enumerate(drawing.tag) if tag == "hr"],
        )
        for number in reversed(range(n)):
            found._complete(number)  # all below it are complete
        return found

    def _complete(self, number: int) -> None:
        children = self.children[number]
        children.reverse()
        if children and not self.drawing.visible[number]:
            self.valid[number] = True
            self.box[number] = around(self.box[child] for child in children)
        if self.is_text(number):
            self.longest[number] = number if self.valid[number] else -1
        else:
            texts = [self.longest[child] for child in children if self.longest[child] >= 0]
            self.longest[number] = max(texts, key=self._length, default=-1)
            textual = bool(children) and all(map(self.is_textual, children))
            self.virtual_text[number] = textual and self.drawing.inline[number]
        parent = self.drawing.parent[number]
        if parent != ROOT:
            self.end[parent] = max(self.end[parent], self.end[number])
            if self.valid[number]:
                self.children[parent].append(number)

    def _length(self, number: int) -> int:
        return len(self.drawing.text[number])

    def is_text(self, number: int) -> bool:
        return self.drawing.tag[number] == TEXT

    def is_textual(self, number: int) -> bool:
        """Whether it is a text or a virtual text."""
        return self.is_text(number) or self.virtual_text[number]

    def rules_between(self, start: int, stop: int) -> list[int]:
        """The <hr> elements from one node to before another."""
        return self.rules[bisect_left(self.rules, start) : bisect_left(self.rules, stop)]

    def texts(self, roots: Iterable[int]) -> list[int]:
        """The visible texts below *roots*."""
        below = (number for root in roots for number in range(root, self.end[root]))
        return [number for number in below if self.is_text(number) and self.valid[number]]

    def tags(self, root: int) -> int:
        """How many tags the source of *root* has: two an element, one where none closes it."""
        names = (self.drawing.tag[number] for number in range(root, self.end[root]))
        return sum(1 if name in VOID else 2 for name in names if name != TEXT)

    def text(self, roots: Sequence[int]) -> str:
        """The visible text below *roots*, a line for each element that is not inline."""
        lines: list[list[str]] = []
        last = None
        for number in self.texts(sorted(roots)):
            line = self._line(number)
            if line != last:
                lines.append([])
            lines[-1].append(self.drawing.text[number])
            last = line
        return "\n".join(" ".join("".join(parts).split()) for parts in lines)

    def _line(self, number: int) -> int:
        """The nearest element around a text that is not inline."""
        number = self.drawing.parent[number]
        while number != ROOT and self.drawing.inline[number]:
            number = self.drawing.parent[number]
        return number


def around(boxes: Iterable[Box]) -> Box:
    """The smallest box around *boxes*, of which there is at least one."""
    boxes = list(boxes)
    x, y = min(box.x for box in boxes), min(box.y for box in boxes)
    right, bottom = max(box.right for box in boxes), max(box.bottom for box in boxes)
    return Box(x, y, right - x, bottom - y)
