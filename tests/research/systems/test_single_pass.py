"""Systems that find the text of a page in one pass: what their papers define, case by case."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.systems.base import TextExtractor
from research.systems.baselines import LongestBlock
from research.systems.bte import BodyText
from research.systems.ccb import blurred
from research.systems.dsc import regions
from research.systems.feature_extractor import FeatureExtractor
from research.systems.largest_pagelet import LargestPagelet
from research.systems.lqf import LinkQuotaFilter
from research.systems.lsi import LargestSizeIncrease
from scrapy_mss.markup.tokens import Tokens
from tests.helpers.markup import SOUP, TAG_SOUP

X = "x" * 99
LINKS = "<ul><li><a>one two</a> three</ul>"
MENU = "<ul><li><a>Home</a><li><a>News</a><li><a>Sport</a></ul>"

CASES: dict[TextExtractor, dict[str, str]] = {
    LargestSizeIncrease(): {
        # 7 - 3 characters for the box, 3 for the largest paragraph.
        "<b>x</b><div><p>aaa</p><p>bbb</p><p>c</p></div>": "aaa\n\nbbb\n\nc",
        # What wraps adds nothing, and is not the winner.
        "<div><div><p>aa</p><p>bb</p>c</div></div>": "aa\n\nbb\n\nc",
        # The page counts: 5 - 2, and before an element with as much.
        "<p>aa</p>bbb": "aa\n\nbbb",
        "<p>aa</p>b": "aa",
        # Markup and code have no size.
        f"<p>aa</p><i title={X}></i><script>{X}</script>": "aa",
    },
    LinkQuotaFilter(): {
        f"{LINKS}<p>four</p>": "four",
        # A half is not the greater part.
        "<ul><li><a>one</a> two</ul><p>four</p>": "one two\n\nfour",
        # A link in running text stays; a paragraph that is a link does not.
        "<p>one <a>two</a> three</p><p><a>four</a></p>": "one two three",
        # A container goes with all that it holds.
        "<div><ul><li><a>a b c</a></ul><p>d e</div><p>f</p>": "f",
        # Neither the page nor elements that are not closed are judged.
        "<html><body><a>one</a></body></html>": "one",
        "<div><a>one</a>": "one",
    },
    LinkQuotaFilter(quota=0.67): {f"{LINKS}<p>four</p>": "one two three\n\nfour"},
    LongestBlock(): {
        "<td>one</td><td>three three</td>": "three three",
        # Characters count, words do not.
        "<div>a b c</div><div>abcdef</div>": "abcdef",
        # A box holds what is in the boxes in it; of equal ones the first.
        "<div>one<div>two two</div></div><div>three th</div>": "one\n\ntwo two",
        # Markup and code are no characters of text.
        f"<div>one<script>{X}</script></div><div>four four</div>": "four four",
        # A box that is never closed does not count; without any, it is the whole page.
        "<div>one</div><div>three three": "one",
        "<p>one</p><section>two</section>": "one\n\ntwo",
    },
    FeatureExtractor(): {
        "<p>one two<p>one two three<p>one": "one two three",
        # Of equal ones the first; a table cell is no block of its own.
        "<p>one<p>two": "one",
        "<tr><td>one<td>two</tr>three": "one\n\ntwo",
        # Words of a link do not count, and text must be the greater part.
        "<p>one<p><a>one two three</a>": "one",
        "<p>one<p>one two <img><img>": "one",
        "<p>one<p>one two <img>": "one two",
    },
    LargestPagelet(): {
        # A child with three links divides; two links do not.
        f"<div>{MENU}<div>one two</div></div>": "one two",
        "<div><ul><li><a>x</a><li><a>y</a></ul><div>one two</div></div>": "x\n\ny\n\none two",
        # Links of its own do not divide a box, nor do those of a paragraph.
        "<div>one <a>x</a><p><a>y</a> <a>z</a> <a>q</a></p></div>": "one x\n\ny z q",
        # A box that is divided holds text too, and so does a page without boxes.
        f"<div>one two{MENU}three<div>four</div></div>": "one two\n\nthree",
        f"one two{MENU}three": "one two\n\nthree",
        # Links have no size.
        f"<div>{MENU}<ul><li><a>a b c d</a></ul><div>one</div></div>": "one",
    },
}


@pytest.mark.parametrize("system", CASES, ids=lambda system: type(system).__name__)
def test_a_system_finds_what_its_definition_says(system: TextExtractor) -> None:
    assert {source: system.extract(source) for source in CASES[system]} == CASES[system]


def test_what_other_pages_of_the_site_have_is_no_main_text() -> None:
    law = "<div>All rights reserved by those who wrote this on 1 May</div>"
    pages = [
        f"<html><body>{MENU}<div>{text}</div>{law}</body></html>"
        for text in ("one two three", "four five")
    ]
    system = LargestPagelet()

    assert [system.extract(html).split()[0] for html in pages] == ["All", "All"]
    assert system.extract_site(pages) == ["one two three", "four five"]


@given(st.one_of(SOUP, TAG_SOUP))
def test_no_region_has_more_words_inside_and_tags_outside(source: str) -> None:
    system = BodyText()
    tokens = system.locate(source).tokens

    span = system.span(tokens)

    n = len(tokens)
    regions = ((start, end) for start in range(n + 1) for end in range(start, n + 1))
    assert objective(tokens, span.start, span.end) == max(
        objective(tokens, start, end) for start, end in regions
    )


def objective(tokens: Tokens, start: int, end: int) -> int:
    """Finn's: the tags before a region, the words in it and the tags behind it."""
    tags = tokens.is_tag
    return int(tags[:start].sum() + tokens.is_word[start:end].sum() + tags[end:].sum())


def test_a_blur_weighs_by_a_gaussian_with_a_third_of_the_radius() -> None:
    # exp(-9/2) = .011109 beside 1, and .022218 + 1 in all.
    assert blurred(np.array([0.0, 1.0, 0.0]), 1) == pytest.approx(
        [0.010868, 0.978265, 0.010868], abs=1e-6
    )
    # exp(-9/8) = .324652 and .011109 on each side, 1.671522 in all: the ends go on as they are.
    assert blurred(np.array([1.0, 0.0]), 2) == pytest.approx([0.799128, 0.200872], abs=1e-6)


def test_three_windows_begin_a_region_and_three_end_it() -> None:
    cases = {
        "000111000": "000111000",
        "0001101110000": "0000001110000",  # two flat ones begin nothing
        "11100111000": "11111111000",  # two steep ones end nothing
        "00011": "00011",  # the last one stands for those behind it
        "11100": "11100",
    }

    for flat, expected in cases.items():
        found = regions(np.array([digit == "1" for digit in flat], np.bool_))
        assert "".join(str(int(inside)) for inside in found) == expected, flat
