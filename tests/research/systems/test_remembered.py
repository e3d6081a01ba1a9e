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


def test_a_failure_is_an_empty_text_and_is_kept(tmp_path: Path) -> None:
    assert [Remembered("goose3", tmp_path).extract("plain") for _ in range(2)] == ["", ""]
    assert Counting.asked == 1


def test_a_line_that_was_cut_off_is_asked_again(tmp_path: Path) -> None:
    first = Remembered("goose3", tmp_path)
    first.extract("<p>")
    first.extract("<b>")
    first.path.write_text(first.path.read_text()[:-5])

    again = Remembered("goose3", tmp_path)

    assert [again.extract("<p>"), again.extract("<b>")] == ["answer 1", "answer 3"]
    assert Remembered("goose3", tmp_path).extract("<b>") == "answer 3"


def test_systems_do_not_share_answers(tmp_path: Path) -> None:
    paths = {Remembered(spec, tmp_path).path for spec in ("goose3", "justext", "turbohtml")}

    assert len(paths) == 3
