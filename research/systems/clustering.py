"""Few clusters of many points: k-means, farthest first, and a mixture of normal distributions.

Each takes a fixed number of passes over the points at most, so its cost is linear. Chance plays
a part in how each begins and in nothing else, and comes from a seed.

- `kmeans` (MacQueen, 1967) begins with points dealt to clusters at random, as the tag-ratio paper
  (Weninger, Hsu and Han, 2010) describes it. With *hold_origin*, that paper's variant, the first
  centroid stays at the origin. A cluster that loses all points keeps its centroid.
- `farthest_first` (Gonzalez, 1985): after a random first, each centre is the point that is
  farthest from the centres before it; points go to the nearest.
- `mixture` (Dempster, Laird and Rubin, 1977): expectation maximisation from k-means' clusters; a
  point goes to the normal distribution that most likely made it.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.features import product
from scrapy_mss.markup.tokens import Floats

PASSES: Final = 100  # k-means on lines of pages settles in 4 to 30
GAIN: Final = 1e-3  # of log likelihood a value: with less a mixture has settled, as in sklearn
DECIMALS: Final = 6  # of deviations: values that agree so far are one value that comes twice
# Many equal values, as the lines of a menu have them, would shrink a component to a point, which
# explains them infinitely well, and leave what is next to them to others.
LEAST_DEVIATION: Final = 0.1  # of the deviation of all values

Labels: TypeAlias = NDArray[np.intp]


def kmeans(
    points: NDArray[np.float64], k: int, *, seed: int = 0, hold_origin: bool = False
) -> NDArray[np.intp]:
    """The cluster, 0 … k-1, of each of *points* (float64[n, d]); the origin's is 0."""
    labels: Labels = np.random.default_rng(seed).permutation(np.arange(len(points)) % k)
    centroids = np.full((k, points.shape[1]), np.inf)
    for _ in range(PASSES):
        centroids = _means(points, labels, centroids)
        if hold_origin:
            centroids[0] = 0.0
        nearest = _nearest(points, centroids)
        if np.array_equal(nearest, labels):
            break
        labels = nearest
    return labels


def farthest_first(points: Floats, k: int, *, seed: int = 0) -> Labels:
    """The cluster, 0 … k-1, of each of *points* (float64[n, d])."""
    labels: Labels = np.zeros(len(points), np.intp)
    if not len(points):
        return labels
    centre = points[np.random.default_rng(seed).integers(len(points))]
    distances = _distances(points, centre)
    for label in range(1, k):
        centre = points[np.argmax(distances)]
        nearer = _distances(points, centre) < distances
        labels[nearer] = label
        distances[nearer] = _distances(points[nearer], centre)
    return labels


def mixture(values: Floats, k: int, *, seed: int = 0) -> Labels:
    """The component, 0 … k-1, of each of *values* (float64[n])."""
    labels = kmeans(values[:, np.newaxis], k, seed=seed)
    deviation = float(np.std(values)) if len(values) else 0.0
    if deviation == 0:
        return labels
    standard = np.round((values - np.mean(values)) / deviation, DECIMALS)
    distinct, first, place, counts = np.unique(
        standard, return_index=True, return_inverse=True, return_counts=True
    )
    shares = np.equal.outer(labels[first], np.arange(k)).astype(np.float64)
    before = -np.inf
    for _ in range(PASSES):
        shares, likelihoods = _expected(distinct, shares * counts[:, np.newaxis])
        likelihood = float(np.average(likelihoods, weights=counts))
        if likelihood - before < GAIN:
            break
        before = likelihood
    components: Labels = np.argmax(shares, axis=1)
    return components[place]


def _means(points: Floats, labels: Labels, before: Floats) -> Floats:
    """The mean of each cluster's points; of a cluster without points, the one *before*."""
    k = len(before)
    sizes = np.bincount(labels, minlength=k)[:, np.newaxis]
    columns = [np.bincount(labels, column, k) for column in points.T]
    return np.where(sizes > 0, np.stack(columns, axis=1) / np.maximum(sizes, 1), before)


def _nearest(points: Floats, centroids: Floats) -> Labels:
    distances = np.stack([_distances(points, centroid) for centroid in centroids])
    nearest: Labels = np.argmin(distances, axis=0)
    return nearest


def _distances(points: Floats, centre: Floats) -> Floats:
    """The squared distance of each of *points* from *centre*."""
    apart = points - centre
    distances: Floats = np.einsum("nd,nd->n", apart, apart)
    return distances


def _expected(values: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """What the components, fitted to their *shares* (float64[n, k]), make of the values.

    New shares, and the logarithm of how likely each value is but for the root of 2 pi.
    """
    sizes = shares.sum(axis=0) + np.finfo(np.float64).eps
    means = product(values, shares) / sizes
    spread = np.square(values[:, np.newaxis] - means)
    variances = np.maximum((spread * shares).sum(axis=0) / sizes, LEAST_DEVIATION**2)
    logs = np.log(sizes / sizes.sum()) - (np.log(variances) + spread / variances) / 2
    highest = logs.max(axis=1, keepdims=True)
    scaled = np.exp(logs - highest)
    totals = scaled.sum(axis=1, keepdims=True)
    return scaled / totals, (highest + np.log(totals))[:, 0]
