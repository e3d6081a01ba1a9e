"""Runs of a score sequence with the greatest sums; knows nothing of where scores come from.

``best_span`` is the algorithm of the paper's figure 1 on prefix sums: a span's sum is the
difference of two of them, so the best span that ends at e starts at the lowest prefix before
it. ``maximal_spans`` finds all maximal subsequences by Ruzzo and Tompa's rule in linear time:
a list of candidates with the prefix sums left (L) and right (R) of each, where a new candidate
swallows everything back to the last one with a smaller L if its R is greater. Each candidate
keeps where its search ended, so that later searches jump over what was looked at.

Answers for the odd cases. Of spans with the same sum the one that ends first wins, and of
those the one that starts first, as in figure 1. Where no score is positive there is no span:
the empty (0, 0), and an empty list.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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


def maximal_spans(scores: Floats) -> list[Span]:
    """All maximal subsequences of *scores*, in order; they do not overlap."""
    candidates: list[_Candidate] = []
    for new in _positive_runs(scores):
        found = len(candidates) - 1
        while found >= 0:
            other = candidates[found]
            if other.left < new.left:
                if other.right >= new.right:
                    break
                new.start, new.left = other.start, other.left
                del candidates[found:]
            found = other.smaller
        new.smaller = found
        candidates.append(new)
    return [Span(c.start, c.end, c.right - c.left) for c in candidates]


@dataclass(slots=True)
class _Candidate:
    start: int
    end: int
    left: float  # the sum of all scores before it
    right: float  # the same with its own
    smaller: int = -1  # the last candidate before it with a smaller left, or -1


def _positive_runs(scores: Floats) -> Iterator[_Candidate]:
    """The runs of positive scores: no maximal subsequence begins or ends inside one."""
    prefix = np.concatenate((np.zeros(1), np.cumsum(scores)))
    edges = np.diff(np.concatenate(([0], scores > 0, [0])))
    starts, ends = np.flatnonzero(edges > 0), np.flatnonzero(edges < 0)
    for start, end, left, right in zip(
        starts.tolist(), ends.tolist(), prefix[starts].tolist(), prefix[ends].tolist(), strict=True
    ):
        yield _Candidate(start, end, left, right)
