"""A small network: one hidden layer, which weighs a passage's numbers against each other.

Inputs are brought to mean 0 and deviation 1 and cut off far out, so that a page unlike all
others meets no number that the network never saw.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.algebra import product

Matrix: TypeAlias = NDArray[np.float32]

FARTHEST = 4.0  # deviations from the mean
PORTION = 32  # passages


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """Weights; ``hidden`` is float32[n_inputs+1, n_hidden], ``output`` float32[n_hidden+1]."""

    mean: Matrix  # float32[n_inputs]
    scale: Matrix
    hidden: Matrix
    output: Matrix

    def log_odds(self, inputs: Matrix) -> Matrix:
        """float32[n] for float32[n, n_inputs].

        In portions so small that the library below does not wake its threads for them: waking
        takes longer than the work, and on a busy machine ten times as long.
        """
        normal = self.normal(inputs)
        found = [
            forward(normal[start : start + PORTION], self.hidden, self.output)[1]
            for start in range(0, len(normal), PORTION)
        ]
        return np.concatenate(found) if found else np.zeros(0, np.float32)

    def normal(self, inputs: Matrix) -> Matrix:
        """*inputs* as the network takes them."""
        normal: Matrix = np.clip((inputs - self.mean) * self.scale, -FARTHEST, FARTHEST)
        return normal


def forward(inputs: Matrix, hidden: Matrix, output: Matrix) -> tuple[Matrix, Matrix]:
    """What the hidden layer says to normal *inputs*, and the log-odds."""
    inner = np.maximum(product(inputs, hidden[:-1]) + hidden[-1], 0.0)
    return inner, product(inner, output[:-1]) + output[-1]
