from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.core.subsequence import EMPTY, Span, best_span
from tests.helpers.effort import examples

# Halves and whole numbers: sums are exact, ties and zeros are frequent.
SCORES = st.lists(st.integers(-6, 6).map(lambda n: n / 2), max_size=24)
LONG_SCORES = st.lists(st.integers(-6, 6).map(lambda n: n / 2), min_size=25, max_size=200)


def scored(values: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array(values, np.float64)


def best_by_trying_all(scores: Sequence[float]) -> Span:
    """Of the greatest sums the one that ends first, of those the one that starts first."""
    best = EMPTY
    for end in range(1, len(scores) + 1):
        for start in range(end):
            value = sum(scores[start:end])
            if value > best.value:
                best = Span(start, end, value)
    return best


@given(st.one_of(SCORES, LONG_SCORES))
@examples(3)
def test_best_span_is_the_best_of_all_spans(scores: list[float]) -> None:
    assert best_span(scored(scores)) == best_by_trying_all(scores)
