"""What groups of inputs say: against the network itself, with their inputs at the mean."""

from __future__ import annotations

import numpy as np
import pytest

from scrapy_mss.blocks.classifier import POOLINGS
from scrapy_mss.blocks.explanation import GROUPS, LABELS, SCORE, group_effects, group_of
from scrapy_mss.blocks.page import Page
from scrapy_mss.models.files import bundled_model
from tests.helpers.news_pages import news_page

MODEL = bundled_model()
CLASSIFIER = MODEL.classifier
assert CLASSIFIER is not None
PAGE = Page.of(news_page(3).html)
INPUTS = CLASSIFIER.inputs(PAGE, MODEL.bayes)


def test_every_group_has_an_input_and_a_label() -> None:
    assert {group_of(name) for name in INPUTS.columns} == {*GROUPS}
    assert all(LABELS[group.name] for group in GROUPS)


def test_an_input_without_a_group_is_named() -> None:
    with pytest.raises(KeyError, match=r"'moon_phase'; add it to GROUPS"):
        group_of("moon_phase")


def test_what_a_group_says_is_the_change_without_it() -> None:
    assert CLASSIFIER is not None
    matrix, at = INPUTS.matrix, list(INPUTS.columns).index("repetitions")
    without = matrix.copy()
    network = CLASSIFIER.networks.of(PAGE)
    without[:, at] = network.mean[at]

    said = group_effects(CLASSIFIER, PAGE, INPUTS)["repetitions"]

    change = network.log_odds(matrix) - network.log_odds(without)
    assert said == pytest.approx(change, abs=1e-5)


def test_evidence_that_is_neutral_leaves_the_score_too() -> None:
    """The score is the weighted sum of the evidence, and so an input of each of its parts."""
    assert CLASSIFIER is not None
    names, matrix = list(INPUTS.columns), INPUTS.matrix
    without, network = matrix.copy(), CLASSIFIER.networks.of(PAGE)
    for pooling, weight in zip(POOLINGS, CLASSIFIER.evidence_weights, strict=False):
        if pooling.family == "class_words":
            at = names.index(f"evidence_{pooling.name}")
            without[:, names.index(SCORE)] -= weight * matrix[:, at]
            without[:, at] = network.mean[at]

    said = group_effects(CLASSIFIER, PAGE, INPUTS)["class_words"]

    change = network.log_odds(matrix) - network.log_odds(without)
    assert np.abs(said).max() > 0
    assert said == pytest.approx(change, abs=1e-3)
