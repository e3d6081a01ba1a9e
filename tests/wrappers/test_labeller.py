"""Wrappers applied to made-up pages."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.wrappers import Labelling, Reason, Selector, Wrapper, css, label, xpath
from scrapy_mss.wrappers.labeller import DEEP, MAX_VALUES, MIN_DEEP, MIN_TAGS
from tests.helpers.layouts import ODD
from tests.helpers.markup import SOUP
from tests.helpers.timing import FACTOR, grows_linearly

PAGE = """<!DOCTYPE html><html lang=en><head><title>Bridge opens | The Daily Example</title>
<meta name=date content="2024-05-02"><script>var a = "<div id='story'>no</div>";</script></head>
<body><nav><a href="/">Home</a></nav>
<h1> Bridge <em>opens</em> </h1><p class=byline>By <a>Ann Author</a> and <a>Bob Writer</a></p>
<div class="text lead"><p>The bridge opened on Monday.</p></div>
<aside class=ad-box>Buy a boat!</aside>
<div class=text><p>Hundreds came.<p>The mayor spoke, too.</p>
<div id=share-7>Share this</div><p>It rained.</p></div>
<h2>More stories</h2><p>Another story.</p><footer>Contact</footer></body></html>"""


def wrapper(
    *body: Selector, exclude: tuple[Selector, ...] = (), **fields: tuple[Selector, ...]
) -> Wrapper:
    return Wrapper(site="a.example", body=body, exclude=exclude, **fields)  # type: ignore[arg-type]


def words(labelling: Labelling) -> str:
    tokens, inside = labelling.tokens, labelling.inside & labelling.tokens.is_word
    bounds = zip(tokens.start[inside], tokens.end[inside], strict=True)
    return " ".join(tokens.source[start:end] for start, end in bounds)


LEAD = "The bridge opened on Monday"
BODY = "Hundreds came The mayor spoke too Share this It rained"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ((css("div.text"),), f"{LEAD} Buy a boat {BODY}"),
        ((css("div.lead"),), LEAD),
        ((xpath("//div[@class='text']"),), BODY),
        ((css("article"), css("div.lead"), css("div.text")), LEAD),
        ((css("script"), css("div.lead")), LEAD),
        ((css("div.lead, div.lead p"),), LEAD),
        ((css("div.lead p, h1"),), f"Bridge opens By Ann Author and Bob Writer {LEAD}"),
    ],
)
def test_the_body_is_labelled(body: tuple[Selector, ...], expected: str) -> None:
    found = label(wrapper(*body), PAGE)

    assert found.reason is None
    assert words(found) == expected
    assert not found.tokens.is_tag[np.flatnonzero(found.inside)[[0, -1]]].any()
    assert found.inside.dtype == np.bool_
    assert len(found.inside) == len(found.tokens)


def test_what_is_excluded_is_labelled_out() -> None:
    rule = wrapper(
        css("div.text"), exclude=(css("aside"), css("[class*=share], [id*=share]"), css("nav, h1"))
    )

    found = label(rule, PAGE)

    assert words(found) == f"{LEAD} Hundreds came The mayor spoke too It rained"
    assert found.text.split("\n\n") == [
        "The bridge opened on Monday.",
        "Hundreds came.",
        "The mayor spoke, too.",
        "It rained.",
    ]


def test_fields_are_selected_by_the_first_alternative_with_a_value() -> None:
    rule = wrapper(
        css("div.lead"),
        exclude=(css("div.gone"),),
        title=(css("h3"), css("h1"), css("title")),
        authors=(css(".byline a"),),
        published=(css("h1"), xpath("//meta[@name='date']/@content")),  # the first is no date
    )

    found = label(rule, PAGE)

    assert found.title == "Bridge opens"
    assert found.authors == ("Ann Author", "Bob Writer")
    assert found.published == "2024-05-02"
    assert found.missed == ("exclude",)
    fields = {"title": True, "authors": True, "published": True}
    assert found.field_hits == {"exclude": False, **fields}


@pytest.mark.parametrize(
    ("selector", "title"),
    [
        (css("title"), "Bridge opens | The Daily Example"),
        (css("h1::text"), "Bridge"),
        (xpath("substring-before(//title, ' |')"), "Bridge opens"),
        (xpath("string(//nothing)"), ""),
        (xpath("count(//p)"), ""),
        (css("p:empty"), ""),
    ],
)
def test_a_field_may_be_text_or_an_element(selector: Selector, title: str) -> None:
    assert label(wrapper(css("div.lead"), title=(selector,)), PAGE).title == title


# Takes the page's text for a regular expression.
FAILS_ON_BRACKET = xpath("//p[re:test('x', string(.))]")


@pytest.mark.parametrize(
    ("source", "rule", "reason"),
    [
        ("", wrapper(css("p")), Reason.EMPTY_PAGE),
        ("<!-- nothing -->", wrapper(css("p")), Reason.EMPTY_PAGE),
        (PAGE, wrapper(css("article"), title=(css("h9"),)), Reason.NO_MATCH),
        (PAGE, wrapper(css("#story")), Reason.NO_MATCH),  # which is in a script
        (
            PAGE,
            wrapper(
                css("div.text"),
                exclude=(css("aside, div.text p"), css("[class*=share], [id*=share]")),
            ),
            Reason.NO_WORDS,
        ),
        (PAGE, wrapper(xpath("count(//p)")), Reason.NO_MATCH),
        (PAGE, wrapper(xpath("//p/text() | //p/@class")), Reason.NO_MATCH),
        (PAGE, wrapper(xpath("//comment()")), Reason.NO_MATCH),
        ("<p><br></p>", wrapper(css("p")), Reason.NO_WORDS),
        ("<p>a</p>", wrapper(css("p"), exclude=(xpath("//p[1]"),)), Reason.NO_WORDS),
        ("<p>(</p>", wrapper(FAILS_ON_BRACKET), Reason.SELECTOR_FAILED),
        ("<p>(</p>", wrapper(css("p"), exclude=(FAILS_ON_BRACKET,)), Reason.SELECTOR_FAILED),
    ],
)
def test_a_page_without_labels_has_a_reason(source: str, rule: Wrapper, reason: Reason) -> None:
    found = label(rule, source)

    assert found.reason is reason
    assert not found.inside.any()
    assert (found.text, found.title, found.field_hits) == ("", "", {})
    assert bool(found.failures) is (reason is Reason.SELECTOR_FAILED)


def test_a_selector_that_fails_lets_the_next_try() -> None:
    """And the one behind that is not tried."""
    source = "<meta charset=shift_jis><h1>Title</h1><p>(</p><div>Stra\u00dfe \u4e2d\u6587.</div>"
    fails = FAILS_ON_BRACKET
    rule = wrapper(fails, css("div"), fails, title=(fails, css("h1"), fails))

    found = label(rule, source)

    assert (found.reason, found.text, found.title) == (None, "Stra\u00dfe \u4e2d\u6587.", "Title")
    assert [failure.partition(":")[0] for failure in found.failures] == ["body", "title"]


RANDOMS = st.randoms(use_true_random=False)
HOSTILE = wrapper(
    css("#x"),
    xpath("//p"),
    css("body"),
    exclude=(css("a"), css("[class*=p]"), xpath("//table")),
    title=(css("title"), xpath("//b/text()")),
    authors=(css("a::attr(href)"),),
)


def checked(source: str) -> None:
    found = label(HOSTILE, source)
    assert (found.reason is None) == bool(found.inside.any())
    assert found.failures == ()


@given(SOUP, RANDOMS)
def test_no_markup_and_no_damage_to_a_page_make_it_fail(markup: str, choose: Random) -> None:
    damaged = PAGE
    for _ in range(choose.randint(1, 9)):
        start, length = choose.randrange(len(damaged)), choose.randint(0, 60)
        damaged = damaged[:start] + markup[: choose.randint(0, 30)] + damaged[start + length :]

    checked(markup)
    checked(damaged)


@pytest.mark.parametrize("name", ODD)
def test_odd_pages_are_labelled(name: str) -> None:
    checked(ODD[name])


def test_of_elements_that_begin_together_the_longest_is_out() -> None:
    source = "<div><table><tr><td>a</td></tr><tr><td>b</td></tr></table>c</div>"
    rule = wrapper(css("div"), exclude=(css("tr:first-child"), css("tbody"), css("table")))

    assert words(label(rule, source)) == "c"


@pytest.mark.parametrize(
    ("tag", "text", "date"),
    [
        ("<html lang=fr>", "05/03/2024", "2024-03-05"),
        ("<html xml:lang=fr-CA>", "le 05/03/2024 à 10h", "2024-03-05"),
        ("<html lang=en-US>", "05/03/2024", "2024-05-03"),
        ("<html>", "05/03/2024", ""),
        ("", "05/03/2024", ""),
        ("<html lang=fr>", "hier", ""),
    ],
)
def test_a_date_is_read_in_the_language_of_the_page_or_missed(
    tag: str, text: str, date: str
) -> None:
    rule = wrapper(css("p"), published=(css("time"),))

    found = label(rule, f"{tag}<time>{text}</time><p>It rained.</p>")

    assert found.published == date
    assert found.field_hits == {"published": bool(date)}


def nested(depth: int) -> str:
    """Two times as many elements as any page may have, inside *depth* others."""
    return f"<p>one</p>{'<b>' * depth}" + f"<i>x</i>{'a' * 30} " * 2 * MIN_DEEP


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("<p>a" * 2 * MIN_TAGS, Reason.TOO_MANY_TAGS),
        ("<p>a" * MIN_TAGS, None),
        (nested(DEEP), Reason.TOO_MANY_TAGS),
        (nested(DEEP - 10), None),
        (f"<p>one</p>{'<b>' * (DEEP + MIN_DEEP // 2)}x", None),
    ],
    ids=["tags", "fewer tags", "deep", "less deep", "some deep"],
)
def test_a_page_of_more_or_deeper_tags_than_its_length_pays_for_is_not_labelled(
    source: str, reason: Reason | None
) -> None:
    found = label(wrapper(css("p")), source)

    assert found.reason is reason
    assert found.inside.any() == (reason is None)


def test_nested_elements_of_a_field_are_read_up_to_a_number() -> None:
    names = "".join(f"<i>{n}</i>" for n in range(2 * MAX_VALUES))

    found = label(wrapper(css("p"), authors=(css("i"),)), f"<p>one</p>{names}")

    assert found.authors == tuple(map(str, range(MAX_VALUES)))


def test_nested_elements_of_a_field_are_read_up_to_the_length_of_the_page() -> None:
    depth, text = 400, "word " * 10_000
    page = "<p>one</p>" + "<i>" * depth + text + "".join(f"</i>{n}" for n in range(depth))

    found = label(wrapper(css("p"), authors=(css("i"),)), page)

    assert 1 <= len(found.authors) <= 2
    assert found.authors[0].startswith("word word")


def test_a_tag_of_attributes_is_labelled_in_linear_time() -> None:
    def run(n: int) -> Callable[[], object]:
        page = f"<p {' '.join(f'a{k}' for k in range(n))}>one</p>"
        return lambda: label(wrapper(css("p")), page)

    assert grows_linearly(run(5000), run(FACTOR * 5000))


@pytest.mark.parametrize(
    ("selectors", "expected"),
    [
        ((css("a.more"),), "/ferry?p=2&x=1"),
        ((css("a.more::attr(href)"),), "/ferry?p=2&x=1"),
        ((xpath("string(//a[@class='more']/@href)"),), "/ferry?p=2&x=1"),
        ((css("a.less"), css("a.more")), "/ferry?p=2&x=1"),
        ((css("p"),), ""),
        ((), ""),
    ],
)
def test_the_next_page_is_where_a_link_leads(
    selectors: tuple[Selector, ...], expected: str
) -> None:
    source = (
        "<article>One two.</article><p>Three <a class=more href=' /ferry?p=2&amp;x=1 '>4</a></p>"
    )
    wrapper = Wrapper(site="x.example", body=(css("article"),), next_page=selectors)

    found = label(wrapper, source)

    assert (found.next_page, found.missed, found.failures) == (expected, (), ())
