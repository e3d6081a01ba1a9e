"""Odd and hostile pages through all steps of the block classifier give sound numbers."""

from __future__ import annotations

import numpy as np
import pytest

from scrapy_mss.blocks.classifier import MAX_LOG_ODDS, block_evidence
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.page_features import ReadPage, page_features
from scrapy_mss.blocks.segmentation import LEVELS
from scrapy_mss.blocks.selection import kept_tokens, select, threshold
from tests.helpers.classifiers import counts_of, input_names, random_classifier
from tests.helpers.layouts import ODD

BAYES, CLASSIFIER = counts_of(range(2)), random_classifier()


@pytest.mark.parametrize("name", ODD)
def test_every_step_gives_sound_numbers(name: str) -> None:
    page = Page.of(ODD[name])
    tokens, blocks, n = page.tokens, page.blocks, len(page.blocks)

    evidence, inputs = block_evidence(page, BAYES), CLASSIFIER.inputs(page, BAYES)
    probability = CLASSIFIER.networks.probabilities(page, inputs)
    _, span, kept, *_ = select(page, probability)
    features = page_features(
        ReadPage(page, inputs, probability, kept, threshold(page, probability))
    )

    assert blocks.ancestors.shape == (LEVELS, n)
    assert blocks.words.sum() == tokens.is_word.sum()
    assert np.all((blocks.words > 0) & (blocks.linked_words <= blocks.words))
    assert np.all(blocks.first <= blocks.last)
    assert np.abs(evidence).max(initial=0) <= MAX_LOG_ODDS
    assert inputs.matrix.shape == (n, len(input_names()))
    assert np.isfinite(inputs.matrix).all()
    assert np.all((probability >= 0) & (probability <= 1))
    assert 0 <= threshold(page, probability) <= 0.5
    assert 0 <= span.start <= span.end <= len(tokens)
    assert (kept_tokens(page, kept) & tokens.is_word).sum() == blocks.words[kept].sum()
    assert np.isfinite(features).all()
    assert 0 <= CLASSIFIER.article_probability(features) <= 1
