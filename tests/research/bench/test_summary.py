from __future__ import annotations

from dataclasses import replace

import pytest

from research.bench import summary
from research.bench.resampling import Resampler
from research.bench.scoring import Answer, PageScore, score_page
from research.bench.summary import Estimate
from tests.research.bench.fakes import page


def rows(*texts: str, gold: str = "one two three four five") -> list[PageScore]:
    """Scores of these texts on pages that all have the same gold, each of a site of its own."""
    given = [page(n, f"{n}.example", golds=(gold,)) for n in range(len(texts))]
    return [score_page(each, Answer(text)) for each, text in zip(given, texts, strict=True)]


def estimates(scores: list[PageScore]) -> summary.Estimates:
    resampler = Resampler([row.site for row in scores], resamples=200)
    return summary.estimates(summary.draws(scores, resampler))


def value(scores: list[PageScore], name: str) -> float:
    found = estimates(scores)[name]
    assert found is not None
    return found.value


def test_a_score_is_a_mean_over_pages() -> None:
    scores = rows("one two three four five", "one two", "")

    assert value(scores, "p") == pytest.approx((1 + 1 + 0) / 3)
    assert value(scores, "r") == pytest.approx((1 + 0.4 + 0) / 3)
    assert value(scores, "f1") == pytest.approx((1 + 2 * 0.4 / 1.4 + 0) / 3)
    assert value(scores, "poor") == pytest.approx(2 / 3)


def test_shingle_f1_is_of_mean_precision_and_mean_recall() -> None:
    """As the public benchmark has it, a page without text has no precision but a recall."""
    scores = rows("one two three four five", "one two three four", "")

    assert value(scores, "shingle_p") == pytest.approx((1 + 1) / 2)
    assert value(scores, "shingle_r") == pytest.approx((1 + 0.5 + 0) / 3)
    assert value(scores, "shingle_f1") == pytest.approx(2 * 1 * 0.5 / 1.5)


def test_best_gold_scores_are_kept_apart_from_the_short_gold() -> None:
    both = page(1, golds=("two three", "one two three"))

    row = score_page(both, Answer("one two three"))

    assert row.f1 == pytest.approx(0.8)
    assert (row.best_gold, row.best_f1) == (1, 1)


def test_a_difference_is_paired() -> None:
    """Pages vary far more than the two systems differ: the interval is that of the difference."""
    low = rows(*["one two three four five", "six"] * 10)
    high = [replace(row, f1=row.f1 + 0.01) for row in low]
    resampler = Resampler([row.site for row in low], resamples=200)

    found = summary.differences(summary.draws(high, resampler), summary.draws(low, resampler))

    estimate = found["f1"]
    assert estimate is not None
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx((0.01, 0.01, 0.01))
    assert found["p"] == Estimate(0, 0, 0)
    assert found["rouge"] is None
