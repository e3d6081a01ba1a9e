from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.classifier import POOLINGS, block_inputs
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.page_features import (
    CONFIDENCE_FEATURES,
    ReadPage,
    confidence_features,
    expected_f1,
)
from scrapy_mss.blocks.selection import threshold
from scrapy_mss.markup.tokens import Bools, Floats
from tests.helpers.layouts import PAGES

PAGE = "<p>one two three four<p>five six<p>seven eight"  # of 4, 2 and 2 words


def reading(html: str, probability: list[float], kept: list[bool], score: float = 2.0) -> ReadPage:
    page = Page.of(html)
    scores = np.full(len(page.blocks), score)
    inputs = block_inputs(page, np.tile(scores, (len(POOLINGS), 1)), scores)
    mask: Bools = np.array(kept, np.bool_)
    return ReadPage(page, inputs, np.array(probability, np.float64), mask)


@pytest.mark.parametrize(
    ("probability", "kept", "expected"),
    [
        ([1, 0, 0], [True, False, False], 1),
        ([1, 1, 0], [True, False, False], 2 * 4 / (4 + 6)),
        ([1, 0, 0], [True, True, False], 2 * 4 / (6 + 4)),
        ([0.5, 0.5, 0.5], [True, True, True], 2 * 4 / (8 + 4)),
        ([0, 0, 0], [True, True, True], 0),
        ([1, 1, 1], [False, False, False], 0),
    ],
)
def test_the_expected_f1_by_hand(
    probability: list[float], kept: list[bool], expected: float
) -> None:
    assert expected_f1(reading(PAGE, probability, kept)) == pytest.approx(expected, abs=0.001)


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3))
def test_no_choice_is_expected_to_be_better_than_the_best(probability: list[float]) -> None:
    choices = [[bool(n >> k & 1) for k in range(3)] for n in range(1, 8)]

    expected = [expected_f1(reading(PAGE, probability, kept)) for kept in choices]

    best = 2 * threshold(Page.of(PAGE), np.array(probability))
    assert max(expected) <= best + 1e-9
    if sum(probability) * 2 > 1:  # below one word in all, the denominator is rounded up
        assert max(expected) == pytest.approx(best)


@given(PAGES, st.data())
def test_confidence_features_are_finite(html: str, data: st.DataObject) -> None:
    n = len(Page.of(html).blocks)
    probability = data.draw(st.lists(st.floats(0, 1), min_size=n, max_size=n))
    kept = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))

    found: Floats = confidence_features(reading(html, probability, kept))

    assert found.shape == (len(CONFIDENCE_FEATURES),)
    assert np.isfinite(found).all()
