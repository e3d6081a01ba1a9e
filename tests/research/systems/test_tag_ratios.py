"""Lines by their ratios of text to tags: CETR, TTR and what clusters them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.systems.cetr import kernel, smooth
from research.systems.clustering import kmeans, mixture
from research.systems.tag_ratios import line_ratios, page_lines
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Floats

EXAMPLE = """\
<div id="storyPageContent2">
<div id="author">James Smith</div>
OKLAHOMA CITY - Police were told that
The Oklahoman reported Sunday.
<br><br> Jones had an article.
</div></div>
"""

RATIOS = st.lists(
    st.one_of(st.just(0.0), st.integers(0, 9).map(float), st.floats(0, 1e4)),
    min_size=1,
    max_size=40,
).map(lambda numbers: np.array(numbers, np.float64))


def ratios(source: str) -> list[float]:
    tokens = tokenize(source)
    at = np.arange(len(tokens))
    values: list[float] = line_ratios(tokens, at, page_lines(tokens, at)).tolist()
    return values


def test_the_tag_ratios_of_the_papers_example() -> None:
    """Characters outside tags over tags, or over one where there are none.

    A division alone; 11 characters and 2 tags; two lines of text; 22 characters, the blank behind
    the tags among them, and 2 tags; two tags alone.
    """
    assert ratios(EXAMPLE) == [0, 11 / 2, 37, 30, 22 / 2, 0]


@given(RATIOS)
def test_smoothing_is_the_sum_of_the_papers_formula(values: Floats) -> None:
    """Beyond the ends of the page there is nothing, however far the kernel reaches."""
    deviation = float(np.std(values))
    weights = kernel(deviation) if deviation else np.ones(1)
    reach = len(weights) // 2

    expected = [
        sum(weights[j + reach] * values[i - j] for j in range(-reach, reach + 1) if 0 <= i - j < n)
        for n in [len(values)]
        for i in range(n)
    ]

    assert smooth(values) == pytest.approx(expected, abs=1e-6)


NUMBERS = st.one_of(st.integers(0, 9).map(float), st.floats(-1e6, 1e6))
VALUES = st.lists(NUMBERS, max_size=40).map(lambda numbers: np.array(numbers, np.float64))
SEEDS = st.integers(0, 99)


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
