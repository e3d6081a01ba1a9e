"""Selectors of an element: each selects it, the best of them on every page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from scrapy_mss.suggest.selectors import candidates, is_stable, selected, selectors_for
from scrapy_mss.wrappers.selectors import Element
from tests.helpers.markup import SOUP
from tests.helpers.suggested_sites import article


def tree(html: str) -> Element:
    return etree.fromstring(html.encode("utf-8", "replace"), etree.HTMLParser(encoding="utf-8"))


PAGES = [tree(article(number).html) for number in range(4)]


@pytest.mark.parametrize(
    ("css", "best"),
    [
        ("div.story-text", ".story-text"),
        ("h1", "h1"),
        ("div.related-box", ".related-box"),
        ("p.byline", ".byline"),
        ("div.story-text > p", ".story-text > p"),
        ("time", "time"),
    ],
)
def test_the_best_selector_is_short_and_holds_on_all_pages(css: str, best: str) -> None:
    element = selected(css, PAGES[0])[0]

    found = selectors_for(element, PAGES)

    assert best in found[:2]
    assert all(selected(found[0], root) for root in PAGES)


def test_a_place_is_named_only_where_no_name_is() -> None:
    root = tree("<body><table><tr><td>one<td><font>two</font></table><div class=a><p>x</div>")
    cell, named = selected("td", root)[1], selected("div", root)[0]

    assert "body > table:nth-of-type(1) > tr:nth-of-type(1) > td:nth-of-type(2)" in (
        selectors_for(cell, [root])
    )
    assert not any("nth" in each for each in selectors_for(named, [root]))


@given(SOUP)
def test_what_is_suggested_for_an_element_selects_it_first(html: str) -> None:
    root = tree(f"<html><body>{html}</body></html>")

    for element in list(root.iter("*"))[:10]:
        for text in selectors_for(element, [root]):
            assert selected(text, root)[0] is element


@given(st.text(max_size=20), st.text(max_size=20))
def test_names_of_any_characters_give_valid_selectors(identifier: str, classes: str) -> None:
    element = etree.Element("div")
    try:
        element.set("id", identifier)
        element.set("class", classes)
    except ValueError:  # what no tree can hold
        return
    page = etree.Element("html")
    page.append(element)

    for candidate in candidates(element):
        assert element in selected(candidate.text, page)


@pytest.mark.parametrize(
    ("stable", "generated"),
    [
        ("post", "post-48213"),
        ("col-12", "col-20240312"),
        ("css-grid", "css-1q2w3e"),
        ("sc-title", "sc-bdVaJa"),
        ("Article__body", "Article_body__3xTz9"),
        ("story--wide", "story--x7f3q"),
        ("facade", "deadbeef01"),
        ("c-article", "c:article"),
        ("x", ""),
        ("a" * 60, "a" * 61),
    ],
)
def test_a_generated_name_and_its_near_miss(stable: str, generated: str) -> None:
    assert is_stable(stable)
    assert not is_stable(generated)
