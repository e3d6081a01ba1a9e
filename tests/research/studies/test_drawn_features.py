"""Blocks of a page in its drawing, and their columns among the inputs of the network."""

from __future__ import annotations

from research.studies.drawn_features import (
    DRAWN,
    blocks_in,
    drawn_columns,
)
from scrapy_mss.blocks.page import Page
from tests.helpers.drawn_pages import drawing_of, element, text

SOURCE = """<nav>menu of the site</nav><p>The story is <b>long</b> enough and has many words.</p>
<p class=gone>nobody sees that</p>"""
STORY = element(
    "p",
    text("The story is ", 320, 0, 200, 20),
    element("b", text("long", 520, 0, 50, 20, font=(16.0, 700))),
    text(" enough and has many words.", 570, 0, 390, 20),
    box=(320, 0, 640, 40),
)
DRAWING = drawing_of(
    element(
        "body",
        element(
            "nav", text("menu of the site", 0, 0, 128, 20, font=(12.0, 400)), box=(0, 0, 128, 80)
        ),
        STORY,
        box=(0, 0, 1280, 80),
    )
)


def test_a_block_is_where_most_of_its_words_are() -> None:
    page = Page.of(SOURCE)

    node, share = blocks_in(page, DRAWING)

    assert [DRAWING.text[number] if number >= 0 else None for number in node] == [
        "menu of the site",
        " enough and has many words.",
        None,
    ]
    assert share.tolist() == [1.0, 1.0, 0.0]


def test_columns_are_of_the_element_around_the_text() -> None:
    columns = dict(zip(DRAWN, drawn_columns(Page.of(SOURCE), DRAWING), strict=True))

    assert columns["drawn_left"].tolist() == [0.0, 0.25, 0.0]
    assert columns["drawn_width"].tolist() == [0.1, 0.5, 0.0]
    assert columns["font_size"].tolist() == [0.75, 1.0, 0.0]
    assert columns["font_size_to_main"][1] == 0.0
    assert columns["font_size_to_main"][0] < 0.0
    assert columns["main_left"].tolist() == [0.0, 1.0, 0.0]
    assert columns["visible"].tolist() == [1.0, 1.0, 0.0]
