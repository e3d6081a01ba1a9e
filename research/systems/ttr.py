"""Text-to-tag ratio (Weninger and Hsu, 2008): the forerunner of CETR.

The ratios of a page's lines are smoothed by a moving average; then a cut at the standard
deviation, or one of three clusterings, tells lines of text from others. The overview that we
read leaves open, and we choose:

- The average is over a line and the two at each side of it, enough for a short paragraph.
- The deviation is that of the smoothed ratios; a line that reaches it is text.
- There are three clusters, as in CETR, and the one with the lowest mean is not text.
- Characters of all scripts count, not ASCII's alone, or a Russian page would have no text.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from research.systems.clustering import Labels, farthest_first, kmeans, mixture
from research.systems.tag_ratios import CLUSTERS, LineSystem, above_deviation, outside_lowest
from scrapy_mss.markup.tokens import Bools, Floats

RADIUS: Final = 2


class TtrThreshold(LineSystem):
    """Lines whose smoothed ratio is at least the deviation."""

    def content(self, ratios: Floats) -> Bools:
        return above_deviation(average(ratios))


class _Clustered(LineSystem):
    """Lines outside the lowest of three clusters of smoothed ratios."""

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed

    def labels(self, smoothed: Floats) -> Labels:
        raise NotImplementedError

    def content(self, ratios: Floats) -> Bools:
        smoothed = average(ratios)
        return outside_lowest(smoothed, self.labels(smoothed))


class TtrKMeans(_Clustered):
    """Clusters around three means."""

    def labels(self, smoothed: Floats) -> Labels:
        return kmeans(smoothed[:, np.newaxis], CLUSTERS, seed=self.seed)


class TtrMixture(_Clustered):
    """Clusters as a mixture of three normal distributions has them."""

    def labels(self, smoothed: Floats) -> Labels:
        return mixture(smoothed, CLUSTERS, seed=self.seed)


class TtrFarthestFirst(_Clustered):
    """Clusters around a random line and the two that are farthest away."""

    def labels(self, smoothed: Floats) -> Labels:
        return farthest_first(smoothed[:, np.newaxis], CLUSTERS, seed=self.seed)


def average(ratios: Floats) -> Floats:
    """The mean of each of *ratios* (float64[n]) and its neighbours."""
    width = 2 * RADIUS + 1
    return np.convolve(np.pad(ratios, RADIUS), np.full(width, 1 / width), "valid")
