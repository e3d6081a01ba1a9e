"""Selectors: what compiles, what selects everything, what is rejected and why."""

from __future__ import annotations

import pytest
from lxml import html

from scrapy_mss.wrappers import Selector, WrapperError, class_or_id, css, xpath
from scrapy_mss.wrappers.selectors import Coverage

PAGE = html.document_fromstring(
    "<body><div id=main class='story long'><p>One <b>two</b></p></div><div id=domain>x</div></body>"
)


def selected(selector: Selector) -> list[object]:
    return [getattr(item, "tag", item) for item in selector.select(PAGE)]


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (css("div.story > p"), ["p"]),
        (css("div::attr(id)"), ["main", "domain"]),
        (css("b::text"), ["two"]),
        (xpath("//div[has-class('long')]//b"), ["b"]),
        (xpath("//div[re:test(@id, '^m')]/p"), ["p"]),
        (class_or_id("sto"), ["div"]),
        (class_or_id("main"), ["div", "div"]),
        (class_or_id("Main"), []),
    ],
)
def test_every_kind_selects(selector: Selector, expected: list[str]) -> None:
    assert selected(selector) == expected


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
        ("class_or_id", "", "the string ''", "("),
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


@pytest.mark.parametrize(
    "selector",
    [
        *map(css, ("*", "html", ":root", "body > *", "aside, *", ":not(.ad)", "*::text")),
        *map(xpath, ("//*", "/html", "//body/*", "//node()", "//text()", "//*[contains(@id, '')]")),
    ],
)
def test_what_selects_everything_is_known(selector: Selector) -> None:
    assert selector.coverage is Coverage.ALL


@pytest.mark.parametrize(
    "selector",
    [
        *map(css, ("div", "p", "article *", ".ad, #top", "body > div", "body > :empty", "a::text")),
        *map(xpath, ("//div", "//*[@id]", "//p/text()", "//*[contains(@id, 'a')]", "count(//*)")),
        class_or_id("a"),
    ],
)
def test_what_selects_a_part_is_accepted(selector: Selector) -> None:
    assert selector.coverage is Coverage.SOME


def test_the_body_element_is_not_everything() -> None:
    selectors = css("body"), xpath("//body"), xpath("/html/body")

    assert {selector.coverage for selector in selectors} == {Coverage.BODY}


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
        (class_or_id("text()"), False),
    ],
)
def test_an_ending_that_selects_text_is_known(selector: Selector, *, expected: bool) -> None:
    assert selector.selects_text is expected
