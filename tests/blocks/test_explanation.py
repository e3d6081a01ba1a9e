"""What groups of inputs say: against the network itself, with their inputs at the mean."""

from __future__ import annotations

import pytest

from scrapy_mss.blocks.classifier import POOLINGS
from scrapy_mss.blocks.explanation import GROUPS, LABELS, SCORE, group_effects, group_of
from scrapy_mss.blocks.page import Page
from scrapy_mss.models.files import bundled_model
from tests.helpers.news_pages import news_page

MODEL = bundled_model()
CLASSIFIER = MODEL.classifier
assert CLASSIFIER is not None
EVIDENCE = [f"evidence_{pooling.name}" for pooling in POOLINGS]
PAGE = Page.of(news_page(3).html)
INPUTS = CLASSIFIER.inputs(PAGE, MODEL.bayes)


def test_every_group_has_an_input_and_a_label() -> None:
    assert {group_of(name) for name in INPUTS.columns} == {*GROUPS}
    assert all(LABELS[group.name] for group in GROUPS)


def test_an_input_without_a_group_is_named() -> None:
    with pytest.raises(KeyError, match=r"'moon_phase'; add it to GROUPS"):
        group_of("moon_phase")


@pytest.mark.parametrize("group", [group.name for group in GROUPS])
def test_what_a_group_says_is_the_change_without_it(group: str) -> None:
    """Without evidence, the score, which is the weighted sum of it, is another, too."""
    assert CLASSIFIER is not None
    names, matrix = list(INPUTS.columns), INPUTS.matrix
    network, without, score = CLASSIFIER.networks.of(PAGE), matrix.copy(), names.index(SCORE)
    weights = dict(zip(EVIDENCE, CLASSIFIER.evidence_weights.tolist(), strict=False))
    for at in (at for at, name in enumerate(names) if group_of(name).name == group):
        without[:, score] -= weights.get(names[at], 0.0) * matrix[:, at]
        if at != score:
            without[:, at] = network.mean[at]

    said = group_effects(CLASSIFIER, PAGE, INPUTS)[group]

    change = network.log_odds(matrix) - network.log_odds(without)
    assert said == pytest.approx(change, abs=1e-3)
