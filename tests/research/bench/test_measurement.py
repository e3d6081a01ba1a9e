from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from research.bench import measurement
from research.bench.scoring import Answer
from tests.research.bench.fakes import (
    Common,
    Everything,
    Paragraphs,
    create,
    page,
)


def answer(system: object, *asked: int) -> list[Answer]:
    """What *system* says of the pages of these numbers, in their order."""
    given = [page(number) for number in asked]
    return [each for _, each in sorted(measurement.answers(system, given))]  # type: ignore[arg-type]


def test_an_oracle_is_told_the_gold_and_others_are_not() -> None:
    class Told(Everything):
        def extract_best(self, html: str, gold: str) -> str:
            return gold if html else ""

    assert answer(Told(), 3)[0].text == page(3).golds[0]
    assert answer(Everything(), 3)[0].text != page(3).golds[0]


def test_a_crash_is_the_failure_of_one_page() -> None:
    fragile = create("fragile")

    before, broken, after = answer(fragile, 0, 1, 2)

    assert (broken.text, broken.error) == ("", "RuntimeError: no way through")
    assert before.error is after.error is None
    assert after.text


def test_a_site_system_gets_all_pages_of_a_site_and_group_at_once() -> None:
    system = Common()
    given = [page(0), page(1, "b.example"), page(2), page(3, group="2005")]

    found = dict(measurement.answers(system, given))

    assert system.calls == [2, 1, 1]
    assert [found[n].text for n in range(4)] == [each.golds[0] for each in given]


class Found(NamedTuple):
    text: str
    tokens: SimpleNamespace
    kept: np.ndarray[tuple[int], np.dtype[np.bool_]]


class Locating(Paragraphs):
    """Keeps the first two of four tokens, the last of which is no word."""

    def locate(self, html: str) -> Found:
        if "Story 1 " in html:
            raise LookupError("lost")
        is_word = np.array([True, True, True, False])
        kept = np.array([True, True, False, False])
        return Found("", SimpleNamespace(is_word=is_word), kept)


@pytest.fixture
def _gold_is_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stands in for the alignment: gold are all tokens but the first."""
    labels = np.array([False, True, True, True])
    target = "scrapy_mss.core.labels.label_words"
    monkeypatch.setattr(target, lambda _tokens, _gold: labels)


@pytest.mark.usefixtures("_gold_is_the_rest")
def test_a_system_that_locates_is_scored_by_position() -> None:
    (found,) = answer(Locating(), 0)

    assert found.positions == (0.5, 0.5, 0.5)
    assert found.text == page(0).golds[0]
