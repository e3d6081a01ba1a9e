"""Of well-formed pages the tokens give the elements of lxml's tree; of others what browsers see.

Visits to nodes are bounded, and what ordinary pages give does not depend on the bound.
"""

from __future__ import annotations

from html import escape
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.metadata.fields import FIELDS, resolve_field
from scrapy_mss.metadata.parsed_page import ParsedPage
from scrapy_mss.pages.text import clean
from scrapy_mss.pages.tree import BREAKS, HIDDEN, MAX_VISITS, Element, PageTree
from tests.helpers.effort import examples
from tests.helpers.news_pages import news_page

URL = "https://x.example/2024/03/05/a"
TEXTS = st.sampled_from(
    [
        *("By Ann Lee", "5 March 2024", "Updated: 2024-03-06", "Rain falls in May", "and", " ", ""),
        *("AT&amp;T", "caf&eacute;", "a <!-- b --> c", "By <!-- -->Bo Xu", "&lt;b&gt;", "x" * 130),
    ]
)
NAMES = "class content datetime href id itemprop rel".split()
VALUES = ["author", "", "2024-03-05", "?a=1&copy=2&b", "AT&T", "a &lt; b", "caf\u00e9", 'a "b"']
ATTRIBUTES = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(VALUES), max_size=4)
# Elements that no parser moves, closes or completes, whatever they are in.
BODIES = st.recursive(
    TEXTS,
    lambda inner: st.tuples(
        st.sampled_from("div section span time em h1 p a svg noscript".split()),
        ATTRIBUTES,
        st.lists(inner, max_size=4),
    ),
    max_leaves=20,
)
INLINE = frozenset({"span", "em", "time"})


def tag(name: str, attributes: dict[str, str]) -> str:
    written = (f' {key}="{escape(value)}"' for key, value in attributes.items())
    return f"<{name}{''.join(written)}>"


def body(element: object, around: frozenset[str] = frozenset()) -> str:
    """A well-formed element: no heading, paragraph or link holds what would close it."""
    if isinstance(element, str):
        return element
    assert isinstance(element, tuple)
    name, attributes, inner = element
    if around & {"h1", "p", "a"} and name not in INLINE:
        name = "span"
    return (
        tag(name, attributes)
        + "".join(body(each, around | {name}) for each in inner)
        + f"</{name}>"
    )


LxmlElement: TypeAlias = Any
NAMED = ("h1", "div", "time", "p", "a", "span")


def text_in(node: LxmlElement) -> str:
    """The text that a *node* of lxml displays, with a space where a line begins or ends."""
    if not isinstance(node.tag, str) or node.tag in HIDDEN:
        return ""
    inside = "".join((node.text or "", *(text_in(each) + (each.tail or "") for each in node)))
    return f" {inside} " if node.tag in BREAKS else inside


@examples(3)
@given(st.lists(BODIES, max_size=5))
def test_the_elements_of_a_well_formed_page_are_those_of_its_tree(bodies: list[object]) -> None:
    source = f"<html><body><h1>Rain falls</h1>{''.join(map(body, bodies))}</body></html>"
    parsed: LxmlElement = etree.fromstring(source, etree.HTMLParser())

    found = made_of_tokens(source).find(frozenset(NAMED), 1_000)

    assert [(each.tag, each.attrib, around(each), each.text) for each in found] == [
        (each.tag, each.attrib, [*around(each), ""], clean(text_in(each)))
        for each in parsed.iter(*NAMED)
    ]


def around(element: LxmlElement) -> list[str]:
    return [each.tag for each in element.iterancestors()]


def made_of_tokens(source: str, visits: int = MAX_VISITS) -> PageTree:
    return PageTree(tokenize(source), visits)


ARTICLE = "<div itemscope itemtype=https://schema.org/Article>"


def test_properties_are_read_in_all_elements_or_in_those_above() -> None:
    # Every second tag but names the attribute.
    tree = made_of_tokens("<p title=itemprop><p itemprop=a>" * 5 + "<b itemprop=c><i>x</i></b>")
    (inner,) = tree.called("i", 1)

    assert [name for _, name in tree.having("itemprop")] == [*"aaaaac"]
    assert [name for _, name in tree.having("itemprop", tree.rows_above([inner.row]))] == ["c"]


def page(source: str) -> ParsedPage:
    return ParsedPage(tokenize(source), URL)


