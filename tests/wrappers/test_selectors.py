"""Selectors: what compiles, what selects everything, what is rejected and why; CSS as XPath."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import pytest
from cssselect import ExpressionError, SelectorSyntaxError
from hypothesis import given, reject
from hypothesis import strategies as st
from lxml import etree, html
from parsel.csstranslator import HTMLTranslator

from scrapy_mss.wrappers import Selector, WrapperError, css, xpath
from scrapy_mss.wrappers.selectors import Coverage, Element
from tests.helpers.timing import grows_linearly


@pytest.mark.parametrize("text", ["//div[has-class('long')]/p", "//div[re:test(@id, '^m')]/p"])
def test_functions_of_scrapy_select(text: str) -> None:
    page = html.document_fromstring("<div id=main class='story long'><p>One</p></div><p>Two</p>")

    assert xpath(text).select(page) == [page[0][0][0]]


# Each error with a similar selector that is valid.
@pytest.mark.parametrize(
    ("kind", "wrong", "got", "right"),
    [
        ("css", "div[", "'div['", "div"),
        ("css", "aside,", "'aside,'", "aside, div"),
        ("css", " ", "the string ' '", "*"),
        ("css", "p:unheard-of", "pseudo-class", "p:empty"),
        ("css", "p::before", "pseudo-element", "p::text"),
        ("xpath", "//div[", "'//div['", "//div"),
        ("xpath", "//a |", "an alternative is empty", "//a | //b"),
        ("xpath", "//a || //b", "an alternative is empty", "//a[. = '||']"),
        ("xpath", "//a[contain(., 'x')]", "no function contain", "//a[contains(., 'contain(')]"),
        ("xpath", "//a[php:lower(.)]", "no prefixes but re, set", "//a[re:test(., 'php:x')]"),
        ("xpath", "//a[$x]", "no variables", "//a[. = '$x']"),
        ("xpath", "re:test('a', '(')", "'(')", "re:test('a', '[(]')"),
        ("xpath", "//a[\0]", "XML compatible", "//a[1]"),
        ("xpath", "document('file:///etc/hosts')", "no function document", "//a[not(b) and (c)]"),
        ("jquery", "div", "the string 'jquery'", None),
    ],
)
def test_what_cannot_work_is_rejected_when_made(
    kind: str, wrong: str, got: str, right: str | None
) -> None:
    with pytest.raises(WrapperError, match=r"expected .*, got ") as caught:
        Selector(kind, wrong)

    assert got in str(caught.value)
    if right is not None:
        Selector(kind, right)


@pytest.mark.parametrize(("kind", "opening"), [("xpath", "("), ("css", ":not(")])
def test_nesting_too_deep_is_a_problem_and_no_crash(kind: str, opening: str) -> None:
    with pytest.raises(WrapperError):
        Selector(kind, opening * 5000 + "a" + ")" * 5000)


ALL = [
    *map(css, ("*", "html", ":root", "body > *", "aside, *", ":not(.ad)", "*::text")),
    *map(xpath, ("//*", "/html", "//body/*", "//node()", "//text()", "//*[contains(@id, '')]")),
]
SOME = [
    *map(css, ("div", "p", "article *", ".ad, #top", "body > div", "body > :empty", "a::text")),
    *map(xpath, ("//div", "//*[@id]", "//p/text()", "//*[contains(@id, 'a')]", "count(//*)")),
]
BODY = [css("body"), xpath("//body"), xpath("/html/body")]


@pytest.mark.parametrize(
    ("selectors", "coverage"),
    [(ALL, Coverage.ALL), (SOME, Coverage.SOME), (BODY, Coverage.BODY)],
    ids=["all", "some", "body"],
)
def test_the_coverage_of_a_selector_is_known(selectors: list[Selector], coverage: Coverage) -> None:
    assert [each for each in selectors if each.coverage is not coverage] == []


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (css("p::text"), True),
        (css("p"), False),
        (xpath("//p/text()"), True),
        (xpath("//p/@class"), True),
        (xpath("//p[text()]"), False),
        (xpath("//p[@class]"), False),
        (xpath("//p | //q/text()"), False),
    ],
)
def test_an_ending_that_selects_text_is_known(selector: Selector, *, expected: bool) -> None:
    assert selector.selects_text is expected


# CSS: the same elements as by the usual XPath, at a cost that grows with the page

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
    "text", ["p ~ p::text", "div *::text", "div b *::text", "div p ~ *::text", "p + p::attr(class)"]
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


def lists(n: int) -> Element:
    return html.document_fromstring("<dl><dt>a<dd>word</dl>" * n)


def siblings(n: int) -> Element:
    return html.document_fromstring(
        "<div class=first>word</div>" + "<div class=box><b>word</b></div>" * n
    )


def nested(n: int) -> Element:
    """As many boxes in each other as on pages that were nested by mistake, in *n* groups."""
    group = "<div>" * 60 + "<p></p><p>word</p>" + "</div>" * 60
    return etree.fromstring(f"<body>{group * (n // 60)}</body>")


COSTLY = ".box + .box|.box ~ .box|.box ~ .other|.other ~ .box|.first ~ .box|.first + .box ~ .box"
MORE = ".box ~ .box + .box ~ .box|div:first-child ~ .box|div:has(b) ~ .box|.first ~ div:has(b)"


@pytest.mark.parametrize(
    ("made", "text"),
    [
        *((siblings, text) for text in f"{COSTLY}|{MORE}".split("|")),
        (lists, "dl dd"),
        (lists, "body dl dd"),
        (lists, "html body dl dd"),
        (nested, "div div div div div div div p"),
        (nested, "div div div p + p"),
    ],
)
def test_many_siblings_and_lists_take_no_minutes(made: Callable[[int], Element], text: str) -> None:
    few, many = made(1_000), made(4_000)

    selector = css(text)

    assert grows_linearly(partial(selector.select, few), partial(selector.select, many))
