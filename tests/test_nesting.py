"""HTML of kept tokens is nested the same way by the compiled part and by Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_mss.markup.compiled import python_alone
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.output.sanitizing import MAX_DEPTH, rebuilt, sanitized
from tests.helpers.effort import examples
from tests.helpers.markup import SOUP, TAG_SOUP

URL = "https://news.example/2024/story.html"
_compiled = pytest.importorskip("scrapy_mss.markup._compiled", reason="it was not built")


# Elements that close one another or have room in some alone, with and without attributes.
NESTED = st.lists(
    st.sampled_from(
        [
            *(f"<{name}>" for name in ("p", "div", "b", "span", "nosuch", "section", "br", "svg")),
            *(f"</{name}>" for name in ("p", "div", "b", "span", "nosuch", "section", "br")),
            *(f"<{name}>" for name in ("table", "caption", "tbody", "tr", "td", "th", "thead")),
            *(f"</{name}>" for name in ("table", "caption", "tbody", "tr", "td", "th", "thead")),
            *("<ul>", "<ol start=3>", "<li>", "<li value=2>", "</li>", "</ul>", "</ol>"),
            *("<dl>", "<dt>", "<dd>", "</dd>", "</dl>", "<a HREF='/x'>", "</a>", "<a title=y>"),
            *("<td colspan=2>", "<p class=x>", "<p dIr=rtl>"),
            *("<p \u0130d\u0130r=rtl>", "<p l\xe4ng=de>"),
            *("<img src=/a.png alt=b>", "<time datetime=2024>", "<hr>", "<b =dir x>", "<wbr/>"),
            *("one ", "two", " ", "\n", "&amp;", "&nbsp", "\xa0", "&", "<", "&lt"),
            *("\x85", "\u202f", "&#11;", "&#x1f;"),
        ]
    ),
    max_size=40,
).map("".join)


@given(NESTED | TAG_SOUP | SOUP, st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 3, MAX_DEPTH]))
@examples(10)
@example("<div>" * 40 + "one", 0, MAX_DEPTH)
@example("<table>one<tr>two<td>three<table><td>four</table>five", 0, MAX_DEPTH)
def test_both_ways_nest_the_same_elements(source: str, seed: int, depth: int) -> None:
    tokens = tokenize(source)
    kept = np.random.default_rng(seed).random(len(tokens)) < 0.9

    compiled = rebuilt(tokens, kept, URL, depth)
    with python_alone():
        alone = rebuilt(tokens, kept, URL, depth)

    assert compiled == alone


@pytest.mark.parametrize(
    ("place", "wrong", "said"),
    [
        (0, b"", "expected 256 values, got 0"),
        (2, bytes(255), "expected 256 values, got 255"),
        (1, b"\x09" * 256, "9 is not from 0 to 0"),
        (3, b"", "expected 4096 values, got 0"),
        (5, [], "expected 0 values, got 1"),
        (6, [], "expected 1 values, got 0"),
    ],
)
def test_tables_that_leave_out_a_tag_are_refused(place: int, wrong: object, said: str) -> None:
    tables: list[Any] = [*[bytes(256)] * 3, bytes(4096), ["p"], ["<p>"], [[]], (0, 0), 0, 0, None]
    tables[place] = wrong

    with pytest.raises((ValueError, IndexError), match=said):
        _compiled.Nesting(*tables)


def test_more_elements_than_have_room_are_refused() -> None:
    tokens = tokenize("<p>one</p>")

    with pytest.raises(IndexError, match="257 is not from 0 to 256"):
        sanitized(tokens, np.ones(len(tokens), np.bool_), depth=257)
