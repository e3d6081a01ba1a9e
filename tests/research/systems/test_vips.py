"""VIPS on pages whose boxes are given: the rules, the separators, the tree, the choice."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from research.rendering.browser import chromium
from research.rendering.drawing import Failure, to_bytes
from research.rendering.drawings import Drawings
from research.systems import create
from research.systems.base import Oracle
from research.systems.vips import rules
from research.systems.vips.choice import best_block, highest_block, words
from research.systems.vips.construction import VisualBlock, construct
from research.systems.vips.extraction import Extracted, extract_blocks
from research.systems.vips.nodes import Nodes
from research.systems.vips.rules import Act, Case, Rule, Verdict, verdict
from research.systems.vips.segmentation import segment
from research.systems.vips.separators import Direction, ordered, separators, weigh
from research.systems.vips.system import GRANULARITIES, NotDrawnError, VipsSimple
from tests.helpers.drawn_pages import Drawn, drawing_of, element, paragraph, text

PAGE = (0, 0, 1000, 1000)
DIVIDED = Verdict(Act.DIVIDE)
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
RULES: dict[str, tuple[Rule, Drawn, Verdict, Drawn]] = {
    "nothing that is seen": (
        rules.rule_1,
        element("div", UNSEEN, box=(0, 0, 500, 500)),
        Verdict(Act.CUT),
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
        Verdict(Act.KEEP, 10),
        element("p", LINE, element("b", SMALL)),
    ),
    "texts of two fonts": (
        rules.rule_4,
        element("p", LINE, element("a", element("b", BOLD))),
        Verdict(Act.KEEP, 9),
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
        Verdict(Act.DIVIDE, 0, ((4, 6),)),
        element("div", SMALL, element("div", LINE), background=BLUE),
    ),
    "small, with a text": (
        rules.rule_9,
        element("div", LINE, SMALL, box=(0, 0, 400, 200)),
        Verdict(Act.KEEP, 6),
        element("div", LINE, SMALL, box=(0, 0, 400, 300)),
    ),
    "small, with a text in it": (
        rules.rule_9,
        element("li", element("b", LINE), SMALL, box=(0, 0, 400, 200)),
        Verdict(Act.KEEP, 8),
        element("li", SMALL, SMALL, box=(0, 0, 400, 200)),
    ),
    "small children": (
        rules.rule_10,
        element("ul", SMALL, SMALL, box=(0, 0, 100, 200)),
        Verdict(Act.KEEP, 7),
        element("ul", SMALL, WIDE),
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_says_what_it_says_and_leaves_the_near_miss_open(name: str) -> None:
    rule, node, said, near_miss = RULES[name]

    assert rule(case(node)) == said
    assert rule(case(near_miss)) is None


def test_the_root_of_the_block_is_divided_by_rule_3() -> None:
    page = nodes_of(element("body", SMALL, WIDE, box=PAGE))

    assert rules.rule_3(Case(page, 0, 0, previous_kept=False)) == DIVIDED
    assert rules.rule_3(Case(page, 1, 0, previous_kept=False)) is None


def test_a_cell_is_kept_where_the_one_before_it_was() -> None:
    cell = element("td", SMALL, WIDE)

    assert rules.rule_11(case(cell, previous_kept=True)) == Verdict(Act.KEEP, 6)
    assert rules.rule_11(case(cell)) is None


def test_which_rules_hold_depends_on_the_tag() -> None:
    parts = SMALL, paragraph("a column", 0, 40, 900, 300)

    assert verdict(case(element("div", *parts))).act is Act.DIVIDE  # rule 12
    assert verdict(case(element("table", *parts))) == Verdict(Act.KEEP, 6)  # rule 13
    assert verdict(case(element("span", LINE, *parts))).act is Act.DIVIDE  # rule 5
    assert verdict(case(LINE)) == Verdict(Act.KEEP, 10)


def test_a_larger_node_is_less_coherent() -> None:
    degrees = [
        case(element("div", SMALL, box=(0, 0, 1000, height))).coherence(1, 1)
        for height in (50, 250, 500, 1000)
    ]

    assert degrees == [6, 5, 4, 2]


def test_an_element_without_height_has_the_box_of_what_is_in_it() -> None:
    floated = element("div", SMALL, WIDE)
    page = nodes_of(element("body", Drawn("div", None, (floated,)), box=PAGE))

    assert page.valid[1]
    assert page.box[1] == page.box[2] == (0, 0, 900, 540)


# A headline above two columns, the second of which has two paragraphs and a box on blue.
NEWS = element(
    "body",
    element("h1", text("Ferry sails again", 0, 0, 1000, 60, font=(32.0, 700))),
    element(
        "div",
        element(
            "ul",
            *(paragraph("home", 0, 100, 200, 20), paragraph("sport", 0, 120, 200, 20)),
            box=(0, 100, 200, 510),
        ),
        element(
            "div",
            paragraph("The ferry sails again since Monday.", 300, 100, 700, 200),
            paragraph("Nobody was late.", 300, 310, 700, 200),
            element(
                "div",
                paragraph("Buy", 300, 530, 700, 40),
                paragraph("tickets", 300, 570, 700, 40),
                background=BLUE,
            ),
        ),
    ),
    box=(0, 0, 1000, 700),
)


def leaves(root: VisualBlock) -> list[VisualBlock]:
    return [block for block in root.all() if not block.children]


def texts(nodes: Nodes, blocks: list[VisualBlock]) -> list[str]:
    return [nodes.text(block.nodes) for block in blocks]


def test_a_round_divides_the_page_and_keeps_the_box_on_blue() -> None:
    nodes = nodes_of(NEWS)

    pool = extract_blocks(nodes, 0)

    assert [nodes.text([each.node]) for each in pool] == [
        "Ferry sails again",
        "home\nsport",
        "The ferry sails again since Monday.",
        "Nobody was late.",
        "Buy\ntickets",
    ]
    assert [each.degree for each in pool] == [10, 6, 10, 10, 6]


def test_columns_are_parted_below_a_headline_that_spans_them() -> None:
    nodes = nodes_of(NEWS)

    root = segment(nodes, 5)

    headline, columns = root.children
    menu, article = columns.children
    assert texts(nodes, [headline, menu]) == ["Ferry sails again", "home\nsport"]
    assert nodes.text(article.nodes).startswith("The ferry")
    assert len(article.children) == 2  # the paragraphs, and the box on blue
    assert texts(nodes, article.children)[0].count("\n") == 1


def test_a_higher_granularity_divides_what_is_less_coherent() -> None:
    nodes = nodes_of(NEWS)

    coarse, fine = (leaves(segment(nodes, each)) for each in (6, 7))

    assert [len(each) for each in (coarse, fine)] == [5, 7]
    assert texts(nodes, fine)[-2:] == ["Buy", "tickets"]


def test_the_separator_of_a_rule_a_background_and_a_font_is_heavier() -> None:
    def between(one: Drawn, other: Drawn, direction: Direction, *hr: Drawn) -> int:
        page = element("body", one, *hr, other, box=PAGE)
        nodes = nodes_of(page)
        last = max(nodes.drawing.parent.index(0, 2), len(nodes.drawing) - _size(other))
        return weigh(nodes, (1, last), (20, 30), direction)

    def _size(node: Drawn) -> int:
        return 1 + sum(map(_size, node.children))

    first, second = paragraph("one", 0, 0, 400, 20), paragraph("two", 0, 30, 400, 20)
    items = element("ul", second)
    across = Direction.HORIZONTAL
    plain = between(first, items, across)

    assert between(first, second, across) == plain - 1 == 1  # of one structure; 1 is the least
    assert between(first, items, across, element("hr", box=(0, 22, 400, 2))) == plain + 3
    assert between(first, items, across, element("hr", box=(0, 90, 400, 2))) == plain
    blue = element("ul", second, background=BLUE)
    assert between(first, blue, across) == plain + 2
    large = element("ul", element("p", text("two", 0, 30, 400, 20, font=(20.0, 400))))
    assert between(first, large, across) == plain + 2  # another size, and larger below
    assert between(first, large, Direction.VERTICAL) == plain


@pytest.mark.parametrize(("width", "weight"), [(0, 1), (4, 2), (12, 3), (24, 4), (48, 5), (900, 5)])
def test_a_wider_separator_is_heavier(width: int, weight: int) -> None:
    nodes = nodes_of(element("body", SMALL, element("ul", WIDE), box=PAGE))

    assert weigh(nodes, (1, 3), (20, 20 + width), Direction.HORIZONTAL) == weight


def random_boxes(rng: random.Random) -> Drawn:
    boxes = []
    for number in range(rng.randint(1, 12)):
        box = [rng.randint(0, 30) * 10, rng.randint(0, 30) * 10]
        size = [rng.randint(1, 8) * 10, rng.randint(1, 8) * 10]
        boxes.append(paragraph(f"word{number}", *box, *size))
    return element("body", *boxes, box=(0, 0, 400, 400))


@pytest.mark.parametrize("direction", Direction)
def test_separators_are_the_lines_that_meet_no_box(direction: Direction) -> None:
    rng = random.Random(1)  # noqa: S311 - pages, not keys
    for _ in range(200):
        nodes = nodes_of(random_boxes(rng))
        row = ordered(nodes, [Extracted(n, 10) for n in nodes.children[0]], direction)

        found = separators(nodes, row, direction)

        axis = 1 if direction is Direction.HORIZONTAL else 0
        spans = [
            (nodes.box[n][axis], nodes.box[n][axis] + nodes.box[n][axis + 2])
            for n in nodes.children[0]
        ]
        start, end = min(a for a, _ in spans), max(b for _, b in spans)
        lines = {x for x in range(start + 1, end) if not any(a < x < b for a, b in spans)}
        assert {x for s in found for x in range(s.start, s.end + 1)} == lines
        assert all(0 < s.place < len(row) for s in found)


def random_page(rng: random.Random, depth: int = 5) -> Drawn:
    """A tree of boxes, some of them anywhere."""
    box = (rng.randint(0, 50) * 10, rng.randint(0, 50) * 10, *(rng.randint(1, 50) * 10,) * 2)
    if not depth or rng.random() < 0.3:
        return text(f"word{rng.randint(0, 40)} " * rng.randint(1, 9), *box)
    tags = ("div", "p", "span", "b", "table", "tr", "td", "ul", "hr")
    children = [random_page(rng, depth - 1) for _ in range(rng.randint(0, 4))]
    background = rng.choice(["", "", "", BLUE])
    return element(rng.choice(tags), *children, box=box, background=background)


def random_pages(count: int) -> list[Nodes]:
    rng = random.Random(2)  # noqa: S311 - pages, not keys
    return [
        nodes_of(element("body", *(random_page(rng) for _ in range(4)), box=PAGE))
        for _ in range(count)
    ]


def test_every_text_is_in_one_leaf_and_every_block_is_its_parts() -> None:
    for nodes in random_pages(100):
        everything = nodes.texts([0])
        for granularity in GRANULARITIES:
            root = segment(nodes, granularity)
            below = [text for leaf in leaves(root) for text in nodes.texts(leaf.nodes)]
            assert sorted(below) == everything
            for block in root.all():
                parts = [text for each in block.children for text in nodes.texts(each.nodes)]
                assert not parts or sorted(parts) == sorted(nodes.texts(block.nodes))


def test_no_leaf_that_can_be_divided_is_less_coherent_than_is_permitted() -> None:
    for nodes in random_pages(100):
        for leaf in leaves(segment(nodes, 9)):
            assert leaf.degree >= 9 or not extract_blocks(nodes, leaf.nodes[0])


def test_the_best_block_is_that_of_the_definition() -> None:
    rng = random.Random(3)  # noqa: S311 - pages, not keys
    for nodes in random_pages(60):
        gold = [f"word{rng.randint(0, 40)}" for _ in range(30)]
        root = segment(nodes, 8)

        block, f1 = best_block(nodes, root, gold)

        def defined(block: VisualBlock, nodes: Nodes = nodes, gold: list[str] = gold) -> float:
            found = [w for each in nodes.texts(block.nodes) for w in words(nodes.text([each]))]
            shared = (Counter(found) & Counter(gold)).total()
            return 2 * shared / (len(found) + len(gold))

        assert f1 == pytest.approx(max(map(defined, root.all())))
        assert f1 == pytest.approx(defined(block))


def test_the_highest_block_has_the_most_words_less_its_tags() -> None:
    words_of_text = "one two three four five six seven eight"
    menu = element("ul", *(paragraph("link", 0, y, 100, 20) for y in range(0, 100, 20)))
    article = element("div", *(paragraph(words_of_text, 300, y, 500, 90) for y in (0, 100)))
    nodes = nodes_of(element("body", menu, article, box=PAGE))
    root = segment(nodes, 10)

    assert nodes.text(highest_block(nodes, root, 2.0).nodes) == f"{words_of_text}\n{words_of_text}"
    assert highest_block(nodes, root, 0.0) is root


def test_the_text_has_a_line_for_each_element_that_breaks_it() -> None:
    linked = element("a", text(" sails", 0, 0, 50, 20))
    page = element("body", element("p", text("The ferry", 0, 0, 50, 20), linked), WIDE, box=PAGE)

    assert nodes_of(page).text([0]) == "The ferry sails\na column"


@pytest.mark.parametrize("page", [element("html"), element("html", element("body", UNSEEN))])
def test_a_page_without_anything_to_see_is_one_block(page: Drawn) -> None:
    nodes = nodes_of(page)
    root = segment(nodes, 8)

    assert root.all() == [root]
    assert nodes.text(best_block(nodes, root, ["gold"])[0].nodes) == ""


def test_deep_pages_and_long_rows_end() -> None:
    deep = text("word", 0, 0, 10, 10)
    for _ in range(3_000):
        deep = element("div", deep, text("word", 0, 0, 10, 10))
    row = [paragraph("word", 0, 20 * y, 100, 20) for y in range(3_000)]

    for page in (deep, element("body", *row, box=(0, 0, 100, 60_000))):
        assert len(segment(nodes_of(page), 10).all()) > 3_000


def test_a_part_of_blocks_that_overlap_is_not_parted() -> None:
    nodes = nodes_of(
        element("body", *(paragraph("word", x, x, 100, 100) for x in (0, 50, 90)), box=PAGE)
    )
    pool = [Extracted(number, 10) for number in nodes.children[0]]

    assert [block.children for block in construct(nodes, pool)] == [[], [], []]


def test_a_drawing_that_is_kept_is_used_without_a_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawings = Drawings(tmp_path)
    drawings.folder.mkdir()
    keep(drawings, "page", to_bytes(drawing_of(NEWS)))
    keep(drawings, "absent", to_bytes(Failure("not drawn in 30 s")))
    article = "The ferry sails again since Monday. Nobody was late."

    simple = create(f"vips-simple:drawings={tmp_path}")
    perfect = create(f"vips-perfect:drawings={tmp_path}")
    monkeypatch.setenv("PATH", str(tmp_path))

    assert isinstance(perfect, Oracle)
    assert words(perfect.extract_best("page", article)) == words(article)
    with pytest.raises(NotDrawnError, match="not drawn in 30 s"):
        simple.extract("absent")
    with pytest.raises(TypeError, match="has to be told"):
        perfect.extract("page")


def keep(drawings: Drawings, html: str, content: bytes) -> None:
    drawings.path(html).write_bytes(content)


@pytest.mark.parametrize("granularity", [0, 11])
def test_a_granularity_beyond_the_degrees_is_rejected(granularity: int) -> None:
    with pytest.raises(ValueError, match="expected a granularity from 1 to 10"):
        VipsSimple(granularity=granularity)


@pytest.mark.skipif(chromium() is None, reason="there is no chromium here")
def test_a_page_is_drawn_and_its_article_found(tmp_path: Path) -> None:
    pytest.importorskip("playwright")
    items = "".join(f"<li><a href=/{n}>topic</a></li>" for n in range(8))
    story = "".join(f"<p>Paragraph {n} of the story about the ferry.</p>" for n in range(5))
    style = "nav { float: left; width: 200px } main { margin-left: 300px }"
    page = f"<style>{style}</style><nav><ul>{items}</ul></nav><main>{story}</main>"

    simple = VipsSimple(drawings=str(tmp_path))
    try:
        found = simple.extract(page)
    finally:
        simple.close()

    assert found == "\n".join(f"Paragraph {n} of the story about the ferry." for n in range(5))
