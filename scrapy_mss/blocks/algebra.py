"""The matrix product, quiet about what never happened.

The libraries behind numpy work on whole registers, beyond the ends of an array too, and what lies
there may raise a flag that numpy reports as an overflow or an invalid value, now and then, on one
processor and not on another. The product itself is right; only the warning is not, and where
warnings are errors it would cost a page.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", np.float32, np.float64)


def product(left: NDArray[Number], right: NDArray[Number]) -> NDArray[Number]:
    """``left @ right`` of two arrays of one type."""
    with np.errstate(all="ignore"):
        found: NDArray[Number] = np.matmul(left, right)
    return found
