"""Siblings in CSS: the same elements as by the usual XPath, at a cost that grows with the page."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeAlias

import pytest
from cssselect import ExpressionError, SelectorSyntaxError
from hypothesis import given, reject
from hypothesis import strategies as st
from lxml import etree, html
from parsel.csstranslator import HTMLTranslator

from scrapy_mss.wrappers import css
from tests.helpers.timing import grows_linearly

NAMES = st.sampled_from(("p", "b", "div"))
CLASSES = st.sampled_from(("", " class='x'", " class='x y'", " id='z'"))
Tree: TypeAlias = tuple[str, str, list[Any]]
TREES: st.SearchStrategy[Tree] = st.recursive(
    st.tuples(NAMES, CLASSES, st.just([])),
    lambda inside: st.tuples(NAMES, CLASSES, st.lists(inside, max_size=5)),
    max_leaves=25,
)
PARTS = st.sampled_from(
    (
        *"* p b div .x .y #z p.x div.x :is(p,b) p:has(b) div:has(>b).x b:has(~p) |b".split(),
        *("p:first-child", ":nth-child(odd)", "b:nth-of-type(2)", "div:not(.x)", ":scope", ":root"),
    )
)
JOINTS = st.sampled_from((" ", " > ", " + ", " ~ "))
SELECTORS = st.builds(
    lambda first, rest: first + "".join(joint + part for joint, part in rest),
    PARTS,
    st.lists(st.tuples(JOINTS, PARTS), max_size=4),
)


def markup(tree: Tree) -> str:
    """The XML of a *tree*: a parser of HTML would move elements that it does not expect."""
    name, attributes, inside = tree
    return f"<{name}{attributes}>t{''.join(map(markup, inside))}</{name}>"


@given(trees=st.lists(TREES, min_size=1, max_size=5), text=SELECTORS)
def test_it_selects_what_the_usual_xpath_does(trees: list[Tree], text: str) -> None:
    root = etree.fromstring(f"<html><body>{''.join(map(markup, trees))}</body></html>")
    try:
        usual = etree.XPath(HTMLTranslator().css_to_xpath(text))
    except (ExpressionError, SelectorSyntaxError, etree.XPathError):
        reject()  # some versions of cssselect write no XPath for `a + b:has(c)`

    assert css(text).select(root) == usual(root)


@pytest.mark.parametrize(
    "text",
    [
        "p ~ p::text",
        "div *::text",
        "div b *::text",
        "div p ~ *::text",
        "p + p::attr(class)",
        "p ~ p, b + b",
        ":is(p, b) ~ p",
        "b:has(i) + p",
        "b:has(> i) ~ p",
        "b ~ b:has(i)",
        "p:has(+ b) + b",
        "b:has(i):is(b) ~ p",
    ],
)
def test_what_is_special_stays_so(text: str) -> None:
    root = etree.fromstring(
        "<html><div><p>1</p><b>2</b><b>3<i>4</i></b><p>5</p><p class='b'>6</p></div></html>"
    )

    usual = etree.XPath(HTMLTranslator().css_to_xpath(text))(root)

    assert usual
    assert css(text).select(root) == usual


def test_what_follows_may_have_something_inside() -> None:
    root = etree.fromstring("<html><b>1</b><p id='with'><i>2</i></p><b/><p>3</p></html>")

    assert css("b + p:has(i)").select(root) == [root[1]]


@pytest.mark.parametrize("text", ["dl dd", "div dl dd"])
def test_many_lists_take_no_minutes(text: str) -> None:
    few, many = (html.document_fromstring("<dl><dt>a<dd>word</dl>" * n) for n in (500, 2_000))

    selector = css(text)

    assert grows_linearly(partial(selector.select, few), partial(selector.select, many))


def siblings(n: int) -> etree._Element:
    return html.document_fromstring(
        "<div class=first>word</div>" + "<div class=box><b>word</b></div>" * n
    )


@pytest.mark.parametrize(
    "text",
    [
        *(".box + .box", ".box ~ .box", ".box ~ .other", ".other ~ .box"),
        *(".first ~ .box", ".first + .box ~ .box", ".box ~ .box + .box ~ .box"),
        "div:first-child ~ .box",
        *("div:has(b) ~ .box", ".first ~ div:has(b)"),
    ],
)
def test_many_siblings_take_no_minutes(text: str) -> None:
    few, many = siblings(1_000), siblings(4_000)

    selector = css(text)

    assert grows_linearly(partial(selector.select, few), partial(selector.select, many))
