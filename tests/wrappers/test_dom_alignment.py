"""Which tokens an element is, compared with its text in the tree."""

from __future__ import annotations

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


# Elements whose content is markup for both parsers; tags in a title are text for one of them.
ORDINARY = "div p span b a ul ol li table tbody tr td br img h1 em section x-y font form dl dd pre"
ATTRIBUTES = ('id="e>1"', "class='c>d e'", "Data-x=1")


def soup(choose: Random) -> str:
    """Tags that nest or not, in any spelling, with a word between most."""

    def cased(name: str) -> str:
        return name.upper() if choose.random() < 0.3 else name

    names, parts, unclosed = ORDINARY.split(), ["<body>"], list[str]()
    misnested = choose.choice([0, 0.2])
    for number in range(choose.randint(3, 30)):
        kind = choose.random()
        if kind < 0.45:
            unclosed.append(choose.choice(names))
            attributes = choose.sample(ATTRIBUTES, choose.randint(0, 3))
            parts.append(f"<{' '.join([cased(unclosed[-1]), *attributes])}>")
        elif kind < 0.8 and unclosed:
            closed = choose.choice(names) if choose.random() < misnested else unclosed.pop()
            parts.append(f"</{cased(closed)}>")
        parts.append(choose.choice(["", f"w{number} ", f"w{number} "]))
    return "".join(parts)


@settings(max_examples=3 * settings().max_examples)
@given(RANDOMS)
def test_an_element_has_the_words_that_the_tree_says(choose: Random) -> None:
    tree = AlignedTree(tokenize(soup(choose)))
    assert tree.root is not None

    wrong = [
        (element.tag, words_of(tree, element), STRING(element))
        for element in tree.root.iter("*")
        if element.get(ATTRIBUTE) and words_of(tree, element) != STRING(element).split()
    ]

    assert wrong == [], tree.tokens.source


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


@given(source=SOUP, chance=RANDOMS)
def test_an_element_without_a_number_begins_with_the_first_inside_that_has_one(
    source: str, chance: Random
) -> None:
    tree = AlignedTree(tokenize(f"<p>{source}"))
    assert tree.root is not None
    elements = list(tree.root.iter("*"))
    for element in elements:
        if chance.random() < 2 / 3:
            element.attrib.pop(tree.attribute, None)
    chance.shuffle(elements)

    for element in elements:
        inside = (inner.get(tree.attribute) for inner in element.iter("*"))
        assert tree.start(element) == next((int(n) for n in inside if n), None)
