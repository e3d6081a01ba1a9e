from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import exp, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.training.self_training import (
    EPSILON,
    Prediction,
    SelfTraining,
    most_reliable,
    reliability,
    self_train,
    trigram_importance,
)
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.features import TRIGRAM, UNCLOSED_TAG
from scrapy_mss.core.naive_bayes import NaiveBayes
from scrapy_mss.core.subsequence import EMPTY, Span, best_span
from scrapy_mss.markup.tokens import Floats, Ints
from tests.helpers.effort import examples

PROBABILITIES = st.lists(st.integers(0, 20).map(lambda n: n / 20), min_size=1, max_size=40)


def prediction(probability: Sequence[float], span: Span) -> Prediction:
    values = np.array(probability, np.float64)
    return Prediction(span, values - 0.5, values)


@st.composite
def predictions(draw: st.DrawFn) -> Prediction:
    """Any probabilities and any span of them that is not empty."""
    probability = draw(PROBABILITIES)
    start = draw(st.integers(0, len(probability) - 1))
    end = draw(st.integers(start + 1, len(probability)))
    return prediction(probability, Span(start, end, 1.0))


@given(predictions(), st.integers(1, 12))
@examples(2)
def test_reliability_is_the_geometric_mean_around_both_edges(
    predicted: Prediction, window: int
) -> None:
    """The published product over j … k, of as many factors as the page has tokens there."""
    smooth = [min(max(p, EPSILON), 1 - EPSILON) for p in predicted.probability.tolist()]
    j, k = predicted.span.start, predicted.span.end - 1
    page = range(len(smooth))
    factors = [
        *(1 - smooth[i] for i in range(j - window, j) if i in page),
        *(smooth[i] for i in range(j, j + window) if i in page),
        *(smooth[i] for i in range(k - window + 1, k + 1) if i in page),
        *(1 - smooth[i] for i in range(k + 1, k + window + 1) if i in page),
    ]

    v = prod(factors) ** (1 / len(factors))

    assert exp(reliability(predicted, window)) == pytest.approx(v, rel=1e-9)


@given(st.lists(st.tuples(st.lists(st.integers(0, 5), max_size=30), st.data()), max_size=4))
@examples(0.5)
def test_importance_is_the_mean_nearness_of_a_trigram(
    drawn: list[tuple[list[int], st.DataObject]],
) -> None:
    d = 7
    pages: list[tuple[Ints, Span]] = []
    nearness: dict[int, list[float]] = defaultdict(list)
    for buckets, data in drawn:
        j, end = sorted(data.draw(st.tuples(*[st.integers(0, len(buckets))] * 2)))
        k = end - 1
        pages.append((np.array(buckets, np.int32), Span(j, end, 1.0)))
        for t, bucket in enumerate(buckets):
            from_edge = min(abs(t - (j - 0.5)), abs(t - (k + 0.5))) - 0.5
            nearness[bucket].append((d - min(d, from_edge)) / d)

    importance = trigram_importance(pages, d)

    expected = {bucket: sum(values) / len(values) for bucket, values in nearness.items()}
    assert importance.shape == (1 << TRIGRAM.bits,)
    assert np.count_nonzero(importance) <= len(expected)
    for bucket, mean in expected.items():
        assert importance[bucket] == pytest.approx(mean)


def confident(inside: float) -> Prediction:
    """A page whose middle was given *inside* and whose rest the complement."""
    return prediction([1 - inside] * 9 + [inside] * 9 + [1 - inside] * 9, Span(9, 18, 1.0))


def test_the_most_reliable_share_of_each_site_is_chosen() -> None:
    probabilities = (0.6, 0.9, 0.7, 0.8, 0.95, 0.9, 0.8, 0.7, 0.6, 0.99)
    sites = ["a"] * 5 + ["b"] * 5

    chosen = most_reliable([confident(p) for p in probabilities], sites, SelfTraining(share=0.6))

    assert chosen == [1, 3, 4, 5, 6, 9]


def test_at_least_one_page_of_a_site_is_chosen_and_none_without_a_prediction() -> None:
    nothing = prediction([0.5] * 9, EMPTY)
    options = SelfTraining(share=0.1)

    assert most_reliable([confident(0.6), nothing, nothing], ["a", "a", "b"], options) == [0]
    assert most_reliable([nothing], ["a"], options) == []
    assert most_reliable([], [], options) == []


class Fixed(NaiveBayes[Page]):
    """A model that gives its pages these probabilities, one after the other."""

    def __init__(self, probabilities: Sequence[Floats]) -> None:
        super().__init__([UNCLOSED_TAG])
        self.probabilities = iter(probabilities)

    def probability(self, page: Page, *, neighbours: bool = False) -> Floats:
        return next(self.probabilities)


def test_scores_are_weighted_by_the_importance_of_the_trigram() -> None:
    options = SelfTraining(iterations=1, share=1.0, distance=5, boost=3.0)
    pages = [Page.of("a b c d e f g h"), Page.of("a b c x y z g h")]
    probability = np.array([0.1, 0.1, 0.9, 0.9, 0.9, 0.9, 0.1, 0.1])

    (first, second) = self_train(Fixed([probability] * 2), pages, options=options)

    span = Span(2, 6, float((probability - 0.5)[2:6].sum()))
    assert [(p.span.start, p.span.end) for p in first] == [(2, 6), (2, 6)]
    buckets = [TRIGRAM.values(page, TRIGRAM.bits).bucket for page in pages]
    m = trigram_importance([(row, span) for row in buckets], options.distance)
    learned = NaiveBayes[Page]([TRIGRAM])
    for page in pages:
        learned.learn(page, np.arange(8) // 2 % 3 > 0)
    for page, row, found in zip(pages, buckets, second, strict=True):
        p = learned.probability(page)
        expected = [(p[t] - 0.5) * (m[row[t]] * options.boost + 1) for t in range(8)]
        assert found.scores.tolist() == pytest.approx(expected)
        assert found.probability.tolist() == pytest.approx(p.tolist())
        assert found.span == best_span(found.scores)
