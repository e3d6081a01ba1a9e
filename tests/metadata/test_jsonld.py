from __future__ import annotations

import json
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.metadata.jsonld import ARTICLE, MAX_SCRIPT, PAGE, SITE, Graph, Hint, documents

NO_HINT = Hint(frozenset(), frozenset())
LONG = "a text that is longer than the end"
READABLE = [
    ('{"a": 1}', [{"a": 1}]),
    (' \n {"a": 1} ; ', [{"a": 1}]),
    ('{"a": 1}{"b": 2}', [{"a": 1}, {"b": 2}]),
    ('{"a": "b\nc"}', [{"a": "b\nc"}]),
    ('{"a": [1, 2, ], }', [{"a": [1, 2]}]),
    ('{"a": ",]", }', [{"a": ",]"}]),
    ('<!-- {"a": 1} -->', [{"a": 1}]),
    ('//<![CDATA[\n{"a": 1}\n//]]>', [{"a": 1}]),
    ('/*<![CDATA[*/{"a": "a text that is longer than the end"}/*]]>*/', [{"a": LONG}]),
    ("{&quot;a&quot;: 1}", [{"a": 1}]),
]
BROKEN = [
    "",
    "null?",
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


def text_of(document: object, key: str = "headline", kind: str = ARTICLE) -> list[str]:
    graph = Graph([json.dumps(document)])
    node = graph.node(kind, NO_HINT)
    return list(graph.texts(node, (key,))) if node else []


@pytest.mark.parametrize(("source", "wanted"), READABLE)
def test_scripts_are_read_with_the_slips_of_templates(source: str, wanted: list[Any]) -> None:
    assert documents(source) == wanted


@pytest.mark.parametrize("source", BROKEN, ids=range(len(BROKEN)))
def test_a_broken_script_says_nothing(source: str) -> None:
    assert documents(source) == []


def test_the_scripts_beside_a_broken_one_are_read() -> None:
    graph = Graph(["{", '{"@type": "Article"}', "]"])

    assert graph.node(ARTICLE, NO_HINT)


NEWS = {"@type": "NewsArticle", "headline": "Rain"}


@pytest.mark.parametrize(
    "document",
    [
        NEWS,
        [NEWS],
        [[NEWS]],
        {"@graph": [{"@type": "WebSite"}, NEWS]},
        {"@type": "WebPage", "mainEntity": NEWS},
        {"@type": "WebPage", "mainEntity": [NEWS]},
        NEWS | {"@type": ["Thing", "NewsArticle"]},
        NEWS | {"@type": "http://schema.org/NewsArticle"},
        NEWS | {"@type": "BlogPosting"},
        NEWS | {"headline": {"@value": "Rain", "@language": "en"}},
        NEWS | {"headline": ["Rain"]},
    ],
)
def test_the_article_is_found_wherever_it_stands(document: object) -> None:
    assert text_of(document) == ["Rain"]


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
def test_the_articles_of_others_are_not(document: object) -> None:
    assert text_of(document) == []


def test_pages_and_sites_are_told_apart() -> None:
    document = [{"@type": "WebPage", "name": "Rain"}, {"@type": "WebSite", "name": "News"}]

    assert text_of(document, "name", PAGE) == ["Rain"]
    assert text_of(document, "name", SITE) == ["News"]
    assert text_of(document, "name", ARTICLE) == []


@pytest.mark.parametrize(
    ("author", "wanted"),
    [
        ("Ann Lee", ["Ann Lee"]),
        (["Ann Lee", "Bo Ek"], ["Ann Lee", "Bo Ek"]),
        ({"@type": "Person", "name": "Ann Lee"}, ["Ann Lee"]),
        ([{"@type": "Person", "name": "Ann Lee"}, "Bo Ek"], ["Ann Lee", "Bo Ek"]),
        ({"@type": "Organization", "name": "Daily News"}, ["Daily News"]),
        ({"@type": "Person", "name": ["Ann Lee", "Bo Ek"]}, ["Ann Lee", "Bo Ek"]),
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
def test_authors_come_in_many_forms(author: object, wanted: list[str]) -> None:
    document = {
        "@graph": [
            NEWS | {"author": author},
            {"@id": "#ann", "@type": "Person", "name": "Ann Of The Graph"},
            {"@id": "#loop", "@type": "Person", "name": {"@id": "#loop"}},
        ]
    }

    assert text_of(document, "author") == wanted


@pytest.mark.parametrize(
    ("hint", "wanted"),
    [
        (NO_HINT, "First"),
        (Hint(frozenset({"x.example/b"}), frozenset()), "Second"),
        (Hint(frozenset(), frozenset({"third"})), "Third"),
        (Hint(frozenset({"y.example"}), frozenset({"none"})), "First"),
    ],
)
def test_of_several_articles_the_one_of_this_page_is_taken(hint: Hint, wanted: str) -> None:
    articles = [
        NEWS | {"headline": "First", "url": "https://x.example/a"},
        NEWS | {"headline": "Second", "mainEntityOfPage": {"@id": "http://www.x.example/b/#c"}},
        NEWS | {"headline": "Third"},
    ]
    graph = Graph([json.dumps(articles)])

    node = graph.node(ARTICLE, hint)

    assert node is not None
    assert node["headline"] == wanted


HOSTILE = {
    "many articles": json.dumps([NEWS] * 15_000),
    "one list of references": json.dumps(
        NEWS | {"@id": "a", "author": [{"@id": "a"}] * 20_000, "name": [{"@id": "a"}] * 10_000}
    ),
    "open strings": '"' + '\\"' * 200_000,
    "commas": "[1" + ",   " * 100_000,
    "spaces": '{"a":' + " " * 400_000 + "}",
    "many values": "1 " * 200_000,
}


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_scripts_take_no_time(source: str) -> None:
    start = perf_counter()

    graph = Graph([source] * 20)
    node = graph.node(ARTICLE, NO_HINT)
    texts = list(graph.texts(node, ("author", "name"))) if node else []

    assert len(texts) < 5000
    assert perf_counter() - start < 3


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
def test_any_json_can_be_asked(document: object) -> None:
    graph = Graph([json.dumps(document)])
    for kind in (ARTICLE, PAGE, SITE):
        node = graph.node(kind, Hint(frozenset({"x"}), frozenset({"a"})))
        if node:
            assert all(isinstance(each, str) for each in graph.texts(node, ("author", "name")))


@given(st.text(alphabet='{}[]",:\\ ab1\n', max_size=40))
def test_any_source_can_be_read(source: str) -> None:
    assert isinstance(documents(source), list)
