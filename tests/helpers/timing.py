"""Whether a run grows with its input as it should, by processor time and with patience."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

FACTOR = 4  # how much larger the large input is
LINEAR = 8  # between the 4 of a linear method and the 16 of a quadratic one
TRIES = 6  # a busy machine may spoil some


def grows_linearly(small: Callable[[], object], large: Callable[[], object]) -> bool:
    """Whether *large*, on an input ``FACTOR`` times as long as *small*'s, costs as much more."""
    return any(_seconds(large) < LINEAR * max(_seconds(small), 1e-4) for _ in range(TRIES))


def _seconds(run: Callable[[], object], times: int = 3) -> float:
    best = float("inf")
    for _ in range(times):
        began = process_time()
        run()
        best = min(best, process_time() - began)
    return best
