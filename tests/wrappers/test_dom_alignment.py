"""Which tokens an element is: by construction on documents that nest, by the tree on soup."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import WORD
from scrapy_mss.wrappers.dom_alignment import ATTRIBUTE, AlignedTree
from scrapy_mss.wrappers.selectors import Element
from tests.helpers.markup import SOUP

RANDOMS = st.randoms(use_true_random=False)
STRING = etree.XPath("string()", smart_strings=False)


def words_of(tree: AlignedTree, element: Element) -> list[str]:
    """The words among the tokens of the element."""
    start = tree.start(element)
    if start is None:
        return []
    tokens, span = tree.tokens, slice(start, tree.end(element))
    bounds = zip(tokens.start[span], tokens.end[span], tokens.kind[span] == WORD, strict=True)
    return [tokens.source[begin:end] for begin, end, is_word in bounds if is_word]


def with_id(tree: AlignedTree, name: str) -> Element:
    assert tree.root is not None
    (found,) = tree.root.xpath("//*[@id=$name]", name=name)
    assert isinstance(found, Element)
    return found


@dataclass(frozen=True)
class Node:
    """An element of a document that nests."""

    name: str
    children: tuple[Node | None, ...]  # None is a word


def _nodes(names: list[str], inner: st.SearchStrategy[Node | None]) -> st.SearchStrategy[Node]:
    children = st.lists(inner, max_size=4).map(tuple)
    return st.builds(Node, st.sampled_from(names), children)


INLINE = st.recursive(
    st.none(), lambda inner: _nodes(["span", "em", "i", "x-y"], inner), max_leaves=6
)
BLOCKS = st.recursive(
    INLINE,
    lambda inner: _nodes(["div", "section", "article", "blockquote"], inner),
    max_leaves=15,
)
DOCUMENTS = st.lists(BLOCKS, min_size=1, max_size=4).map(lambda top: Node("body", tuple(top)))


@dataclass
class Writer:
    """Writes a document, and which words each element has."""

    choose: Random

    def __post_init__(self) -> None:
        self.parts: list[str] = []
        self.n_words = 0
        self.words: dict[str, list[str]] = {}

    def write(self, node: Node | None) -> None:
        if node is None:
            self.parts.append(f" w{self.n_words} ")
            self.n_words += 1
            return
        identity = f"e{len(self.words)}"
        first = self.n_words
        self.words[identity] = []
        self.parts.append(self._tag(node.name, identity))
        for child in node.children:
            self.write(child)
        self.parts.append(f"</{self._cased(node.name)}>")
        self.words[identity] = [f"w{n}" for n in range(first, self.n_words)]

    def _tag(self, name: str, identity: str) -> str:
        """The same tag each time, in one of its spellings."""
        attributes = [
            f'{self._cased("id")}="{identity}"',
            "class='c>d e'",
            f"{self._cased('data-x')}=1",
        ]
        self.choose.shuffle(attributes)
        return f"<{self._cased(name)} {'  '.join(attributes)}>"

    def _cased(self, text: str) -> str:
        return text.upper() if self.choose.random() < 0.3 else text


def written(document: Node, choose: Random) -> tuple[str, dict[str, list[str]]]:
    writer = Writer(choose)
    writer.write(document)
    return "".join(writer.parts), writer.words


@given(DOCUMENTS, RANDOMS)
def test_an_element_is_what_stands_between_its_tags(document: Node, choose: Random) -> None:
    source, words = written(document, choose)

    tree = AlignedTree(tokenize(source))

    assert {name: words_of(tree, with_id(tree, name)) for name in words} == words


# Elements whose content is markup for both parsers; tags in a title are text for one of them.
ORDINARY = "div p span b a ul ol li table tbody tr td br img h1 em section foo font form dl dd pre"


def soup(choose: Random) -> str:
    """Tags that do not nest, with a word between most."""
    names, parts, unclosed = ORDINARY.split(), ["<body>"], []
    for number in range(choose.randint(3, 30)):
        kind = choose.random()
        if kind < 0.45:
            unclosed.append(choose.choice(names))
            parts.append(f"<{unclosed[-1]}>")
        elif kind < 0.8 and unclosed:
            closed = unclosed.pop() if choose.random() < 0.8 else choose.choice(names)
            parts.append(f"</{closed}>")
        parts.append(choose.choice(["", f"w{number} ", f"w{number} "]))
    return "".join(parts)


def elements(tree: AlignedTree) -> Iterator[Element]:
    assert tree.root is not None
    yield from tree.root.iter("*")


@settings(max_examples=2 * settings().max_examples)
@given(RANDOMS)
def test_where_tags_do_not_nest_an_element_ends_where_the_tree_says(choose: Random) -> None:
    tree = AlignedTree(tokenize(soup(choose)))

    wrong = [
        (element.tag, words_of(tree, element), STRING(element))
        for element in elements(tree)
        if element.get(ATTRIBUTE) and words_of(tree, element) != STRING(element).split()
    ]

    assert wrong == [], tree.tokens.source


def test_an_element_that_only_the_parser_made_begins_with_what_is_in_it() -> None:
    tree = AlignedTree(tokenize("<p>a </p><div>b </div>"))
    assert tree.root is not None

    body = tree.root.find("body")

    assert body is not None
    assert body.get(tree.attribute) is None
    assert words_of(tree, body) == ["a", "b"]


def test_an_element_of_which_the_page_has_nothing_is_nowhere() -> None:
    tree = AlignedTree(tokenize("nothing but words"))
    assert tree.root is not None

    assert tree.start(tree.root) is None


@pytest.mark.parametrize("name", [ATTRIBUTE, "_00_", "_000_"])
def test_a_page_cannot_have_the_attribute_first(name: str) -> None:
    source = f'<div {name}="7" id=x>a <textarea><p {name}=1></textarea></div><!-- <b _0_="2"> -->'

    tree = AlignedTree(tokenize(source))

    assert tree.attribute not in source
    assert tree.start(with_id(tree, "x")) == 0


def test_numbers_are_taken_out_of_text_again() -> None:
    tree = AlignedTree(tokenize("<title>On <b>tags</title><p>x"))
    assert tree.root is not None

    title = tree.without_numbers(tree.root.findtext(".//title") or "")

    assert title in ("On <b>tags", "On ")  # some parsers see a tag in a title


@pytest.mark.parametrize("source", ["", " ", "\0", "<!-- -->", "<!doctype html>"])
def test_a_page_without_an_element_may_have_no_tree(source: str) -> None:
    tree = AlignedTree(tokenize(source))

    assert tree.root is None or tree.start(tree.root) is None


def test_a_name_that_grows_in_lower_case_is_measured_as_it_stands() -> None:
    tree = AlignedTree(tokenize("<d\u0130v id=x>a</d\u0130v>b"))

    element = with_id(tree, "x")

    assert STRING(element) == "a"  # without a number
    assert tree.start(element) == 0


@pytest.mark.parametrize("odd", ["\0", "\ud800", "\x01", "\ufeff", "\U0001f600"])
def test_odd_characters_move_no_number(odd: str) -> None:
    source = f"<p>{odd}a{odd}</p><{odd}><b{odd}>c</b><div id=x title='{odd}'>{odd} w {odd}</div>"
    tokens = tokenize(source)

    tree = AlignedTree(tokens)

    div = with_id(tree, "x")
    assert tree.start(div) == int(tokens.is_open("div").argmax())
    assert words_of(tree, div) == ["w"]


class Counting(AlignedTree):
    """Counts how often an element is asked for its number."""

    n_asked = 0

    def _number(self, element: Element) -> int | None:
        self.n_asked += 1
        return super()._number(element)


def without_some_numbers(source: str, chance: Random) -> Counting:
    """A tree in which the parser supplied about two elements of three."""
    tree = Counting(tokenize(source))
    assert tree.root is not None
    for element in tree.root.iter("*"):
        if chance.random() < 2 / 3:
            element.attrib.pop(tree.attribute, None)
    return tree


@given(source=SOUP, chance=RANDOMS)
def test_an_element_without_a_number_begins_with_the_first_inside_that_has_one(
    source: str, chance: Random
) -> None:
    tree = without_some_numbers(f"<p>{source}", chance)
    assert tree.root is not None
    elements = list(tree.root.iter("*"))
    chance.shuffle(elements)

    for element in elements:
        inside = (inner.get(tree.attribute) for inner in element.iter("*"))
        assert tree.start(element) == next((int(n) for n in inside if n), None)


def test_nested_elements_without_numbers_are_walked_through_once() -> None:
    depth = 200
    tree = Counting(tokenize("<div>" * depth + "<b>x</b>"))
    assert tree.root is not None
    elements = list(tree.root.iter("*"))
    for element in elements[:-1]:
        element.attrib.pop(tree.attribute, None)

    for element in elements:
        tree.start(element)

    assert tree.n_asked <= 3 * len(elements)
