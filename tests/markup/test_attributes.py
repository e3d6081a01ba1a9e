from __future__ import annotations

from array import array
from itertools import accumulate
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.page import Page
from scrapy_mss.markup.attributes import (
    MAX_ATTRIBUTES,
    MAX_CLASS_WORDS,
    MAX_METAS,
    MAX_TAG_LENGTH,
    TYPE_CUES,
    TagPlaces,
    attribute_values,
    attributes_of_tag,
    class_words,
    element_attributes,
    graph_types,
    meta_description,
    rows_with,
    schema_types,
)
from scrapy_mss.markup.tags import BLOCK_TAGS
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.pages.declarations import occurrences
from tests.helpers.layouts import PAGES
from tests.helpers.markup import shown

READ = ("class", "id", "itemprop", "role", "data-testid", "data-component")
IGNORED = ("href", "style", "data-id", "data-class", "title", "name")
WORDS = ("article", "body", "Story", "Main", "NAV", "text", "ad")
SEPARATORS = ("-", "_", "__", " ", "3", "12 ", ":", "/", "-x-")
VALUES = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(SEPARATORS)), max_size=5)
ATTRIBUTES = st.lists(
    st.tuples(st.sampled_from(READ + IGNORED), VALUES, st.sampled_from("\"'")), max_size=5
)


@given(st.sampled_from(["div", "P", "section"]), ATTRIBUTES)
def test_class_words_are_the_words_of_certain_attributes(
    tag: str, attributes: list[tuple[str, list[tuple[str, str]], str]]
) -> None:
    source, expected = f"<{tag}", list[str]()
    for name, value, quote in attributes:
        text = "".join(word + separator for word, separator in value)
        source += f" {name}={quote}{text}{quote}"
        if name in READ:
            expected += [word.lower() for word, _ in value]

    assert class_words(source + ">") == list(dict.fromkeys(expected))[:MAX_CLASS_WORDS]


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ('<div class="article-body__text" id="story3">', "article body text story"),
        ("<div class=articleBody>", "article body"),
        ("<DIV CLASS='Main' ID = x2_Lead >", "main lead"),
        ('<div\nclass="one"\tid="two">', "one two"),
        ("<div class=one/>", "one"),
        # Single letters, digits and other attributes give none.
        ('<div class="a b2 c-d 17">', ""),
        ('<div href="class" data-class="one" title="a class of his own">', ""),
        ('<div class="">', ""),
        ("<div class>", ""),
        ('<div class="one', ""),
        ("<div class=", ""),
    ],
)
def test_class_words_of_a_tag(tag: str, expected: str) -> None:
    assert class_words(tag) == expected.split()


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<div hidden>x</div>", True),
        ("<div hidden=until-found>x</div>", True),
        ('<DIV id=x HIDDEN class="y">x</DIV>', True),
        ('<div style="color: red; display:none">x</div>', True),
        ("<div style='DISPLAY : NONE'>x</div>", True),
        ('<div style="visibility: hidden">x</div>', True),
        ("<div id=x style=color:red;display:none>x</div>", True),
        ("<template>x</template>", True),
        ("<div>x</div>", False),
        ('<div class="hiddenly" data-hidden="1">x</div>', False),
        ("<div hidden-by=script>x</div>", False),
        ('<div aria-hidden="true">x</div>', False),
        ('<div style="display:block">x</div>', False),
        ('<div style="overflow:hidden">x</div>', False),
        ('<div style="" title="display:none">x</div>', False),
        ("<div style=x title=display:none>x</div>", False),
    ],
)
def test_hidden_elements(page: str, *, expected: bool) -> None:
    assert Page.of(page).attributes.hidden.tolist() == [expected]


@given(PAGES)
def test_attributes_of_a_page_are_those_of_each_closed_block_element(source: str) -> None:
    tokens = tokenize(source)
    names = [name.strip("</>") for name in shown(tokens)]
    starts = [
        at
        for at, partner in enumerate(tokens.partner.tolist())
        if partner > at and names[at] in BLOCK_TAGS
    ]

    found = element_attributes(tokens, np.array(starts, np.intp))

    words = [class_words(tokens.html(at, at + 1)) for at in starts]
    hashes = [crc32(word.encode()) for of_element in words for word in of_element]
    keys = [" ".join([names[at], *words[row]]) for row, at in enumerate(starts)]
    assert Page(tokens).attributes.start.tolist() == starts
    assert found.key.tolist() == [crc32(key.encode()) for key in keys]
    assert found.word.tolist() == hashes
    assert found.element.tolist() == [
        row for row, of_element in enumerate(words) for _ in of_element
    ]


