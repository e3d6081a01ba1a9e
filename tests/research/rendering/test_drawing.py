"""Drawings in files, and what has laid a page out: without a browser."""

from __future__ import annotations

from dataclasses import replace

import pytest

from research.rendering.drawing import (
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
