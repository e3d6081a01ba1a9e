"""Inference of a small network: one hidden layer of rectified linear units.

Inputs are standardized to mean 0 and deviation 1 and clipped far out, so that a page unlike all
others gives no number that the network was never trained with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Matrix: TypeAlias = NDArray[np.float32]
Numbers: TypeAlias = NDArray[np.float32] | NDArray[np.float64]  # which are taken as float32
Number = TypeVar("Number", np.float32, np.float64)

CLIP = 4.0  # deviations from the mean: one value in ten thousand, if they are normal
PORTION = 2**11  # rows; what is computed of them takes three megabytes
MOST_WORK = 2**19 - 1  # multiplications of a product; OpenBLAS wakes its threads from 2**19 on
UNITS = 64  # that are computed at once: with squares of 48 they took a sixth more time
LANES = 16  # numbers in the widest register: a tile has as many rows, or twice as many, and so on


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """Weights; the last row of ``hidden`` and the last of ``output`` are the biases."""

    mean: Matrix  # float32[n_inputs]
    scale: Matrix  # float32[n_inputs]
    hidden: Matrix  # float32[n_inputs+1, n_hidden]
    output: Matrix  # float32[n_hidden+1]

    def log_odds(self, inputs: Numbers) -> Matrix:
        """float32[n] for float[n, n_inputs]; of a long page for some rows after the others."""
        if len(inputs) <= PORTION:
            return self._log_odds(inputs)
        starts = range(0, len(inputs), PORTION)
        return np.concatenate([self._log_odds(inputs[at : at + PORTION]) for at in starts])

    def _log_odds(self, inputs: Numbers) -> Matrix:
        sums = self._sums(self.standardized(inputs))
        log_odds = _weighted_units(sums, self.hidden[-1], self.output[:-1])
        log_odds += self.output[-1]
        return log_odds

    def _sums(self, standardized: Matrix) -> Matrix:
        """float32[n, n_hidden]: the weighted sums of *standardized* inputs, without the biases.

        In tiles so small that BLAS does not wake its threads for them: waking takes longer than
        the work, and on a busy machine two hundred times as long.
        """
        weights, (height, width) = self.hidden[:-1], self.tile
        n, n_hidden = len(standardized), weights.shape[1]
        sums = np.empty((n, n_hidden), np.float32)
        with np.errstate(all="ignore"):  # as `product` has it, once for all tiles
            for row in range(0, n, height):
                rows = slice(row, row + height)
                for column in range(0, n_hidden, width):
                    units = slice(column, column + width)
                    np.matmul(standardized[rows], weights[:, units], out=sums[rows, units])
        return sums

    @property
    def tile(self) -> tuple[int, int]:
        """For how many rows how many hidden units are computed at once."""
        most = max(1, MOST_WORK // (len(self.hidden) - 1))
        width = min(UNITS, most)
        height = most // width
        return max(height // LANES * LANES, min(height, LANES)), width

    def standardized(self, inputs: Numbers) -> Matrix:
        """*inputs* with mean 0 and deviation 1, clipped; each is contiguous."""
        values = inputs.astype(np.float32, order="F")
        values -= self.mean
        values *= self.scale
        return np.clip(values, -CLIP, CLIP, out=values)


def forward(inputs: Matrix, hidden: Matrix, output: Matrix) -> tuple[Matrix, Matrix]:
    """The activations of the hidden layer for standardized *inputs*, and the log-odds."""
    activations = product(inputs, hidden[:-1])
    _activate(activations, hidden[-1])
    return activations, product(activations, output[:-1]) + output[-1]


def _activate(sums: Matrix, bias: Matrix) -> None:
    """Make of weighted *sums* (float32[n, n_hidden]) the activations of rectified linear units."""
    sums += bias
    np.maximum(sums, 0.0, out=sums)


def _weighted_units(sums: Matrix, bias: Matrix, weights: Matrix) -> Matrix:
    """float32[n]: the weighted *sums* of inputs, as rectified linear units with *weights*, summed.

    The second half is added to the first, and so on, in the place of the sums. Not a product by
    BLAS, which wakes its threads for a far smaller matrix with a vector.
    """
    _activate(sums, bias)
    sums *= weights
    rest = sums.shape[1]
    while rest > 1:
        half = rest - rest // 2
        sums[:, : rest // 2] += sums[:, half:rest]
        rest = half
    return sums[:, 0]


def product(left: NDArray[Number], right: NDArray[Number]) -> NDArray[Number]:
    """``left @ right`` of two arrays of one type, without spurious warnings.

    The libraries behind numpy compute on whole registers, beyond the ends of an array too, and
    what lies there may raise a flag that numpy reports as an overflow or an invalid value, now and
    then, on one processor and not on another. The product is right; where warnings are errors, the
    warning would cost a page.
    """
    with np.errstate(all="ignore"):
        result: NDArray[Number] = np.matmul(left, right)
    return result
