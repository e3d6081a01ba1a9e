"""Whether a run grows with its input as it should, by processor time."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

FACTOR = 4  # how much larger the large input is
LINEAR = 8  # between the 4 of a linear method and the 16 of a quadratic one
ROUNDS = 12  # a busy machine slows some runs down, and speeds up none
LEAST = 1e-4  # seconds, so that what takes next to no time is not compared


def grows_linearly(small: Callable[[], object], large: Callable[[], object]) -> bool:
    """Whether *large*, on an input ``FACTOR`` times as long as *small*'s, costs as much more.

    The fastest runs are compared, which take turns: what else the machine does is the same for
    both.
    """
    small()  # which fills caches
    least_small = least_large = float("inf")
    for _ in range(ROUNDS):
        least_small = min(least_small, _seconds(small), _seconds(small))
        least_large = min(least_large, _seconds(large))
        if least_large < LINEAR * max(least_small, LEAST):
            return True
    return False


def _seconds(run: Callable[[], object]) -> float:
    began = process_time()
    run()
    return process_time() - began
