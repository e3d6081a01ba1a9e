from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.systems.largest_pagelet import (
    BOXES,
    LargestPagelet,
    bags,
    pagelets,
    templates,
)
from scrapy_mss.markup.elements import element_starts
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Tokens
from tests.helpers.markup import NESTED, SOUP, TAG_SOUP

MENU = "<ul><li><a>Home</a><li><a>News</a><li><a>Sport</a></ul>"
LAW = "<div>All rights reserved by those who wrote this on 1 May</div>"


def page(*boxes: str) -> str:
    return f"<html><body>{MENU}{''.join(boxes)}</body></html>"


def test_the_largest_box_that_no_links_divide() -> None:
    cases = [
        # A child with three links divides; two links do not.
        (f"<div>{MENU}<div>one two</div></div>", "one two"),
        (
            "<div><ul><li><a>x</a><li><a>y</a></ul><div>one two</div></div>",
            "x\n\ny\n\none two",
        ),
        # Links of its own do not divide a box, nor do those of a paragraph.
        ("<div>one <a>x</a><p><a>y</a> <a>z</a> <a>q</a></p></div>", "one x\n\ny z q"),
        # A box that is divided holds text too, and so does a page without boxes.
        (f"<div>one two{MENU}three<div>four</div></div>", "one two\n\nthree"),
        (f"one two{MENU}three", "one two\n\nthree"),
        ("one two", "one two"),
        # Links are no size.
        (f"<div>{MENU}<ul><li><a>a b c d</a></ul><div>one</div></div>", "one"),
        ("", ""),
    ]

    assert [(source, LargestPagelet().extract(source)) for source, _ in cases] == cases


def test_links_say_how_many_divide() -> None:
    source = "<div><ul><li><a>x</a><li><a>y</a></ul><div>one two</div></div>"

    assert LargestPagelet(links=2).extract(source) == "one two"


def test_what_other_pages_have_is_no_main_text() -> None:
    pages = [page(f"<div>{text}</div>", LAW) for text in ("one two three", "four five")]
    system = LargestPagelet()

    assert [system.extract(html).split()[0] for html in pages] == ["All", "All"]
    assert system.extract_site(pages) == ["one two three", "four five"]


@pytest.mark.parametrize(
    ("other", "expected"),
    [("All rights reserved by those who wrote this on 2 May", "one"), ("No rights reserved", None)],
)
def test_a_template_has_the_same_words_whatever_its_numbers(
    other: str, expected: str | None
) -> None:
    pages = [page("<div>one</div>", LAW), page("<div>two</div>", f"<div>{other}</div>")]

    first, _ = LargestPagelet().extract_site(pages)

    assert first == (expected or LargestPagelet().extract(LAW))


def test_a_page_that_is_there_twice_makes_no_template() -> None:
    once = page("<div>one two three</div>", "<div>four</div>")

    assert LargestPagelet().extract_site([once, once]) == ["one two three"] * 2


def test_where_all_are_templates_the_largest_stays() -> None:
    more = [page(box, LAW) for box in ("<div>one</div>", "<div>two</div>")]

    assert LargestPagelet().extract_site([page(LAW), *more])[0] == LargestPagelet().extract(LAW)


def test_a_site_without_pages_has_no_texts() -> None:
    assert LargestPagelet().extract_site([]) == []


def test_templates_are_counted_by_page() -> None:
    one, two, three = (np.array(row, np.uint64) for row in ([1, 2, 2], [1, 3], [3, 4]))

    assert sorted(templates([one, two, three, three]).tolist()) == [1, 3]


def test_a_bag_has_words_in_any_order_and_no_signs() -> None:
    tokens = tokenize("<ul><li>a b<li>b, a<li>a a</ul>")
    words = np.flatnonzero(tokens.is_word)
    number = np.searchsorted(np.flatnonzero(tokens.is_open("li")), np.arange(len(tokens)), "right")

    found = bags(tokens, number.astype(np.intp))

    assert len(words) == 6
    assert found[0] == 0
    assert found[1] == found[2] != found[3]


@given(st.one_of(SOUP, TAG_SOUP, NESTED))
def test_pagelets_are_found_by_going_down_from_the_page(source: str) -> None:
    tokens = tokenize(source)

    found = pagelets(tokens, links=1)

    opens = np.flatnonzero(element_starts(tokens, BOXES)).tolist()
    expected = [pagelet(tokens, opens, at) for at in range(len(tokens))]
    assert len(set(zip(found.tolist(), expected, strict=True))) == len(set(expected))
    assert len(set(found.tolist())) == len(set(expected))


def pagelet(tokens: Tokens, opens: list[int], at: int) -> int:
    """The outermost box around a token that no child divides; else the innermost; else -1."""
    here = -1
    for box in [-1, *(box for box in opens if box < at <= tokens.partner[box])]:
        here = box
        if not any(has_link(tokens, child) for child in children(tokens, opens, box)):
            break
    return here


def children(tokens: Tokens, opens: list[int], box: int) -> list[int]:
    end = tokens.partner[box] if box >= 0 else len(tokens)
    inside = [child for child in opens if box < child < end]
    return [
        child
        for child in inside
        if not any(other < child < tokens.partner[other] for other in inside)
    ]


def has_link(tokens: Tokens, box: int) -> bool:
    return bool(tokens.is_open("a")[box : tokens.partner[box]].any())
