"""Drawings in files, and what has laid a page out: without a browser."""

from __future__ import annotations

import pytest

from research.rendering.drawing import Failure, from_bytes, to_bytes
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
