"""Intervals and differences by resampling whole sites.

Pages of one site share a template and fail together; resampling single pages would call a
difference certain that one site made. So a resample draws as many sites as there are, with
replacement, and takes all pages of each (cluster bootstrap). How often each site was drawn is
one matrix, drawn once a set with a fixed seed: a mean over a resample is two matrix products,
and two systems that are compared see the same resamples, which makes the difference a paired one.

An interval is the 2.5th to the 97.5th percentile. With one site there is nothing to draw from,
and no interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.features import product

Floats = NDArray[np.float64]
RESAMPLES = 2000  # on 800 pages the ends of an interval move by about .0003 from seed to seed
BOUNDS = (2.5, 97.5)


class Sample(NamedTuple):
    """A mean over all pages, and over the pages of each resample: float64[n_resamples]."""

    mean: float
    resampled: Floats


class Resampler:
    """The resamples of one set of pages."""

    def __init__(self, sites: Sequence[str], resamples: int = RESAMPLES, seed: int = 0) -> None:
        """Draw the sites of every resample; *sites* names the site of each page."""
        numbers: dict[str, int] = {}
        self._cluster = np.array([numbers.setdefault(site, len(numbers)) for site in sites])
        self.clusters = len(numbers)
        shares = np.full(self.clusters, 1 / self.clusters)
        generator = np.random.default_rng(seed)
        self._drawn: Floats = generator.multinomial(
            self.clusters, shares, size=resamples if self.clusters > 1 else 0
        ).astype(np.float64)

    def sample(self, values: Floats) -> Sample | None:
        """Average *values*, float64[n_pages]; pages where they are nan do not count."""
        there = ~np.isnan(values)
        if not there.any():
            return None
        counts = self._sums(there.astype(np.float64))
        sums = self._sums(np.where(there, values, 0.0))
        pages = product(self._drawn, counts)
        means = np.full_like(pages, np.nan)
        np.divide(product(self._drawn, sums), pages, out=means, where=pages > 0)
        return Sample(float(sums.sum() / counts.sum()), means)

    def _sums(self, values: Floats) -> Floats:
        """Sum up *values* by site: float64[n_clusters]."""
        sums = np.zeros(self.clusters)
        np.add.at(sums, self._cluster, values)
        return sums


def interval(resampled: Floats) -> tuple[float, float] | None:
    """The 95 % interval of *resampled*, without the resamples that had no page."""
    known = resampled[~np.isnan(resampled)]
    if not len(known):
        return None
    low, high = np.percentile(known, BOUNDS)
    return float(low), float(high)
