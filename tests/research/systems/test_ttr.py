from __future__ import annotations

import numpy as np
import pytest

from research.systems.clustering import farthest_first, kmeans, mixture
from research.systems.tag_ratios import LineSystem, outside_lowest
from research.systems.ttr import TtrFarthestFirst, TtrKMeans, TtrMixture, TtrThreshold, average
from scrapy_mss.markup.tokens import Floats

SYSTEMS: list[LineSystem] = [TtrThreshold(), TtrKMeans(), TtrMixture(), TtrFarthestFirst()]

# Levels 0, 30 and 60 with steps between them that smoothing makes: 6, 12, 18, 24; 36, 42, 48, 54.
STAIRS = np.repeat([0.0, 30, 60, 0], 20)

MENU = '<li><a href="/menu">menu</a></li>\n' * 40
ARTICLE = (
    "<p>A paragraph that says what happened, to whom, and what is going to be done.</p>\n" * 20
)


def content(system: LineSystem, values: Floats) -> set[int]:
    return set(np.flatnonzero(system.content(values)).tolist())


def test_a_ratio_is_averaged_over_five_lines_and_nothing_beyond_the_ends() -> None:
    assert average(np.array([5.0, 0, 10, 0, 0, 20])) == pytest.approx([3, 3, 3, 6, 6, 4])
    assert average(np.array([10.0])) == pytest.approx([2])


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


def test_lines_of_one_ratio_reach_their_deviation() -> None:
    # Averages of 1, less at both ends: 0.6 and 0.8, deviation 0.13.
    assert content(TtrThreshold(), np.ones(20)) == set(range(20))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("system", [TtrKMeans, TtrMixture, TtrFarthestFirst])
def test_a_clustering_drops_the_lowest_of_three_levels(
    system: type[TtrKMeans | TtrMixture | TtrFarthestFirst], seed: int
) -> None:
    kept = content(system(seed=seed), STAIRS)

    assert set(range(22, 60)) <= kept
    assert not kept & {*range(18), *range(62, 80)}


@pytest.mark.parametrize("seed", range(2))
def test_farthest_first_takes_what_is_near_the_lowest_line_for_no_text(seed: int) -> None:
    """Centres are averages of 0, of 300 and half-way: 30 is near 0. One of three means is 30."""
    values = np.repeat([0.0, 30, 300, 0], [20, 20, 5, 20])

    kept = content(TtrFarthestFirst(seed=seed), values)
    by_means = content(TtrKMeans(seed=seed), values)

    assert kept <= set(range(38, 47))
    assert set(range(22, 45)) <= by_means


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


@pytest.mark.parametrize("system", SYSTEMS)
def test_an_article_between_menus_is_found(system: LineSystem) -> None:
    text = system.extract(MENU + ARTICLE + MENU)

    # Averages of the lines at its border, but not of those three lines away.
    assert text.count("what happened") >= 18
    assert text.count("menu") <= 4


def test_a_page_in_cyrillic_has_text() -> None:
    system = TtrThreshold()
    article = (
        "<p>\u041e\u0434\u0438\u043d \u0438 \u0434\u0432\u0430 \u0438 \u0442\u0440\u0438</p>\n"
    )

    assert system.extract(MENU + article * 20 + MENU).count("\u0434\u0432\u0430") >= 16


def test_what_cannot_be_told_apart_is_all_text() -> None:
    system = TtrThreshold()
    assert system.extract("no tags\nat all") == "no tags at all"
    assert system.extract("<p>one</p>") == "one"
