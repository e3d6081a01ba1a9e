from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.training.bare import PLAIN, bare
from scrapy_mss.markup.tokenizer import tokenize
from tests.helpers.layouts import LAYOUTS, ODD, PAGES

NUMBERS = st.integers(0, 2**32 - 1)
PAGE = """
    <body class="page"><nav id=top><a href="/">Home</a></nav>
    <article class=story><h1 class=head>A ferry</h1><p style="x">It <b>sails</b>.</p>
    <p>It docks.</p><ul><li>one</li></ul></article></body>
"""


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (6, "<div><a>Home</a></div><div><h1>A ferry</h1><p>It<b>sails</b>.</p><p>It docks.</p>"),
        (7, "<td><a>Home</a></td><td><h1>A ferry</h1><p>It<b>sails</b>.</p><p>It docks.</p>"),
        (
            2,
            (
                "<div><a>Home</a></div><div><b>A ferry</b><br><br>"
                "<br><br>It<b>sails</b>.<br><br><br><br>It docks.<br><br>"
            ),
        ),
    ],
)
def test_a_page_by_hand(number: int, expected: str) -> None:
    box = "div" if number % 2 == 0 else "td"

    found = re.sub(r"\s*(<[^>]*>)\s*", r"\1", bare(tokenize(PAGE), number)).strip()

    assert found == f"<body>{expected}<{box}><{box}>one</{box}></{box}></{box}></body>"


@given(LAYOUTS, NUMBERS)
def test_words_stay_and_names_go(source: str, number: int) -> None:
    page = tokenize(source)

    copy = tokenize(bare(page, number))

    assert copy.words() == page.words()
    assert not copy.passages.names.word.size


@given(PAGES, NUMBERS)
def test_of_boxes_one_kind_is_left(source: str, number: int) -> None:
    box = "div" if number % 2 == 0 else "td"

    copy = bare(tokenize(source), number)

    tags = set(re.findall(r"</?([a-z0-9]+)>", copy))
    assert tags & {"article", "main", "nav", "section", "footer", "ul", "li"} <= {box}
    assert box in PLAIN or box == "div"


@pytest.mark.parametrize("name", ODD)
def test_odd_pages_have_a_bare_copy(name: str) -> None:
    page = tokenize(ODD[name])

    assert tokenize(bare(page, 7)).words() == page.words()
