from __future__ import annotations

import re

import pytest

from research.training.stripping import stripped
from scrapy_mss.markup.tokenizer import tokenize
from tests.helpers.layouts import ODD

PAGE = """
    <body class="page"><nav id=top><a href="/">Home</a></nav>
    <article class=story><h1 class=head>A ferry</h1><p style="x">It <b>sails</b>.</p>
    <p>It docks.</p><ul><li>one</li></ul></article></body>
"""


@pytest.mark.parametrize(
    ("variant", "expected"),
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
def test_a_page_by_hand(variant: int, expected: str) -> None:
    container = "div" if variant % 2 == 0 else "td"

    found = re.sub(r"\s*(<[^>]*>)\s*", r"\1", stripped(tokenize(PAGE), variant)).strip()

    ends = f"<{container}><{container}>one</{container}></{container}></{container}>"
    assert found == f"<body>{expected}{ends}</body>"


def test_odd_pages_have_a_stripped_copy() -> None:
    for name, source in ODD.items():
        page = tokenize(source)
        assert tokenize(stripped(page, 7)).words() == page.words(), name
