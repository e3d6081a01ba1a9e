"""How good the text of a page probably is: the F1 to be expected, before anybody reads it.

The probabilities of the blocks give the expected F1 of any choice of them. They are those of a
classifier that may be wrong about a whole page, and then about all of its blocks. So what it is
certain of is weighed with what else tells of that, by a logistic regression that was fitted to the
true F1 of pages of other sites (`research.training`).
"""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import NamedTuple

import numpy as np

from scrapy_mss.blocks.page_features import SCORE, ReadPage
from scrapy_mss.markup.tokens import Floats

EXPECTED_F1 = "expected_f1"
LEAST = 0.001  # of an expected F1, and of what it lacks: log-odds are finite


class ConfidenceFeature(NamedTuple):
    """A row of the table: a name, and what it is of a page."""

    name: str
    of: Callable[[ReadPage], float]


def expected_f1(read: ReadPage) -> float:
    """The F1, by words, that is expected of the kept blocks by the probabilities of all."""
    words = read.page.words * read.probability
    both = float(np.add.reduce(words[read.kept]))
    return 2.0 * both / max(read.n_words + float(np.add.reduce(words)), 1.0)


def _log_odds(share: float) -> float:
    inside = min(max(share, LEAST), 1 - LEAST)
    return log(inside / (1 - inside))


def _mean_agreement(read: ReadPage) -> float:
    return sum(read.agreements) / max(len(read.agreements), 1)


CONFIDENCE_FEATURES: tuple[ConfidenceFeature, ...] = (
    ConfidenceFeature(EXPECTED_F1, lambda r: _log_odds(expected_f1(r))),
    ConfidenceFeature("score", lambda r: r.means[SCORE]),
    ConfidenceFeature("agreement", _mean_agreement),
)


def confidence_features(read: ReadPage) -> Floats:
    """float64[n_confidence_features]: all rows of the table."""
    return np.array([feature.of(read) for feature in CONFIDENCE_FEATURES])
