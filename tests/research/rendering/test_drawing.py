"""Drawings in files, and what has laid a page out: without a browser."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import pytest

from research.rendering.drawing import (
    BadFileError,
    Box,
    Failure,
    from_bytes,
    to_bytes,
)
from research.rendering.layout import Layout, layout
from tests.helpers.drawn_pages import drawing_of, element, paragraph, text

DRAWING = drawing_of(
    element(
        "body",
        element("div", paragraph("one two three", 0, 0, 100, 20)),
        element("div", element("div", text("four \N{GRINNING FACE} five", 0, 20, 100, 20))),
        paragraph("six", 0, 40, 100, 20),
    )
)


@pytest.mark.parametrize("outcome", [DRAWING, Failure("not drawn in 30 s")])
def test_a_file_has_what_was_drawn(outcome: object) -> None:
    assert isinstance(outcome, type(DRAWING) | Failure)
    found = from_bytes(to_bytes(outcome))

    assert found == outcome
    assert to_bytes(found) == to_bytes(outcome)


def test_a_file_that_was_cut_off_anywhere_is_rejected() -> None:
    data = to_bytes(DRAWING)

    for length in range(len(data)):
        with pytest.raises(BadFileError, match="expected a drawing of format 1"):
            from_bytes(data[:length])


@pytest.mark.parametrize("content", [[], {}, {"format": 2}, {"format": 1, "box": []}, "text", 1])
def test_a_file_of_something_else_is_rejected(content: object) -> None:
    with pytest.raises(BadFileError):
        from_bytes(gzip.compress(json.dumps(content).encode()))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("style", "", Layout.NONE),  # three of seven words
        ("", "style", Layout.NONE),  # three, too: the emoticon is one of them
        ("style", "style", Layout.STYLE),
        ("style", "table", Layout.TABLES),
        ("table", "table", Layout.TABLES),
        ("", "", Layout.NONE),
    ],
)
def test_a_page_is_laid_out_by_what_holds_half_of_its_words(
    first: str, second: str, expected: Layout
) -> None:
    placed = list(DRAWING.placed)
    placed[1], placed[4] = first, second

    assert layout(replace(DRAWING, placed=placed)) is expected


def test_a_page_without_words_is_not_laid_out() -> None:
    assert layout(drawing_of(element("body"))) is Layout.NONE


def test_a_box_ends_where_it_is_wide_and_high() -> None:
    box = Box(10, 20, 30, 40)

    assert (box.right, box.bottom, box.area) == (40, 60, 1200)
