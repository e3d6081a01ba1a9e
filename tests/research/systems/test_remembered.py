"""Answers of peers that are kept: asked once, in this run and in the next."""

from __future__ import annotations

from pathlib import Path

import pytest

from research.systems import remembered
from research.systems.remembered import Remembered


class Counting:
    """Says how often it was asked; fails on a page without a tag."""

    asked = 0

    def extract(self, html: str) -> str:
        Counting.asked += 1
        if "<" not in html:
            raise ValueError("no tag")
        return f"answer {Counting.asked}"


@pytest.fixture(autouse=True)
def counting(monkeypatch: pytest.MonkeyPatch) -> None:
    Counting.asked = 0
    monkeypatch.setattr(remembered, "create", lambda _spec: Counting())


def test_each_page_is_asked_about_once(tmp_path: Path) -> None:
    texts = [
        Remembered("goose3", tmp_path / "kept").extract(html) for html in ("<p>", "<b>", "<p>")
    ]

    assert texts == ["answer 1", "answer 2", "answer 1"]
