from __future__ import annotations

import numpy as np
import pytest

from research.systems.ccb import ContentCodeBlurring, blurred

MENU = "<li><a>link</a>" * 60
TEXT = " ".join(["word"] * 120)


def test_a_blur_weighs_by_a_gaussian_with_a_third_of_the_radius() -> None:
    # exp(-9/2) = .011109 beside 1, and .022218 + 1 in all.
    assert blurred(np.array([0.0, 1.0, 0.0]), 1) == pytest.approx(
        [0.010868, 0.978265, 0.010868], abs=1e-6
    )
    # exp(-9/8) = .324652 and .011109 on each side, 1.671522 in all: the ends go on as they are.
    assert blurred(np.array([1.0, 0.0]), 2) == pytest.approx([0.799128, 0.200872], abs=1e-6)


def test_text_is_kept_and_what_stands_among_tags_is_not() -> None:
    text = ContentCodeBlurring().extract(f"{MENU}<p>{TEXT}</p>{MENU}")

    assert "link" not in text
    assert text.count("word") > 100
