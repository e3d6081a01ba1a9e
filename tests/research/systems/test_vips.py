"""VIPS on pages whose boxes are given: the rules, the separators, the tree, the choice."""

from __future__ import annotations

import random

import pytest

from research.systems.vips import rules
from research.systems.vips.construction import VisualBlock
from research.systems.vips.nodes import Nodes
from research.systems.vips.rules import Act, Case, Comparison, Rule
from research.systems.vips.segmentation import segment
from research.systems.vips.system import GRANULARITIES
from tests.helpers.drawn_pages import Drawn, drawing_of, element, paragraph, text

PAGE = (0, 0, 1000, 1000)
DIVIDED = Comparison(Act.DIVIDE)
BLUE = "rgb(0, 0, 255)"


def nodes_of(page: Drawn) -> Nodes:
    return Nodes.of(drawing_of(page))


def case(node: Drawn, *, previous_kept: bool = False) -> Case:
    """*node* as the first child of a page of 1000 by 1000 pixels, which is divided."""
    return Case(nodes_of(element("body", node, box=PAGE)), 1, 0, previous_kept)


LINE = text("some words", 0, 0, 400, 20)
BOLD = text("some words", 0, 20, 400, 20, font=(16.0, 700))
WIDE = paragraph("a column", 0, 40, 900, 500)
SMALL = paragraph("a line", 0, 0, 100, 20)
PICTURE = element("img", box=(0, 0, 300, 300))
UNSEEN = element("p", text("hidden"))

# A rule, a node that it says something of, what it says, and a near miss that it leaves open.
RULES: dict[str, tuple[Rule, Drawn, Comparison, Drawn]] = {
    "nothing that is seen": (
        rules.rule_1,
        element("div", UNSEEN, box=(0, 0, 500, 500)),
        Comparison(Act.CUT),
        element("div", UNSEEN, SMALL),
    ),
    "a single child": (rules.rule_2, element("div", WIDE), DIVIDED, element("div", LINE)),
    "a single child that is seen": (
        rules.rule_2,
        element("div", UNSEEN, WIDE),
        DIVIDED,
        element("div", SMALL, WIDE),
    ),
    "texts of one font": (
        rules.rule_4,
        element("p", LINE, element("b", LINE)),
        Comparison(Act.KEEP, 10),
        element("p", LINE, element("b", SMALL)),
    ),
    "texts of two fonts": (
        rules.rule_4,
        element("p", LINE, element("a", element("b", BOLD))),
        Comparison(Act.KEEP, 9),
        element("p", LINE, PICTURE),
    ),
    "a child that breaks the line": (
        rules.rule_5,
        element("span", LINE, SMALL),
        DIVIDED,
        element("span", LINE, element("b", LINE)),
    ),
    "a horizontal rule": (
        rules.rule_6,
        element("div", SMALL, element("hr"), WIDE),
        DIVIDED,
        element("div", SMALL, element("div", element("hr"), WIDE)),
    ),
    "children larger than it": (
        rules.rule_7,
        element("div", WIDE, SMALL, box=(0, 0, 900, 500)),
        DIVIDED,
        element("div", WIDE, SMALL, box=(0, 0, 900, 540)),
    ),
    "another background": (
        rules.rule_8,
        element("div", SMALL, element("div", LINE, background=BLUE)),
        Comparison(Act.DIVIDE, 0, ((4, 6),)),
        element("div", SMALL, element("div", LINE), background=BLUE),
    ),
    "small, with a text": (
        rules.rule_9,
        element("div", LINE, SMALL, box=(0, 0, 400, 200)),
        Comparison(Act.KEEP, 6),
        element("div", LINE, SMALL, box=(0, 0, 400, 300)),
    ),
    "small, with a text in it": (
        rules.rule_9,
        element("li", element("b", LINE), SMALL, box=(0, 0, 400, 200)),
        Comparison(Act.KEEP, 8),
        element("li", SMALL, SMALL, box=(0, 0, 400, 200)),
    ),
    "small children": (
        rules.rule_10,
        element("ul", SMALL, SMALL, box=(0, 0, 100, 200)),
        Comparison(Act.KEEP, 7),
        element("ul", SMALL, WIDE),
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_says_what_it_says_and_leaves_the_near_miss_open(name: str) -> None:
    rule, node, said, near_miss = RULES[name]

    assert rule(case(node)) == said
    assert rule(case(near_miss)) is None


def random_page(rng: random.Random, depth: int = 5) -> Drawn:
    """A tree of boxes, some of them anywhere."""
    box = (rng.randint(0, 50) * 10, rng.randint(0, 50) * 10, *(rng.randint(1, 50) * 10,) * 2)
    if not depth or rng.random() < 0.3:
        return text(f"word{rng.randint(0, 40)} " * rng.randint(1, 9), *box)
    tags = ("div", "p", "span", "b", "table", "tr", "td", "ul", "hr")
    children = [random_page(rng, depth - 1) for _ in range(rng.randint(0, 4))]
    background = rng.choice(["", "", "", BLUE])
    return element(rng.choice(tags), *children, box=box, background=background)


def leaves(root: VisualBlock) -> list[VisualBlock]:
    return [block for block in root.all() if not block.children]


def test_every_text_is_in_one_leaf_and_every_block_is_its_parts() -> None:
    rng = random.Random(2)  # noqa: S311 - pages, not keys
    for _ in range(100):
        nodes = nodes_of(element("body", *(random_page(rng) for _ in range(4)), box=PAGE))
        everything = nodes.texts([0])
        for granularity in GRANULARITIES:
            root = segment(nodes, granularity)
            below = [text for leaf in leaves(root) for text in nodes.texts(leaf.nodes)]
            assert sorted(below) == everything
            for block in root.all():
                parts = [text for each in block.children for text in nodes.texts(each.nodes)]
                assert not parts or sorted(parts) == sorted(nodes.texts(block.nodes))
