"""Content extraction via tag ratios (Weninger, Hsu and Han, 2010).

The ratios of a page's lines are smoothed by a normal distribution cut off at one standard
deviation, where the deviation is that of the ratios themselves. Three ways to go on:

- `CetrThreshold`: lines whose smoothed ratio reaches a multiple of the deviation are content.
- `CetrKMeans`: of three clusters of smoothed ratios the one closest to 0 is not content.
- `Cetr`: a line is a point in two dimensions, its smoothed ratio and how steeply smoothed ratios
  rise or fall behind it; one of three centroids stays at the origin, and its cluster is not
  content. So a short line at the border of an article counts by the border.

The paper calls two things the deviation. The kernel's is that of the ratios, as it says. The
threshold's is that of the smoothed ratios: with the other one half of an article is lost, and
the paper reports that hardly anything is. The slope at a line is the mean of the three smoothed
ratios behind it less its own, as the paper's text has it; its formula begins at the line itself.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from research.systems.clustering import kmeans
from research.systems.tag_ratios import (
    CLUSTERS,
    LineSystem,
    above_deviation,
    outside,
    outside_lowest,
)
from scrapy_mss.markup.tokens import Bools, Floats

AHEAD: Final = 3  # the paper's alpha
LEAST_DEVIATION: Final = 0.1  # below it a line's neighbours weigh less than a rounding error


class CetrThreshold(LineSystem):
    """Lines whose smoothed ratio is at least *factor* times the deviation."""

    def __init__(self, *, factor: float = 1.0) -> None:
        self.factor = factor

    def content(self, ratios: Floats) -> Bools:
        return above_deviation(smooth(ratios), self.factor)


class CetrKMeans(LineSystem):
    """Lines outside the lowest of three clusters of smoothed ratios."""

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed

    def content(self, ratios: Floats) -> Bools:
        smoothed = smooth(ratios)
        labels = kmeans(smoothed[:, np.newaxis], CLUSTERS, seed=self.seed)
        return outside_lowest(smoothed, labels)


class Cetr(LineSystem):
    """Lines outside the origin's cluster, by smoothed ratios and their slopes."""

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed

    def content(self, ratios: Floats) -> Bools:
        smoothed = smooth(ratios)
        points = np.stack((smoothed, np.abs(smooth(slopes(smoothed)))), axis=1)
        return outside(kmeans(points, CLUSTERS, seed=self.seed, hold_origin=True), 0)


def smooth(values: Floats) -> Floats:
    """*values* (float64[n]) convolved with a kernel as wide as they deviate; n log n."""
    n = len(values)
    deviation = float(np.std(values))
    if deviation < LEAST_DEVIATION:
        return values
    weights = kernel(deviation)
    middle = len(weights) // 2
    reach = min(middle, n - 1)
    weights = weights[middle - reach : middle + reach + 1]
    size = n + 2 * reach
    spectrum = np.fft.rfft(values, size) * np.fft.rfft(weights, size)
    return np.fft.irfft(spectrum, size)[reach : reach + n]


def kernel(deviation: float) -> Floats:
    """Weights of a line and its neighbours as far as the *deviation* reaches, rounded up."""
    reach = int(np.ceil(deviation))
    weights: Floats = np.exp(-np.square(np.arange(-reach, reach + 1) / deviation) / 2)
    weights /= weights.sum()
    return weights


def slopes(smoothed: Floats) -> Floats:
    """For each value the mean of the next three, less the value."""
    padded = np.append(smoothed, np.zeros(AHEAD))
    ahead = np.convolve(padded, np.full(AHEAD, 1 / AHEAD), "valid")[1:]
    return ahead - smoothed
