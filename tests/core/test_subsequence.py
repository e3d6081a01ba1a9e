from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import FrameType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.core import subsequence
from scrapy_mss.core.subsequence import EMPTY, Span, best_span, maximal_spans
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


def maximal_by_definition(scores: Sequence[float], first: int = 0) -> list[Span]:
    """The best span, and the maximal spans of what is left of it and of what is right of it.

    Of equal sums the shortest is taken: a maximal span has no prefix and no suffix of sum zero.
    """
    spans = [
        Span(start, end, sum(scores[start:end]))
        for start in range(len(scores))
        for end in range(start + 1, len(scores) + 1)
    ]
    best = max(spans, key=lambda span: (span.value, span.start - span.end), default=EMPTY)
    if best.value <= 0:
        return []
    return [
        *maximal_by_definition(scores[: best.start], first),
        Span(first + best.start, first + best.end, best.value),
        *maximal_by_definition(scores[best.end :], first + best.end),
    ]


@given(st.one_of(SCORES, LONG_SCORES))
@examples(3)
def test_best_span_is_the_best_of_all_spans(scores: list[float]) -> None:
    assert best_span(scored(scores)) == best_by_trying_all(scores)


@given(SCORES)
@examples(4)
def test_maximal_spans_are_those_of_the_recursive_definition(scores: list[float]) -> None:
    assert maximal_spans(scored(scores)) == maximal_by_definition(scores)


def lines_run(scores: Sequence[float]) -> int:
    """How many lines of its own module `maximal_spans` runs for *scores*."""
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> object:
        nonlocal count
        if frame.f_code.co_filename != subsequence.__file__:
            return None
        count += event == "line"
        return trace

    values = scored(scores)
    before = sys.gettrace()
    sys.settrace(trace)  # type: ignore[arg-type]
    try:
        maximal_spans(values)
    finally:
        sys.settrace(before)
    return count


SEQUENCES: dict[str, Callable[[int], list[float]]] = {
    "each gain swallows all candidates": lambda n: [1.0, -2.0, 1.5] * n + [3.0 * n],
    "each candidate starts lower than all before": lambda n: [1.0, -2.0] * n,
    "each candidate starts and ends higher": lambda n: [2.0, -1.0] * n,
    "all candidates search back to a greater one": lambda n: [2.0 * n] + [-1.5, 1.0] * n,
    "the list to search is long": lambda n: [1.0, -1.5] * n + [0.5, -0.25] * n,
}


@pytest.mark.parametrize("make", SEQUENCES.values(), ids=SEQUENCES)
def test_twice_the_scores_take_maximal_spans_twice_the_steps(
    make: Callable[[int], list[float]],
) -> None:
    """Steps are counted, not timed: a quadratic search would take four times as many."""
    small, large = lines_run(make(500)), lines_run(make(1000))

    assert large <= 2.2 * small
    assert large < 30 * len(make(1000))
