from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.systems.ccb import ContentCodeBlurring, blurred
from tests.helpers.markup import SOUP, TAG_SOUP

MENU = "<li><a>link</a>" * 60
TEXT = " ".join(["word"] * 120)


def test_a_blur_weighs_by_a_gaussian_with_a_third_of_the_radius() -> None:
    # exp(-9/2) = .011109 beside 1, and .022218 + 1 in all.
    assert blurred(np.array([0.0, 1.0, 0.0]), 1) == pytest.approx(
        [0.010868, 0.978265, 0.010868], abs=1e-6
    )
    # exp(-9/8) = .324652 and .011109 on each side, 1.671522 in all: the ends go on as they are.
    assert blurred(np.array([1.0, 0.0]), 2) == pytest.approx([0.799128, 0.200872], abs=1e-6)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.integers(1, 50))
def test_a_blur_stays_between_the_lowest_and_the_highest(values: list[float], radius: int) -> None:
    result = blurred(np.array(values), radius)

    assert len(result) == len(values)
    assert result.min() >= min(values) - 1e-9
    assert result.max() <= max(values) + 1e-9


def test_three_blurs_are_one_with_a_radius_that_is_larger_by_the_root_of_three() -> None:
    step = np.repeat([0.0, 1.0, 0.0], 300)

    thrice = blurred(blurred(blurred(step, 25), 25), 25)

    assert np.abs(thrice - blurred(step, 43)).max() < 0.01
    assert np.abs(thrice - blurred(step, 25)).max() > 0.1


def test_text_is_kept_and_what_stands_among_tags_is_not() -> None:
    text = ContentCodeBlurring().extract(f"{MENU}<p>{TEXT}</p>{MENU}")

    assert "link" not in text
    assert text.count("word") > 100


def test_a_tag_in_text_is_blurred_away() -> None:
    half = " ".join(["word"] * 60)

    assert ContentCodeBlurring().extract(f"{half} <b>bold</b> {half}") == f"{half} bold {half}"


@pytest.mark.parametrize(("threshold", "least", "most"), [(0.4, 90, 100), (0.6, 0, 10)])
def test_the_threshold_is_how_much_must_be_content(threshold: float, least: int, most: int) -> None:
    found = ContentCodeBlurring(threshold=threshold).extract("word<br>" * 100)

    assert least <= len(found.split()) <= most


@given(st.one_of(SOUP, TAG_SOUP), st.floats(0, 1), st.floats(0, 1))
def test_a_higher_threshold_keeps_no_more(source: str, one: float, two: float) -> None:
    low, high = sorted((one, two))
    more, less = (
        ContentCodeBlurring(radius=3, threshold=threshold).locate(source).kept
        for threshold in (low, high)
    )

    assert (less <= more).all()


def test_a_radius_is_a_token_at_least() -> None:
    with pytest.raises(ValueError, match="the radius is 0"):
        ContentCodeBlurring(radius=0)
