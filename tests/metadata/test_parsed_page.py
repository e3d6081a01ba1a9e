"""Of well-formed pages the tokens give what lxml's tree gives; of others what browsers see.

Visits to nodes are bounded, and what ordinary pages give does not depend on the bound.
"""

from __future__ import annotations

from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss import metadata
from scrapy_mss.metadata import parsed_page
from scrapy_mss.metadata.parsed_page import MAX_VISITS, ParsedPage, VisibleText
from scrapy_mss.metadata.tree import Element, PageTree, Visits
from tests.helpers.effort import examples
from tests.helpers.news_pages import news_page
from tests.helpers.page_trees import made_of_tokens, parsed_by_lxml

URL = "https://x.example/2024/03/05/a"
TEXTS = st.sampled_from(
    [
        *("By Ann Lee", "5 March 2024", "Updated: 2024-03-06", "Rain falls in May", "and", " ", ""),
        *("AT&amp;T", "caf&eacute;", "a <!-- b --> c", "By <!-- -->Bo Xu", "&lt;b&gt;", "x" * 130),
    ]
)
NAMES = """class content datetime href id itemprop itemscope itemtype name property pubdate
    rel""".split()
VALUES = [
    *("author", "byline", "published", "datePublished", "og:title", "canonical", "name", ""),
    *("https://schema.org/Article", "https://schema.org/Person", "article:published_time"),
    *("2024-03-05", "Rain falls in May", "Ann Lee", "/authors/ann-lee", "?a=1&copy=2&b"),
    *("AT&T", "a &lt; b", "caf\u00e9", "By Ann Lee", 'a "b"', "headline", "description"),
]
ATTRIBUTES = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(VALUES), max_size=4)
HEADS = st.tuples(st.sampled_from(["meta", "link", "base"]), ATTRIBUTES)
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


def page_of(heads: list[tuple[str, dict[str, str]]], bodies: list[object]) -> str:
    head = "".join(tag(*each) for each in heads)
    return (
        f"<html lang=en-GB><head><title>Rain falls in May | X</title>{head}</head>"
        f"<body><h1>Rain falls in May</h1>{''.join(map(body, bodies))}</body></html>"
    )


@examples(3)
@given(st.lists(HEADS, max_size=4), st.lists(BODIES, max_size=5))
def test_well_formed_pages_have_the_metadata_of_their_tree(
    heads: list[tuple[str, dict[str, str]]], bodies: list[object]
) -> None:
    source = page_of(heads, bodies).encode("utf-8", "replace").decode()
    parsed = metadata.metadata_of(ParsedPage(parsed_by_lxml(source), URL))

    found = metadata.read_html(source, URL)

    assert found == parsed


def test_properties_are_read_up_to_the_most() -> None:
    # Every second tag but names the attribute.
    tree = made_of_tokens("<p title=itemprop><p itemprop=a>" * 5)

    assert [[each.get("itemprop") for each in tree.properties(n)] for n in (10, 3)] == [
        ["a"] * 5,
        ["a"] * 3,
    ]


def page(source: str) -> ParsedPage:
    return ParsedPage(made_of_tokens(source), URL)


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
    ("source", "names"),
    [
        ("<b itemprop=author>x</b>", ["author"]),
        ("<b itemProp=author>x</b>", ["author"]),
        ("<b data-x=itemprop>x</b>", []),
        ("itemprop=author <b>x</b>", []),
        ("<div itemscope itemtype=https://schema.org/Person><b itemprop=name>x</b></div>", []),
        (
            "<div itemscope itemtype=https://schema.org/Article><p><b itemprop=name>x</b></div>",
            ["name"],
        ),
    ],
)
def test_properties_are_those_of_the_page(source: str, names: list[str]) -> None:
    assert list(page(source).properties) == names


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
    fragments = tree.body_fragments(Visits(MAX_VISITS))

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
    tree = made_of_tokens("<html class=old><html lang=en class=new><html xml:lang=de lang=fr>")

    assert ParsedPage(tree, URL).language == "en"


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

    assert VisibleText(tree).of(element) == expected


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


def kept_texts(monkeypatch: pytest.MonkeyPatch) -> list[VisibleText]:
    """The texts of the pages that are read from now on."""
    made: list[VisibleText] = []

    class Kept(VisibleText):
        def __init__(self, tree: PageTree) -> None:
            super().__init__(tree)
            made.append(self)

    monkeypatch.setattr(parsed_page, "VisibleText", Kept)
    return made


@pytest.mark.parametrize("name", NESTED)
def test_visits_are_bounded_whatever_is_nested(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = kept_texts(monkeypatch)

    metadata.read_html(HEADING + NESTED[name])

    assert -MAX_VISITS <= made[0].visits.left < MAX_VISITS


def paragraph(tree: PageTree) -> Element:
    return next(tree.find(frozenset({"p"}), 1))


def test_a_text_is_read_once_and_as_long_as_visits_are_left() -> None:
    tree = made_of_tokens("<p>one <b>two</b></p>")
    visible, spent = VisibleText(tree), VisibleText(tree, 0)
    texts = [visible.of(paragraph(tree)), spent.of(paragraph(tree))]
    left = visible.visits.left

    assert [visible.of(paragraph(tree)), spent.of(paragraph(tree))] == texts == ["one two", ""]
    assert visible.visits.left == left


@pytest.mark.parametrize("source", [news_page(0).html, HEADING + "<p>rain <b>falls</b></p>" * 100])
def test_of_an_ordinary_page_every_line_is_read_about_once(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = kept_texts(monkeypatch)

    metadata.read_html(source)

    assert made[0].visits.left > MAX_VISITS - 1.2 * source.count("<")


def test_text_that_is_hidden_is_not_paid_for() -> None:
    tree = made_of_tokens(f"<p>one <script>{'x' * 100_000}</script><b>two</b></p>")
    visible = VisibleText(tree)

    assert visible.of(paragraph(tree)) == "one two"
    assert visible.visits.left > MAX_VISITS - 20