def test_an_element_has_a_bounded_number_of_class_words() -> None:
    value = " ".join(f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")

    found = Page.of(f'<div class="{value}">one</div>').attributes

    assert len(found.word) == MAX_CLASS_WORDS


def test_only_the_beginning_of_a_long_tag_is_read() -> None:
    style = "x" * MAX_TAG_LENGTH

    early = Page.of(f'<div class="one" style="{style}">x</div>').attributes
    late = Page.of(f'<div style="{style}" class="one">x</div>').attributes

    assert early.word.tolist() == [crc32(b"one")]
    assert late.word.tolist() == []


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ('<meta name="description" content="One two three four">', "One two three four"),
        ("<meta content='One \"two\"' property=og:description>", 'One "two"'),
        ('<META NAME="Description"\nCONTENT="One">', "One"),
        ('<meta itemprop="description" content="One"/>', "One"),
        ("<meta name=description content=脆弱性対策情報>", "脆弱性対策情報"),
        ('<meta name="twitter:description" content="One">', "One"),
        # The longest of several, in any order.
        (
            '<meta name="description" content="One"><meta itemprop=description content="One two">',
            "One two",
        ),
        (
            '<meta itemprop=description content="One two"><meta name="description" content="Two">',
            "One two",
        ),
        # None.
        ("", ""),
        ('<meta name="description">', ""),
        ('<meta name="description" content="">', ""),
        ('<meta name="keywords" content="description">', ""),
        ('<meta name="dcterms.description" content="One">', ""),
        ('<p name="description" content="One">x</p>', ""),
        ('<meta name="description" content="One', ""),
        ('<!-- <meta name="description" content="One"> -->', ""),
        (f'<meta name="description" content="{"one " * MAX_TAG_LENGTH}">', ""),
    ],
)
def test_description_of_a_page(head: str, expected: str) -> None:
    assert meta_description(tokenize(head)) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('{"@type": "NewsArticle"}', {"NewsArticle"}),
        ("{'@type' : ['BlogPosting', 'Thing']}", {"BlogPosting"}),
        ('{"@type":[ "Product"]}', {"Product"}),
        ('{"@type": "ItemList"} {"@type": "Article"}', {"ItemList", "Article"}),
        ('<meta property="og:type" content="article">', {"article"}),
        ("<meta property='og:type' content = 'product'>", {"product"}),
        ('<meta content="article" data-x="" property="og:type" />', {"article"}),
        ("<meta name=og:type content=Article><meta property=og:type>", {"article"}),
        # Near misses.
        ('<meta property="x" content="og:type">', set()),
        ('"og:type" content="article">', set()),
        ("og:type " * MAX_METAS + '<meta property="og:type" content="article">', set()),
        ('{"@type": Article}', set()),
        ('{"type": "Article"}', set()),
        ('{"@type": [[ "Article"]]}', set()),
        (f'{{"@type": "{"A" * 41}"}}', set()),
        ('<meta property="og:type">', set()),
        ('<meta property="og:title" content="article">', set()),
        ("", set()),
    ],
)
def test_declared_types_of_a_page(source: str, expected: set[str]) -> None:
    of_schema, of_graph = occurrences(source, TYPE_CUES)

    assert schema_types(source, of_schema) | graph_types(source, of_graph) == expected


def attributes_of(tag: str) -> dict[str, str]:
    """The attributes of a tag, which is found between others."""
    source = f'<b a="1">{tag}<i>'
    return attributes_of_tag(source, 9, 9 + len(tag))


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("<p>", {}),
        ("<p/>", {}),
        ("<p a>", {"a": ""}),
        ("<p a=>", {"a": ""}),
        ("<p a=1 b='2' c=\"3\">", {"a": "1", "b": "2", "c": "3"}),
        ("<p a = 1\n\tb\f=\r'2'>", {"a": "1", "b": "2"}),
        ("<p a='1'b=2>", {"a": "1", "b": "2"}),
        ("<p/a=1/b/c='/'/>", {"a": "1/b/c='/'/"}),
        ("<p a/b>", {"a": "", "b": ""}),
        ("<p a=1 A=2>", {"a": "1"}),
        ("<p CAF\u00c9=\u00c9 itemProp=x>", {"caf\u00e9": "\u00c9", "itemprop": "x"}),
        ("<p a='>' b='\"'>", {"a": ">", "b": '"'}),
        ('<p a=b"c=d>', {"a": 'b"c=d'}),
        ("<p =a=1>", {"=a": "1"}),
        ("<p a\u00a0b>", {"a\u00a0b": ""}),
        ("<p a='1 b=2>", {"a": "", "'1": "", "b": "2"}),
        ("<p a='AT&amp;T' b=&lt;>", {"a": "AT&T", "b": "<"}),
        ("<p a='?b=1&copy=2&amp;c&reg'>", {"a": "?b=1&copy=2&c\u00ae"}),
        (
            "<p a='&notit; &notin; &copyx &copy; &copy'>",
            {"a": "&notit; \u2209 &copyx \u00a9 \u00a9"},
        ),
        ("<p a='&#233;&#x4E00;&#65'>", {"a": "\u00e9\u4e00A"}),
        ("<p a='&nosuch; & &; &amp'>", {"a": "&nosuch; & &; &"}),
    ],
)
def test_attributes_are_read_as_the_standard_has_it(tag: str, expected: dict[str, str]) -> None:
    assert attributes_of(tag) == expected


def test_a_tag_of_a_million_attributes_has_the_first_few() -> None:
    assert len(attributes_of(f"<p {'a%d ' * 1000 % tuple(range(1000))}>")) == MAX_ATTRIBUTES


def places_of(tags: list[str]) -> TagPlaces:
    """Where *tags* are in all of them, one behind the other."""
    ends = array("i", accumulate(map(len, tags)))
    starts = array("i", (end - len(tag) for end, tag in zip(ends, tags, strict=True)))
    return TagPlaces(array("i", range(len(tags))), starts, ends)


def test_tags_with_a_name_hold_it_in_any_case() -> None:
    tags = ["<b itemprop>", "<b ITEMprop=x>", "<b class=itemprop>", "<b itempro p>", "<itemprop"]
    places, none = places_of(tags), places_of([])

    assert rows_with("itemprop", "".join(tags), places).tolist() == [0, 1, 2, 4]
    assert rows_with("itemprop", "".join(tags), none).tolist() == []


def test_values_are_those_of_the_first_attribute_of_each_name() -> None:
    tags = ["<a rel=x href='?a&amp;b' REL=y>", "<a href>", "<a>"]

    found = attribute_values(("href", "rel"), "".join(tags), places_of(tags))

    assert found == [["?a&b", "x"], ["", None], [None, None]]
