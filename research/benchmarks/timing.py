"""Time of one call, and lxml's parse of the same page as the unit."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from research.bench.timing import parse_milliseconds


def milliseconds(call: Callable[[], object], repeats: int = 1) -> float:
    """The least time of *repeats* calls."""
    best = float("inf")
    for _ in range(repeats):
        start = perf_counter()
        call()
        best = min(best, perf_counter() - start)
    return best * 1000


def lxml_milliseconds(source: bytes, repeats: int = 1) -> float:
    """How long lxml takes to parse *source*, which it must not reject."""
    return min(parse_milliseconds(source) or float("inf") for _ in range(repeats))
