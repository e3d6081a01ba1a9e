"""The run of a score sequence with the greatest sum; knows nothing of where scores come from.

It is the algorithm of the paper's figure 1 on prefix sums: a span's sum is the difference of two of
them, so the best span that ends at e starts at the lowest prefix before it. Of spans with the same
sum the one that ends first wins, and of those the one that starts first, as in figure 1. Where no
score is positive there is no span: the empty (0, 0).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scrapy_mss.markup.compiled import accelerated
from scrapy_mss.markup.tokens import Floats


class Span(NamedTuple):
    """Tokens start … end-1 and the sum of their scores."""

    start: int
    end: int
    value: float


EMPTY = Span(0, 0, 0.0)


def best_span(scores: Floats) -> Span:
    """The span of *scores* (float64[n]) with the greatest sum."""
    return Span(*_best_run(scores))


@accelerated()
def _best_run(scores: Floats) -> tuple[int, int, float]:
    if not len(scores):
        return EMPTY
    prefix = np.zeros(len(scores) + 1)
    np.cumsum(scores, out=prefix[1:])
    gains = np.minimum.accumulate(prefix[:-1])
    np.subtract(prefix[1:], gains, out=gains)
    last = int(np.argmax(gains))
    if gains[last] <= 0:
        return EMPTY
    start = int(np.argmin(prefix[: last + 1]))
    return start, last + 1, float(gains[last])
