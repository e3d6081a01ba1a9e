"""Ratios of processor times: what a page costs compared with another one, in one process.

Each time is the least of several. A ratio that is too high is measured again, so that only what
is always slow fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import process_time

LINEAR = 8  # four times the input: between the 4 of a linear method and the 16 of a quadratic one
ATTEMPTS = 6


def seconds(what: Callable[[], object], times: int = 3) -> float:
    """The processor time of *what*: the least of some."""
    best = float("inf")
    for _ in range(times):
        began = process_time()
        what()
        best = min(best, process_time() - began)
    return best


def ratios(numerator: Callable[[], object], denominator: Callable[[], object]) -> Iterator[float]:
    """How much longer one takes than the other, measured again each time."""
    for _ in range(ATTEMPTS):
        yield seconds(numerator) / max(seconds(denominator), 1e-4)


def lowest(measured: Iterator[float], low_enough: float) -> float:
    """The lowest ratio up to the first one that is *low_enough*."""
    best = float("inf")
    for ratio in measured:
        best = min(best, ratio)
        if best < low_enough:
            break
    return best
