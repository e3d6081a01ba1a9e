"""Visits to nodes are bounded, and what ordinary pages give does not depend on the bound."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scrapy_mss import metadata
from scrapy_mss.markup.tokens import Tokens
from scrapy_mss.metadata import parsed_page
from scrapy_mss.metadata.parsed_page import MAX_VISITS, VisibleText
from scrapy_mss.metadata.tree import Element, PageTree
from tests.helpers.news_pages import news_page
from tests.helpers.page_trees import TREES

HEADING = "<title>Rain falls in May</title><h1>Rain falls in May</h1>"
EMPTY = "<i></i>" * 20_000
NESTED = {
    "properties": "<div itemprop='author name datePublished'><i></i>" * 500 + EMPTY,
    "persons": "<div itemscope itemprop=author>" * 500 + "<b itemprop=name></b>" * 200 + EMPTY,
    "times": "<time>" * 160 + EMPTY,
    "marked times": "<time class=posted>" * 160 + EMPTY,
    "headings": "<h1>" * 20 + EMPTY,
    "author links": "<a rel=author><div>" * 50 + EMPTY,
    "bylines": "<div class=byline>" * 200 + EMPTY,
}


class CountedTree(PageTree):
    """Counts the texts that are looked at."""

    texts = 0

    def source_after(self, row: int) -> str:
        self.texts += 1
        return super().source_after(row)


@pytest.mark.parametrize("name", NESTED)
def test_visits_are_bounded_whatever_is_nested(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    trees: list[CountedTree] = []

    def counted(tokens: Tokens) -> CountedTree:
        trees.append(CountedTree(tokens))
        return trees[-1]

    monkeypatch.setattr(metadata, "PageTree", counted)

    metadata.read_html(HEADING + NESTED[name])

    assert 0 < trees[0].texts <= 2 * MAX_VISITS


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[VisibleText]:
    """The budgets of the pages that are read."""
    made: list[VisibleText] = []

    class Kept(VisibleText):
        def __init__(self, tree: PageTree) -> None:
            super().__init__(tree)
            made.append(self)

    monkeypatch.setattr(parsed_page, "VisibleText", Kept)
    return made


def test_an_ordinary_page_needs_a_fraction_of_the_visits(made: list[VisibleText]) -> None:
    metadata.read_html(news_page(0).html)

    assert made[0].visits_left > 0.9 * MAX_VISITS


ANY_TREE = pytest.mark.parametrize("tree_of", TREES.values(), ids=TREES)
TreeOf = Callable[[str], PageTree]


def paragraph(tree: PageTree) -> Element:
    return next(tree.find(frozenset({"p"}), 1))


@ANY_TREE
def test_a_text_is_read_once(tree_of: TreeOf) -> None:
    tree = tree_of("<p>one <b>two</b></p>")
    visible = VisibleText(tree)
    assert visible.of(paragraph(tree)) == "one two"
    left = visible.visits_left

    assert visible.of(paragraph(tree)) == "one two"
    assert visible.visits_left == left


@ANY_TREE
def test_without_visits_there_is_no_text(tree_of: TreeOf) -> None:
    tree = tree_of("<p>one</p>")

    assert VisibleText(tree, 0).of(paragraph(tree)) == ""


def test_lines_near_the_heading_and_distant_ones_are_read_once(made: list[VisibleText]) -> None:
    lines = "<p>rain <b>falls</b></p>" * 100

    metadata.read_html(HEADING + lines)

    assert made[0].visits_left > MAX_VISITS - 1.2 * lines.count("<")


@ANY_TREE
def test_text_that_is_hidden_is_not_paid_for(tree_of: TreeOf) -> None:
    tree = tree_of(f"<p>one <script>{'x' * 100_000}</script><b>two</b></p>")
    visible = VisibleText(tree)

    assert visible.of(paragraph(tree)) == "one two"
    assert visible.visits_left > MAX_VISITS - 20