@pytest.mark.parametrize(
    ("source", "headings"),
    [
        ("<h1><p>Rain falls</p></h1>", ["Rain falls"]),  # libxml2 closes the heading at the <p>
        ("<h1>Rain falls<p>It rained.</p>", ["Rain falls"]),  # never closed
        ("<h1>Rain falls</h2><h1>Or not</h1>", ["Rain falls", "Or not"]),
        ("<h1>Rain<br>falls</h1>", ["Rain falls"]),
        ("<h1>Rain <svg><title>x</title></svg>falls</h1>", ["Rain falls"]),
        ("<textarea><h1>Rain falls</h1></textarea><h1>It does</h1>", ["It does"]),
        ("<!-- <h1>No</h1> --><h1>Rain falls</h1>", ["Rain falls"]),
        ("<h2>Rain falls</h2>", ["Rain falls"]),
    ],
)
def test_headings_of_odd_markup_are_those_that_browsers_show(
    source: str, headings: list[str]
) -> None:
    assert page(source).headings == headings


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ("<b itemprop=author>x</b>", ["x"]),
        ("<b itemProp=author>x</b>", ["x"]),
        ("<b itemprop='author Author author'>x</b>", ["x"]),
        ("<b data-x=itemprop>x</b>", []),
        ("itemprop=author <b>x</b>", []),
        ("<div itemscope itemtype=https://schema.org/Person><b itemprop=name>x</b></div>", []),
        (f"{ARTICLE}<p><b itemprop=name>x</b></div>", ["x"]),
        (f"{ARTICLE}<p></div>{ARTICLE}<b itemprop=name>x</b></div>", ["x"]),
        (f"{ARTICLE}<p itemprop></div>{ARTICLE}<b itemprop=name>x</b></div>", []),
    ],
)
def test_properties_are_those_of_the_page(source: str, texts: list[str]) -> None:
    assert [each.text for each in page(source).properties(("author", "name"))] == texts


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<html><head><title>x</title></head><body>a<p>b</body></html>", "a b"),
        ("<head><title>x</title></head>a<p>b", "a b"),
        ("<title>x</title>a<p>b", "a b"),
        ("a<p>b", "a b"),
        ("", ""),
    ],
)
def test_the_text_of_a_page_is_that_of_its_body(source: str, text: str) -> None:
    tree = made_of_tokens(source)
    fragments = tree.fragments_after(None)

    assert " ".join("".join(each for each, _ in fragments).split()) == text


def test_one_of_many_tags_costs_no_more_elements_than_asked_for() -> None:
    tree = made_of_tokens("<h1>a</h1>" * 50 + "<h2>b</h2>")

    assert [each.tag for each in tree.find(frozenset({"h1", "h2"}), 3)] == ["h1"] * 3 + ["h2"]
    assert len(list(tree.values("h1", ("id",), 3))) == 3


def test_scripts_are_json_ld_or_not() -> None:
    tree = made_of_tokens(
        "<script>a</script><script type='application/LD+JSON; x'>b</script><script type></script>"
        "<script type=text/javascript>c</script><script type='application/ld&#43;json'>d</script>"
    )

    assert list(tree.scripts(9, json_ld=True)) == ["b", "d"]
    assert list(tree.scripts(9, json_ld=False)) == ["a", "", "c"]
    assert list(tree.scripts(2, json_ld=False)) == ["a"]


def test_the_language_is_that_of_the_first_html_tag_with_one() -> None:
    source = "<html class=old><html lang=en class=new><html xml:lang=de lang=fr>"

    assert page(source).language == "en"


# The text of elements, and its budget


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<p>a<b>b</b>c</p>", "abc"),
        ("<p>a<br>b</p>", "a b"),
        ("<div>a<div>b</div>c</div>", "a b c"),
        ("<p>a<script>x</script>b</p>", "ab"),
        ("<p>a<!-- x -->b</p>", "ab"),
        ("<p>a<?x y?>b</p>", "ab"),
        ("<p><svg><title>x</title></svg>b</p>", "b"),
        ("<p></p>", ""),
    ],
)
def test_visible_text_is_what_browsers_display(source: str, expected: str) -> None:
    tree = made_of_tokens(f"<body>{source}tail</body>")
    element = next(tree.find(frozenset({"p", "div"}), 1))

    assert element.text == expected


@pytest.mark.parametrize("name", ["br", "img", "meta"])
def test_an_element_that_cannot_have_content_has_no_text(name: str) -> None:
    (element,) = made_of_tokens(f"<p>a<{name}>b</{name}>c</p>").called(name, 1)

    assert element.text == ""


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


def visits_left(source: str) -> int:
    """The visits that are left when all fields of a page were read."""
    read = page(source)
    for field in FIELDS.values():
        resolve_field(read, field)
    return read.tree.visits


@pytest.mark.parametrize("name", NESTED)
def test_visits_are_bounded_whatever_is_nested(name: str) -> None:
    assert -MAX_VISITS <= visits_left(HEADING + NESTED[name]) < MAX_VISITS


def paragraph(tree: PageTree) -> Element:
    return next(tree.find(frozenset({"p"}), 1))


def test_a_text_is_read_once_and_as_long_as_visits_are_left() -> None:
    tree, spent = (made_of_tokens("<p>one <b>two</b></p>", visits) for visits in (MAX_VISITS, 0))
    texts = [paragraph(tree).text, paragraph(spent).text]
    left = tree.visits

    assert [paragraph(tree).text, paragraph(spent).text] == texts == ["one two", ""]
    assert tree.visits == left


@pytest.mark.parametrize("source", [news_page(0).html, HEADING + "<p>rain <b>falls</b></p>" * 100])
def test_of_an_ordinary_page_every_line_is_read_about_once(source: str) -> None:
    assert visits_left(source) > MAX_VISITS - 1.2 * source.count("<")


def test_text_that_is_hidden_is_not_paid_for() -> None:
    tree = made_of_tokens(f"<p>one <script>{'x' * 100_000}</script><b>two</b></p>")

    assert paragraph(tree).text == "one two"
    assert tree.visits > MAX_VISITS - 20
