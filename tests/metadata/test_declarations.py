"""What a page declares of itself: the nodes in its JSON-LD, and what is an article by its types."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.pages.declarations import (
    ARTICLE,
    CUE,
    MAX_PAGE_NODES,
    MAX_PAGE_SCRIPTS,
    MAX_SCRIPT,
    WEB_PAGE,
    WEB_SITE,
    Declarations,
    Graph,
    PageIdentity,
    occurrences,
    page_types,
    parse_script,
)
from tests.helpers.layouts import PAGES
from tests.helpers.timing import FACTOR, grows_linearly

UNKNOWN = PageIdentity()
LONG = "a text that is longer than the end"
WELL_FORMED = [
    ('{"a": 1}', [{"a": 1}]),
    (' \n {"a": 1} ; ', [{"a": 1}]),
    ('{"a": 1}{"b": 2}', [{"a": 1}, {"b": 2}]),
    ('{"a": "b\nc"}', [{"a": "b\nc"}]),
    ('<!-- {"a": 1} -->', [{"a": 1}]),
    ('//<![CDATA[\n{"a": 1}\n//]]>', [{"a": 1}]),
    ('/*<![CDATA[*/{"a": "a text that is longer than the end"}/*]]>*/', [{"a": LONG}]),
    ("{&quot;a&quot;: 1}", [{"a": 1}]),
]
MALFORMED = [
    "",
    "{",
    '{"a": ',
    '{"a": "b}',
    '{"a": 1] ',
    "var a = {}",
    "[" * 100_000,
    '{"a":' * 100_000,
    f'{{"a": {"9" * 5000}}}',
    '{"a": "' + "x" * MAX_SCRIPT + '"}',
]


def script(*values: object) -> str:
    texts = (json.dumps(each, ensure_ascii=False) for each in values)
    return f'<script type="application/ld+json">{"".join(texts)}</script>'


def text_of(document: object, key: str = "headline", kind: str = ARTICLE) -> list[str]:
    graph = Graph([json.dumps(document)])
    node = graph.best_node(kind, PageIdentity)
    return list(graph.texts(node, (key,))) if node else []


@pytest.mark.parametrize(("source", "expected"), WELL_FORMED)
def test_common_mistakes_in_scripts_are_tolerated(source: str, expected: list[Any]) -> None:
    assert parse_script(source) == expected


@pytest.mark.parametrize("source", MALFORMED, ids=range(len(MALFORMED)))
def test_a_malformed_script_has_no_values(source: str) -> None:
    assert parse_script(source) == []


NEWS = {"@type": "NewsArticle", "headline": "Rain"}


@pytest.mark.parametrize(
    "document",
    [
        NEWS,
        [[NEWS]],
        {"@graph": [{"@type": "WebSite"}, NEWS]},
        {"@type": "WebPage", "mainEntity": NEWS},
        NEWS | {"@type": ["Thing", "NewsArticle"]},
        NEWS | {"@type": "http://schema.org/NewsArticle"},
        NEWS | {"@type": "BlogPosting"},
        NEWS | {"headline": {"@value": "Rain", "@language": "en"}},
        NEWS | {"headline": ["Rain"]},
    ],
)
def test_the_article_is_found_wherever_it_is_nested(document: object) -> None:
    assert text_of(document) == ["Rain"]
    assert Declarations(script(document)).has_article_type


@pytest.mark.parametrize(
    "document",
    [
        {"@type": "ItemList", "itemListElement": [NEWS]},
        {"@type": "WebPage", "mentions": NEWS},
        {"@type": "CollectionPage", "hasPart": [NEWS]},
        NEWS | {"@type": "Product"},
        NEWS | {"@type": None},
        NEWS | {"@type": {"a": "Article"}},
        {"headline": "Rain"},
        "NewsArticle",
        None,
    ],
)
def test_articles_of_other_pages_are_ignored(document: object) -> None:
    assert text_of(document) == []
    assert not Declarations(script(document)).has_article_type


def test_nodes_are_classified_by_type() -> None:
    document = [{"@type": "WebPage", "name": "Rain"}, {"@type": "WebSite", "name": "News"}]

    assert text_of(document, "name", WEB_PAGE) == ["Rain"]
    assert text_of(document, "name", WEB_SITE) == ["News"]
    assert text_of(document, "name", ARTICLE) == []


@pytest.mark.parametrize(
    ("author", "expected"),
    [
        ("Ann Lee", ["Ann Lee"]),
        ({"@type": "Person", "name": "Ann Lee"}, ["Ann Lee"]),
        ([{"@type": "Person", "name": "Ann Lee"}, "Bo Ek"], ["Ann Lee", "Bo Ek"]),
        ({"@type": "Organization", "name": "Daily News"}, ["Daily News"]),
        ({"@id": "#ann"}, ["Ann Of The Graph"]),
        ([{"@id": "#ann"}, {"@id": "#nobody"}], ["Ann Of The Graph"]),
        ({"@id": "#loop"}, []),
        ({"@type": "Person", "url": "https://x.example/ann"}, []),
        (7, ["7"]),
        (None, []),
        (True, []),
        ({}, []),
        ([[[[[[["deep"]]]]]]], []),
    ],
)
def test_authors_may_be_texts_nodes_lists_and_references(
    author: object, expected: list[str]
) -> None:
    document = {
        "@graph": [
            NEWS | {"author": author},
            {"@id": "#ann", "@type": "Person", "name": "Ann Of The Graph"},
            {"@id": "#loop", "@type": "Person", "name": {"@id": "#loop"}},
        ]
    }

    assert text_of(document, "author") == expected


@pytest.mark.parametrize(
    ("identity", "expected"),
    [
        (UNKNOWN, "First"),
        (PageIdentity(urls=frozenset({"x.example/b"})), "Second"),
        (PageIdentity(titles=frozenset({"third"})), "Third"),
        (PageIdentity(frozenset({"y.example"}), frozenset({"none"})), "First"),
    ],
)
def test_of_several_articles_the_best_match_for_the_page_wins(
    identity: PageIdentity, expected: str
) -> None:
    articles = [
        NEWS | {"headline": "First", "url": "https://x.example/a"},
        NEWS | {"headline": "Second", "mainEntityOfPage": {"@id": "http://www.x.example/b/#c"}},
        NEWS | {"headline": "Third"},
    ]

    node = Graph([json.dumps(articles)]).best_node(ARTICLE, lambda: identity)

    assert node is not None
    assert node["headline"] == expected


def test_articles_that_match_equally_are_ranked_by_date_and_order() -> None:
    undated, dated = NEWS | {"headline": "a"}, NEWS | {"headline": "b", "datePublished": "soon"}
    graph = Graph([json.dumps([undated, dated, dated | {"headline": "c"}])])

    assert graph.best_node(ARTICLE, PageIdentity) == dated


HOSTILE: dict[str, Callable[[int], str]] = {
    "many articles": lambda n: json.dumps([NEWS] * (750 * n)),
    "one list of references": lambda n: json.dumps(
        NEWS | {"@id": "a", "author": [{"@id": "a"}] * 1_000 * n, "name": [{"@id": "a"}] * 500 * n}
    ),
    "open strings": lambda n: '"' + '\\"' * (10_000 * n),
    "commas": lambda n: "[1" + ",   " * (5_000 * n),
    "spaces": lambda n: '{"a":' + " " * (20_000 * n) + "}",
    "many values": lambda n: "1 " * (6_000 * n),
}


def texts_of(source: str) -> list[str]:
    graph = Graph([source] * 20)
    node = graph.best_node(ARTICLE, PageIdentity)
    return list(graph.texts(node, ("author", "name"))) if node else []


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_scripts_are_read_in_linear_time(source: Callable[[int], str]) -> None:
    small, large = source(5), source(5 * FACTOR)

    assert len(texts_of(large)) < 5000
    assert grows_linearly(partial(texts_of, small), partial(texts_of, large))


KEYS = st.sampled_from(
    ["@id", "@type", "@graph", "author", "name", "headline", "url", "mainEntity"]
)
WORDS = st.sampled_from(["NewsArticle", "WebPage", "a", "b", "", "http://x/"]) | st.text(max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)


@given(VALUES)
def test_any_json_is_read_as_it_is_and_gives_texts(document: object) -> None:
    source = json.dumps(document)
    graph, identity = Graph([source]), PageIdentity(frozenset({"x"}), frozenset({"a"}))

    assert json.dumps(parse_script(source)) == f"[{source}]"
    for kind in (ARTICLE, WEB_PAGE, WEB_SITE):
        node = graph.best_node(kind, lambda: identity)
        if node:
            assert all(isinstance(each, str) for each in graph.texts(node, ("author", "name")))


@given(st.text(alphabet='{}[]",:\\ ab1\n', max_size=40))
def test_no_source_raises(source: str) -> None:
    assert isinstance(parse_script(source), list)


def with_trailing_commas(value: object) -> str:
    if isinstance(value, dict):
        return (
            "{"
            + "".join(f"{json.dumps(k)}: {with_trailing_commas(value[k])},\n" for k in value)
            + "}"
        )
    if isinstance(value, list):
        return "[" + "".join(f"{with_trailing_commas(each)} , " for each in value) + "]"
    return json.dumps(value, ensure_ascii=False)


STRINGS = st.text(st.sampled_from('ab,]}["\\\n '), max_size=6)
STRING_VALUES = st.recursive(
    STRINGS | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(STRINGS, inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(STRING_VALUES, min_size=1, max_size=4))
def test_commas_before_closing_brackets_do_not_change_the_value(value: list[object]) -> None:
    assert parse_script(with_trailing_commas(value)) == [value]


# Types in the source

AN_ARTICLE = {"@type": "Article"}


def types_in(source: str) -> set[str]:
    (places,) = occurrences(source, [CUE])
    return page_types(source, places)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (script(AN_ARTICLE) + script({"@type": "Event"}), {"Article", "Event"}),
        (script({"@type": ["schema:Article", "Thing", 3]}), {"Article", "Thing"}),
        (script(AN_ARTICLE, {"@type": "Event"}), {"Article", "Event"}),
        (script(AN_ARTICLE).replace("</script", "</SCRIPT"), {"Article"}),
        ("<script type=application/ld+json>{</script>" + script(AN_ARTICLE), {"Article"}),
        (script({"@type": "Article", "name": "a </\u017fcript"}), {"Article"}),
        (script({"@type": "Article", "name": "a </scripted"}), {"Article"}),
        ('<script>{"@type": "Article"}</script>', set()),
        ('<script type="application/ld+json">{"@type": "Article"}', set()),
        ("ld+json", set()),
    ],
)
def test_scripts_are_read_one_by_one(source: str, expected: set[str]) -> None:
    assert types_in(source) == expected


def test_no_more_is_read_of_a_page_than_pages_have() -> None:
    last: Any = {"@type": "Last"}
    scripts = script(AN_ARTICLE) * MAX_PAGE_SCRIPTS
    nodes = [AN_ARTICLE] * MAX_PAGE_NODES

    assert types_in(scripts + script(last)) == {"Article"}
    assert types_in(script([*nodes, last])) == {"Article"}
    assert types_in(script(*nodes, last)) == {"Article"}


@given(PAGES, st.text(), st.integers(0, 200))
def test_any_source_can_be_read(html: str, text: str, place: int) -> None:
    source = html + script(AN_ARTICLE) + text + html

    assert isinstance(page_types(source, [place, *occurrences(source, [CUE])[0]]), set)


def open_graph(kind: str) -> str:
    return f'<meta property="og:type" content="{kind}">'


@pytest.mark.parametrize(
    ("source", "declare_no_article"),
    [
        ("<p>Nothing is declared.", False),
        (script({"headline": "Without a type"}), False),
        *((script({"@type": kind}), False) for kind in ("NewsArticle", "BlogPosting", "Report")),
        (script({"@type": ["Thing", "Article"]}), False),
        (script({"@type": "Article"}) + open_graph("website"), False),
        *((script({"@type": kind}), True) for kind in ("WebPage", "Recipe", "Product")),
        (open_graph("website"), True),
        (open_graph("article"), True),
        ('<script>var a = {"@type": "Offer"};</script>', True),
        ('<script>var a = {"@type": "Answer"};</script>', True),
        ('<script>var a = {"@type": "Person"};</script>', False),
    ],
)
def test_pages_that_declare_another_type_declare_no_article(
    source: str, *, declare_no_article: bool
) -> None:
    assert Declarations(source).declare_no_article is declare_no_article
