from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.markup.occurrences import occurrences
from scrapy_mss.pages import declarations
from scrapy_mss.pages.declarations import CUE, MAX_PAGE_NODES, MAX_PAGE_SCRIPTS, page_types
from tests.helpers.layouts import PAGES

ARTICLE = {"@type": "Article"}


def script(*values: object) -> str:
    texts = (json.dumps(each, ensure_ascii=False) for each in values)
    return f'<script type="application/ld+json">{"".join(texts)}</script>'


def types_in(source: str) -> set[str]:
    (places,) = occurrences(source, [CUE])
    return page_types(source, places)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (ARTICLE, {"Article"}),
        ([ARTICLE, {"@type": "WebSite"}], {"Article", "WebSite"}),
        ({"@type": ["NewsArticle", "Thing", 3]}, {"NewsArticle", "Thing"}),
        ({"@type": "http://schema.org/NewsArticle"}, {"NewsArticle"}),
        ({"@type": "schema:NewsArticle"}, {"NewsArticle"}),
        ({"@graph": [{"@graph": [ARTICLE]}]}, {"Article"}),
        ({"@type": "WebPage", "mainEntity": ARTICLE}, {"WebPage", "Article"}),
        ({"@type": "ItemList", "itemListElement": [ARTICLE]}, {"ItemList"}),
        ({"@type": "WebPage", "mentions": ARTICLE, "hasPart": [ARTICLE]}, {"WebPage"}),
        ({"@type": None}, set()),
        ({"@type": {"@type": "Article"}}, set()),
        ("Article", set()),
    ],
)
def test_types_are_those_of_nodes_that_describe_the_page(value: object, expected: set[str]) -> None:
    assert types_in(f"<p>one{script(value)}<p>two") == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (script(ARTICLE) + script({"@type": "Event"}), {"Article", "Event"}),
        (script(ARTICLE, {"@type": "Event"}), {"Article", "Event"}),
        (script(ARTICLE).replace("</script", "</SCRIPT"), {"Article"}),
        ("<script type=application/ld+json>{</script>" + script(ARTICLE), {"Article"}),
        (script({"@type": "Article", "name": "a </\u017fcript"}), {"Article"}),
        (script({"@type": "Article", "name": "a </scripted"}), {"Article"}),
        ('<script>{"@type": "Article"}</script>', set()),
        ('<script type="application/ld+json">{"@type": "Article"}', set()),
        ("ld+json", set()),
    ],
)
def test_scripts_are_read_one_by_one(source: str, expected: set[str]) -> None:
    assert types_in(source) == expected


def test_the_end_of_scripts_that_have_none_is_searched_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    searched: list[int] = []
    end = declarations.END

    class Counting:
        def search(self, source: str, *bounds: int) -> object:
            searched.append(bounds[0])
            return end.search(source, *bounds)

    monkeypatch.setattr(declarations, "END", Counting())

    assert types_in("<script type=application/ld+json>" * MAX_PAGE_SCRIPTS + "<" * 10_000) == set()
    assert len(searched) == 1


def test_no_more_is_read_of_a_page_than_pages_have() -> None:
    last: Any = {"@type": "Last"}
    scripts = script(ARTICLE) * MAX_PAGE_SCRIPTS
    nodes = [ARTICLE] * MAX_PAGE_NODES

    assert types_in(scripts + script(last)) == {"Article"}
    assert types_in(script([*nodes, last])) == {"Article"}
    assert types_in(script(*nodes, last)) == {"Article"}


@given(PAGES, st.text(), st.integers(0, 200))
def test_any_source_can_be_read(html: str, text: str, place: int) -> None:
    source = html + script(ARTICLE) + text + html

    assert isinstance(page_types(source, [place, *occurrences(source, [CUE])[0]]), set)
