"""The thirteen rules by which a node is divided, kept as a block, or left out.

A rule is a function of a `Case`, a node with what the round knows; it gives a `Comparison`, or None
where it does not apply, and the first verdict counts. Which rules hold for a node depends on its
tag: that is a table, `RULES`.

Decided here, since no source says it:

- A node's size is its area, relative to that of the block which the round divides; it is small
  under `SMALL`.
- `coherence` gives the degree by tag and size. What a tag usually holds together starts at 8, what
  lays out a page at 6; the larger a node is, the less coherent. Each rule has a least degree.
- Where implementations differ, rule 7 (a node that is smaller than what is in it) holds for all
  tags that make boxes, and rule 8 (another background) for tables, their rows, and for other tags:
  today's pages lay out by `div` what those of 2003 laid out by tables.
- Children are the valid ones: a line break alone, which has no width, divides nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

from research.systems.vips.nodes import Nodes

SMALL: Final = 0.1  # of the block's area
HIGHEST: Final = 10
UNIFORM: Final = 10  # the degree of texts in one font
MIXED: Final = 9  # and in several
SIZE_STEPS: Final = 4  # by so much a node that is all of its block is less coherent
TIGHT: Final = frozenset(
    "p li dd dt h1 h2 h3 h4 h5 h6 td th caption figcaption pre blockquote".split()
)
LOOSE: Final = frozenset("table tbody thead tfoot tr ul ol dl form fieldset figure".split())


class Act(Enum):
    """What becomes of a node."""

    DIVIDE = "its children are looked at"
    KEEP = "it is a block"
    CUT = "it is left out"


class Comparison(NamedTuple):
    """What a rule says; *degree* is the coherence of a block that is kept.

    *apart* are children that are blocks at once, whatever rules say of them, with their degrees.
    """

    act: Act
    degree: int = 0
    apart: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """A node in a round."""

    nodes: Nodes
    node: int
    block: int  # the node of the block that the round divides
    previous_kept: bool  # whether the sibling before it has not been divided

    @property
    def children(self) -> list[int]:
        return self.nodes.children[self.node]

    @property
    def tag(self) -> str:
        return self.nodes.drawing.tag[self.node]

    def size(self, node: int) -> float:
        """The area of *node*, relative to that of the block."""
        return self.nodes.box[node].area / max(1, self.nodes.box[self.block].area)

    def coherence(self, node: int, least: int) -> int:
        """The degree of *node* by its tag and its size."""
        tag = self.nodes.drawing.tag[node]
        inline = self.nodes.drawing.inline[node]
        start = 8 if inline or tag in TIGHT else 7 if tag in LOOSE else 6
        return max(least, start - round(SIZE_STEPS * min(1.0, self.size(node))))


Rule = Callable[[Case], Comparison | None]
DIVIDE: Final = Comparison(Act.DIVIDE)


def rule_1(case: Case) -> Comparison | None:
    """No text, and nothing valid in it: left out."""
    return None if case.children else Comparison(Act.CUT)


def rule_2(case: Case) -> Comparison | None:
    """A single valid child, which is no text: divided."""
    single = len(case.children) == 1 and not case.nodes.is_text(case.children[0])
    return DIVIDE if single else None


def rule_3(case: Case) -> Comparison | None:
    """The one root of the block that the round divides: divided."""
    return DIVIDE if case.node == case.block else None


def rule_4(case: Case) -> Comparison | None:
    """Texts and virtual texts alone: kept, and more coherent if they are in one font."""
    if not all(map(case.nodes.is_textual, case.children)):
        return None
    drawing = case.nodes.drawing
    texts = [case.nodes.longest[child] for child in case.children]
    fonts = {(drawing.font_size[text], drawing.font_weight[text]) for text in texts}
    return Comparison(Act.KEEP, UNIFORM if len(fonts) == 1 else MIXED)


def rule_5(case: Case) -> Comparison | None:
    """A child that breaks the line: divided."""
    inline = case.nodes.drawing.inline
    return DIVIDE if any(not inline[child] for child in case.children) else None


def rule_6(case: Case) -> Comparison | None:
    """A child that is a horizontal rule, which has nothing valid in it: divided."""
    parent = case.nodes.drawing.parent
    below = case.nodes.rules_between(case.node, case.nodes.end[case.node])
    return DIVIDE if any(parent[rule] == case.node for rule in below) else None


def rule_7(case: Case) -> Comparison | None:
    """Children that are larger together than it is: divided."""
    box = case.nodes.box
    total = sum(box[child].area for child in case.children)
    return DIVIDE if total > box[case.node].area else None


def rule_8(case: Case) -> Comparison | None:
    """Children of another background: divided, and these are blocks of this round."""
    background = case.nodes.drawing.background
    own = background[case.node]
    others = [child for child in case.children if background[child] != own]
    if not others:
        return None
    return Comparison(Act.DIVIDE, 0, tuple((each, case.coherence(each, 6)) for each in others))


def rule_9(case: Case) -> Comparison | None:
    """A text or a virtual text in it, and small: kept."""
    small = case.size(case.node) < SMALL and any(map(case.nodes.is_textual, case.children))
    return Comparison(Act.KEEP, case.coherence(case.node, 5)) if small else None


def rule_10(case: Case) -> Comparison | None:
    """Children all of which are small: kept."""
    small = max(map(case.size, case.children)) < SMALL
    return Comparison(Act.KEEP, case.coherence(case.node, 1)) if small else None


def rule_11(case: Case) -> Comparison | None:
    """The sibling before it has not been divided: kept."""
    return Comparison(Act.KEEP, case.coherence(case.node, 1)) if case.previous_kept else None


def rule_12(_case: Case) -> Comparison | None:
    """Divided."""
    return DIVIDE


def rule_13(case: Case) -> Comparison | None:
    """Kept."""
    return Comparison(Act.KEEP, case.coherence(case.node, 1))


ALWAYS: Final[tuple[Rule, ...]] = (rule_1, rule_2, rule_3)
INLINE: Final = (*ALWAYS, rule_4, rule_5, rule_6, rule_9, rule_10, rule_12)
OTHER: Final = (*ALWAYS, rule_4, rule_6, rule_7, rule_8, rule_9, rule_10, rule_12)
RULES: Final[dict[str, tuple[Rule, ...]]] = {
    "table": (*ALWAYS, rule_7, rule_8, rule_10, rule_13),
    "tr": (*ALWAYS, rule_7, rule_8, rule_10, rule_13),
    "td": (*ALWAYS, rule_4, rule_7, rule_9, rule_10, rule_11, rule_13),
    "p": (*ALWAYS, rule_4, rule_5, rule_6, rule_7, rule_9, rule_10, rule_12),
}


def verdict(case: Case) -> Comparison:
    """What the first of the rules says that applies to the tag, and to the node."""
    if case.nodes.is_text(case.node):
        return Comparison(Act.KEEP, UNIFORM)
    inline = case.nodes.drawing.inline[case.node]
    rules = RULES.get(case.tag, INLINE if inline else OTHER)
    said = (rule(case) for rule in rules)
    return next(each for each in said if each is not None)
