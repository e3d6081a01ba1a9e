"""Semi-supervised learning of one site from its unlabelled pages (the paper's section 6.2.4).

Predict the pages with what was learned elsewhere; then, again and again, take the predictions
that are most reliable at their edges, learn the site's trigrams from those pages alone, weigh
each trigram by how near to an edge it occurs, and predict all pages again.

v, the reliability of a span j … k, is the geometric mean of what the classifier gave to w tokens
on each side of both edges; m of a trigram falls from 1 for one that always occurs at an edge to
0 for one that is always d tokens or more away; a token scores (p - 1/2)(m c + 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scrapy_mss.core.features import TRIGRAM, PageT, Tokenized
from scrapy_mss.core.labels import span_labels
from scrapy_mss.core.naive_bayes import NaiveBayes
from scrapy_mss.core.subsequence import Span, best_span
from scrapy_mss.markup.tokens import Floats, Ints

ITERATIONS = 10

# Probabilities are kept this far from 0 and 1, or one token would decide a product.
EPSILON = 1e-6


@dataclass(frozen=True, slots=True)
class SelfTraining:
    """The paper's parameters."""

    iterations: int = ITERATIONS
    share: float = 0.6  # of a site's pages, the most reliable ones
    window: int = 10  # w
    distance: int = 64  # d
    boost: float = 24.0  # c


@dataclass(frozen=True, slots=True)
class Prediction:
    """A page's span and the scores and probabilities behind it."""

    span: Span
    scores: Floats
    probability: Floats


def self_train(
    model: NaiveBayes[PageT],
    pages: Sequence[PageT],
    sites: Sequence[str] | None = None,
    options: SelfTraining | None = None,
) -> list[list[Prediction]]:
    """The predictions for *pages* before the first iteration and after each one."""
    options = options or SelfTraining()
    sites = sites or [""] * len(pages)
    buckets = [TRIGRAM.values(page, TRIGRAM.bits).bucket for page in pages]
    predictions = [_predict(model.probability(page)) for page in pages]
    history = [predictions]
    for _ in range(options.iterations):
        reliable = most_reliable(predictions, sites, options)
        learned: NaiveBayes[Tokenized] = NaiveBayes([TRIGRAM])
        for i in reliable:
            start, end, _ = predictions[i].span
            learned.learn(pages[i], span_labels(len(pages[i].tokens), start, end))
        spans = [(buckets[i], predictions[i].span) for i in reliable]
        importance = trigram_importance(spans, options.distance)
        predictions = [
            _predict(learned.probability(page), importance[bucket] * options.boost + 1)
            for page, bucket in zip(pages, buckets, strict=True)
        ]
        history.append(predictions)
    return history


def _predict(probability: Floats, weight: Floats | float = 1.0) -> Prediction:
    scores = (probability - 0.5) * weight
    return Prediction(best_span(scores), scores, probability)


def most_reliable(
    predictions: Sequence[Prediction], sites: Sequence[str], options: SelfTraining
) -> list[int]:
    """The pages to learn from: the most reliable share of each site's, at least one."""
    chosen: list[int] = []
    for site in sorted(set(sites)):
        pages = [i for i, s in enumerate(sites) if s == site and predictions[i].span.value > 0]
        pages.sort(key=lambda i: (-reliability(predictions[i], options.window), i))
        chosen += pages[: max(1, round(options.share * len(pages)))]
    return sorted(chosen)


def reliability(prediction: Prediction, window: int) -> float:
    """log v: the mean logarithm of what the tokens around both edges were given."""
    inside = np.clip(prediction.probability, EPSILON, 1 - EPSILON)
    outside = 1 - inside
    start, end = prediction.span.start, prediction.span.end
    windows = (
        outside[max(0, start - window) : start],
        inside[start : start + window],
        inside[max(0, end - window) : end],
        outside[end : end + window],
    )
    return float(np.log(np.concatenate(windows)).mean())


def edge_nearness(n_tokens: int, span: Span, distance: int) -> Floats:
    """float64[n_tokens]: 1 next to an edge of *span*, 0 from *distance* tokens on."""
    at = np.arange(n_tokens)
    from_edges = np.minimum(np.abs(at - (span.start - 0.5)), np.abs(at - (span.end - 0.5))) - 0.5
    nearness: Floats = (distance - np.minimum(distance, from_edges)) / distance
    return nearness


def trigram_importance(pages: Sequence[tuple[Ints, Span]], distance: int) -> Floats:
    """m for each trigram's bucket, 0 for those not seen: float64[buckets]."""
    n_buckets = 1 << TRIGRAM.bits
    total, seen = np.zeros(n_buckets), np.zeros(n_buckets)
    for buckets, span in pages:
        np.add.at(total, buckets, edge_nearness(len(buckets), span, distance))
        np.add.at(seen, buckets, 1.0)
    return np.divide(total, seen, out=total, where=seen > 0)
