from __future__ import annotations

import numpy as np
import pytest

from research.systems.clustering import farthest_first, kmeans, mixture
from research.systems.tag_ratios import LineSystem, outside_lowest
from research.systems.ttr import TtrFarthestFirst, TtrKMeans, TtrMixture, TtrThreshold, average
from scrapy_mss.markup.tokens import Floats


def content(system: LineSystem, values: Floats) -> set[int]:
    return set(np.flatnonzero(system.content(values)).tolist())


@pytest.mark.parametrize(
    ("low", "expected"),
    [
        # Averages of 0.80 and 2 in five lines each: mean 0.70, deviation 0.819.
        (4.0, {*range(12, 17)}),
        # 0.84 and 2: mean 0.71, deviation 0.820.
        (4.2, {*range(3, 8), *range(12, 17)}),
    ],
)
def test_lines_that_reach_the_deviation_of_the_averages_are_text(
    low: float, expected: set[int]
) -> None:
    values = np.zeros(20)
    values[[5, 14]] = low, 10

    assert content(TtrThreshold(), values) == expected


def test_each_clustering_is_the_one_that_its_name_says() -> None:
    values = np.random.default_rng(7).exponential(10, 60)
    smoothed = average(values)
    points = smoothed[:, np.newaxis]

    found = [content(system, values) for system in (TtrKMeans(), TtrMixture(), TtrFarthestFirst())]

    labels = (kmeans(points, 3), mixture(smoothed, 3), farthest_first(points, 3))
    assert found == [
        set(np.flatnonzero(outside_lowest(smoothed, clusters)).tolist()) for clusters in labels
    ]
    assert found[0] != found[1] != found[2] != found[0]
