from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.systems.clustering import Labels, farthest_first, kmeans, mixture
from scrapy_mss.markup.tokens import Floats
from tests.helpers.effort import examples

NUMBERS = st.one_of(st.integers(0, 9).map(float), st.floats(-1e6, 1e6))
VALUES = st.lists(NUMBERS, max_size=40).map(lambda numbers: np.array(numbers, np.float64))
SEEDS = st.integers(0, 99)


def line(*values: float) -> Floats:
    """Points in one dimension."""
    return np.array(values, np.float64)[:, np.newaxis]


def groups(labels: Labels) -> list[list[int]]:
    """Which points are together, whatever the clusters are called."""
    return sorted(np.flatnonzero(labels == label).tolist() for label in np.unique(labels))


@pytest.mark.parametrize("seed", range(2))
def test_kmeans_parts_what_is_far_apart(seed: int) -> None:
    points = np.array([[0, 0], [90, 1], [1, 0], [91, 1], [0, 1], [90, 0]], np.float64)

    assert groups(kmeans(points, 2, seed=seed)) == [[0, 2, 4], [1, 3, 5]]


@pytest.mark.parametrize("seed", range(2))
def test_a_held_origin_takes_the_points_nearest_to_it(seed: int) -> None:
    points = line(1, 4, 8, 9, 10)

    free = kmeans(points, 2, seed=seed)
    held = kmeans(points, 2, seed=seed, hold_origin=True)

    # Means of 2.5 and 9. With the first at 0 the other is 9 and 4 is nearer to 0: 0 holds both.
    assert groups(free) == [[0, 1], [2, 3, 4]]
    assert held.tolist() == [0, 0, 1, 1, 1]


def test_an_origin_without_points_is_held_all_the_same() -> None:
    points = line(70, 71, 90, 91)

    labels = kmeans(points, 3, hold_origin=True)

    assert groups(labels) == [[0, 1], [2, 3]]
    assert 0 not in labels


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


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("points", "k", "expected"),
    [
        # From 0, 1 or 2 to 100 and to the middle; from 99 or 100 to 0 and to the middle; from the
        # middle to 0 and to 100.
        (line(0, 1, 2, 50, 51, 99, 100), 3, [[0, 1, 2], [3, 4], [5, 6]]),
        # The one far point is a centre wherever it begins, and 10 is nearer to 0 than to 22.
        (line(0, 0, 0, 10, 10, 10, 22), 2, [[0, 1, 2, 3, 4, 5], [6]]),
    ],
)
def test_farthest_first_makes_centres_of_what_is_far_away(
    points: Floats, k: int, expected: list[list[int]], seed: int
) -> None:
    assert groups(farthest_first(points, k, seed=seed)) == expected


@given(VALUES, st.integers(1, 4), SEEDS)
def test_farthest_first_is_what_it_is_said_to_be_from_one_of_the_points(
    values: Floats, k: int, seed: int
) -> None:
    labels = farthest_first(values[:, np.newaxis], k, seed=seed)

    assert len(labels) == len(values)
    assert not len(values) or any(
        labels.tolist() == one_by_one(values, k, first) for first in range(len(values))
    )


def one_by_one(values: Floats, k: int, first: int) -> list[int]:
    """The definition: a new centre is the farthest from its nearest; the first of equal ones."""
    centres = [values[first]]
    while len(centres) < k:
        centres.append(max(values, key=lambda value: min(np.square(value - centres))))
    return [int(np.argmin(np.square(value - centres))) for value in values]


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


def test_a_value_between_two_components_is_of_the_larger_one() -> None:
    """Both are one wide and 8 apart; 20 to 1, they meet at 4 + log(20) / 8 = 4.37."""
    rng = np.random.default_rng(7)
    large, small = rng.normal(0, 1, 20_000), rng.normal(8, 1, 1_000)

    labels = mixture(np.concatenate((large, small, [4.2, 4.6])), 2)

    assert labels[-2] == labels[0]
    assert labels[-1] == labels[20_000]


def test_a_value_that_comes_often_weighs_as_often() -> None:
    """Whole numbers, and the same with differences that count but do not matter."""
    rng = np.random.default_rng(7)
    parts = (rng.normal(10, 2, 300), rng.normal(30, 12, 300))
    values: Floats = np.rint(np.concatenate(parts))

    apart = values + rng.uniform(-1e-3, 1e-3, 600)

    assert len(np.unique(values)) < 100 < len(np.unique(apart))
    assert mixture(values, 2).tolist() == mixture(apart, 2).tolist()


@given(VALUES, st.integers(1, 4), SEEDS)
@examples(0.5)
def test_a_mixture_gives_equal_values_one_component(values: Floats, k: int, seed: int) -> None:
    labels = mixture(values, k, seed=seed)

    assert labels.shape == values.shape
    assert set(labels.tolist()) <= set(range(k))
    twice = mixture(np.concatenate((values, values)), k, seed=seed)
    assert twice[: len(values)].tolist() == twice[len(values) :].tolist()
    assert mixture(values, k, seed=seed).tolist() == labels.tolist()


def test_a_mixture_of_values_that_are_all_the_same_is_one_component() -> None:
    assert len(set(mixture(np.full(5, 3.0), 3).tolist())) == 1
