from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.systems.clustering import Labels, kmeans, mixture
from scrapy_mss.markup.tokens import Floats

NUMBERS = st.one_of(st.integers(0, 9).map(float), st.floats(-1e6, 1e6))
VALUES = st.lists(NUMBERS, max_size=40).map(lambda numbers: np.array(numbers, np.float64))
SEEDS = st.integers(0, 99)


def groups(labels: Labels) -> list[list[int]]:
    """Which points are together, whatever the clusters are called."""
    return sorted(np.flatnonzero(labels == label).tolist() for label in np.unique(labels))


@pytest.mark.parametrize("seed", range(2))
def test_kmeans_parts_what_is_far_apart(seed: int) -> None:
    points = np.array([[0, 0], [90, 1], [1, 0], [91, 1], [0, 1], [90, 0]], np.float64)

    assert groups(kmeans(points, 2, seed=seed)) == [[0, 2, 4], [1, 3, 5]]


@given(values=VALUES, k=st.integers(1, 4), seed=SEEDS, hold_origin=st.booleans())
def test_kmeans_ends_where_no_point_would_rather_change(
    *, values: Floats, k: int, seed: int, hold_origin: bool
) -> None:
    points = np.stack((values, np.abs(values[::-1])), axis=1)

    labels = kmeans(points, k, seed=seed, hold_origin=hold_origin)

    assert labels.shape == values.shape
    centroids = {label: points[labels == label].mean(axis=0) for label in np.unique(labels)}
    if hold_origin:
        centroids[0] = np.zeros(2)
    for point, label in zip(points, labels, strict=True):
        away = {name: np.hypot(*(point - centroid)) for name, centroid in centroids.items()}
        assert away[label] <= min(away.values()) + 1e-6


@pytest.mark.parametrize("seed", range(2))
def test_a_mixture_finds_a_narrow_and_a_wide_component(seed: int) -> None:
    """A value far from the narrow one's mean is the wide one's, though it is nearer to that mean.

    K-means would part the two by the middle between their means.
    """
    rng = np.random.default_rng(7)
    narrow, wide = rng.normal(10, 1, 300), rng.normal(60, 20, 300)

    values = np.concatenate((narrow, wide, [20.0]))
    labels = mixture(values, 2, seed=seed)

    assert (labels[:300] == labels[0]).mean() > 0.99
    assert (labels[300:600] == labels[0]).mean() < 0.02
    assert labels[600] != labels[0]
    assert kmeans(values[:, np.newaxis], 2)[600] == kmeans(values[:, np.newaxis], 2)[0]
