from __future__ import annotations

from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.markup.attributes import LONGEST_TAG, MOST_NAMES, names_of, words_of_tag
from scrapy_mss.markup.tags import BLOCK_TAGS
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import OPEN, Tokens
from tests.helpers.layouts import ODD, PAGES, tag_of

NAMED = ("class", "id", "itemprop", "role", "data-testid", "data-component")
PLAIN = ("href", "style", "data-id", "data-class", "title", "name")
WORDS = ("article", "body", "Story", "Main", "NAV", "text", "ad")
BETWEEN = ("-", "_", "__", " ", "3", "12 ", ":", "/", "-x-")
VALUES = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(BETWEEN)), max_size=5)
ATTRIBUTES = st.lists(
    st.tuples(st.sampled_from(NAMED + PLAIN), VALUES, st.sampled_from("\"'")), max_size=5
)


@given(st.sampled_from(["div", "P", "section"]), ATTRIBUTES)
def test_names_are_the_words_of_the_attributes_that_name(
    tag: str, attributes: list[tuple[str, list[tuple[str, str]], str]]
) -> None:
    source, expected = f"<{tag}", list[str]()
    for name, value, quote in attributes:
        source += f" {name}={quote}{''.join(word + between for word, between in value)}{quote}"
        if name in NAMED:
            expected += [word.lower() for word, _ in value]

    found = words_of_tag(source + ">")

    assert list(found) == list(dict.fromkeys(expected))[:MOST_NAMES]


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ('<div class="article-body__text" id="story3">', "article body text story"),
        ("<div class=articleBody>", "article body"),
        ("<DIV CLASS='Main' ID = x2_Lead >", "main lead"),
        ('<div class="story story-2">', "story"),
        ('<div\nclass="one"\tid="two">', "one two"),
        (
            '<div itemprop="articleBody" role="main" data-testid="x-teaser">',
            "article body main teaser",
        ),
        ('<div data-component="text-block">', "text block"),
        ("<div class=one/>", "one"),
        # Single letters, digits and other attributes are no names.
        ('<div class="a b2 c-d 17">', ""),
        ('<div href="class" data-class="one" title="a class of his own">', ""),
        ('<div class="">', ""),
        ("<div class>", ""),
        ("<div>", ""),
        ('<div class="one', ""),
        ("<div class=", ""),
    ],
)
def test_names_in_a_tag(tag: str, expected: str) -> None:
    assert list(words_of_tag(tag)) == expected.split()


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("<div hidden>", True),
        ("<div hidden=until-found>", True),
        ('<DIV id=x HIDDEN class="y">', True),
        ('<div style="color: red; display:none">', True),
        ("<div style='DISPLAY : NONE'>", True),
        ('<div style="visibility: hidden">', True),
        ("<template>", True),
        ("<div>", False),
        ('<div class="hiddenly" data-hidden="1">', False),
        ('<div aria-hidden="true">', False),
        ('<div style="display:block">', False),
        ('<div style="overflow:hidden">', False),
        ('<div style="" title="display:none">', False),
    ],
)
def test_elements_that_are_hidden(tag: str, expected: bool) -> None:  # noqa: FBT001
    name = words_of_tag(f'<x class="{tag[1:]}">')[0]

    assert names_of(tokenize(f"{tag}x</{name}>")).hidden.tolist() == [expected]


@given(PAGES)
def test_a_page_s_names_are_those_of_each_closed_block(source: str) -> None:
    tokens = tokenize(source)
    opens = [
        at
        for at in range(len(tokens))
        if tokens.kind[at] == OPEN and tokens.partner[at] >= 0 and tag_of(tokens, at) in BLOCK_TAGS
    ]

    found = names_of(tokens)

    words = [list(words_of_tag(source_of(tokens, at))) for at in opens]
    assert found.element.tolist() == opens
    assert found.key.tolist() == [
        crc32(" ".join([tag_of(tokens, at), *of]).encode())
        for at, of in zip(opens, words, strict=True)
    ]
    assert found.word.tolist() == [crc32(word.encode()) for of in words for word in of]
    assert found.of.tolist() == [number for number, of in enumerate(words) for _ in of]


def source_of(tokens: Tokens, at: int) -> str:
    return tokens.clean[tokens.clean_start[at] : tokens.clean_end[at]]


def test_an_element_has_no_more_than_so_many_names() -> None:
    value = " ".join(f"name{chr(97 + n)}" for n in range(26))
    found = names_of(tokenize(f'<div class="{value}">one</div>'))

    assert len(found.word) == MOST_NAMES


def test_only_the_beginning_of_a_long_tag_is_looked_at() -> None:
    style = "x" * LONGEST_TAG
    near = names_of(tokenize(f'<div class="one" style="{style}">x</div>'))
    far = names_of(tokenize(f'<div style="{style}" class="one">x</div>'))

    assert near.word.tolist() == [crc32(b"one")]
    assert far.word.tolist() == []


@pytest.mark.parametrize("name", ODD)
def test_odd_pages_have_names_of_sound_numbers(name: str) -> None:
    found = names_of(tokenize(ODD[name]))

    assert len(found.element) == len(found.key)
    assert len(found.word) == len(found.of) <= MOST_NAMES * len(found.element)
    assert np.all(np.diff(found.of) >= 0)
