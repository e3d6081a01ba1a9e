"""Counts of made-up pages, and untrained classifiers: random weights of the right shapes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scrapy_mss.blocks.classifier import (
    POOLINGS,
    BlockClassifier,
    Matrix,
    Network,
    Networks,
    block_inputs,
)
from scrapy_mss.blocks.families import new_counts
from scrapy_mss.blocks.features import Columns
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.page_features import CONFIDENCE_FEATURES, page_feature_names
from scrapy_mss.core.naive_bayes import NaiveBayes
from scrapy_mss.models.format import classifier_inputs
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT, Profile
from tests.helpers.news_pages import news_page

N_HIDDEN = 5


def counts_of(
    numbers: Sequence[int] = range(3), families: Sequence[str] = DEFAULT.families
) -> NaiveBayes[Page]:
    """Counts that learned the pages *numbers* of one made-up site."""
    bayes = new_counts(families)
    for number in numbers:
        page = news_page(number)
        bayes.learn(Page(page.tokens), page.inside)
    return bayes


def trained(*numbers: int, profile: Profile = DEFAULT) -> Model:
    """A model that has learned the pages *numbers*, whose keys it knows."""
    model = Model(profile, None, counts_of(numbers, profile.families))
    for number in numbers:
        model.learned_pages.add(2**40 + number, 0)
    return model


def input_names() -> tuple[str, ...]:
    """The names of the network's inputs, as a model file has them."""
    return tuple(name for name, _ in classifier_inputs()["blocks"])


def columns_of(page: Page) -> Columns:
    """All inputs of the block classifier for *page*, by counts that know nothing."""
    n = len(page.blocks)
    return block_inputs(page, np.zeros((len(POOLINGS), n)), np.zeros(n)).columns


def random_network(n_inputs: int, n_hidden: int = N_HIDDEN, seed: int = 0) -> Network:
    rng = np.random.default_rng(seed)

    def weights(*shape: int) -> Matrix:
        return rng.normal(size=shape).astype(np.float32)

    scale = np.abs(weights(n_inputs)) + np.float32(0.1)
    return Network(weights(n_inputs), scale, weights(n_inputs + 1, n_hidden), weights(n_hidden + 1))


def random_classifier(seed: int = 0) -> BlockClassifier:
    """A classifier of the shapes that this version's inputs have."""
    rng = np.random.default_rng(seed)
    return BlockClassifier(
        rng.normal(size=len(POOLINGS) + 1).astype(np.float32),
        Networks(*(random_network(len(input_names()), seed=seed + number) for number in (0, 1))),
        rng.normal(size=len(page_feature_names()) + 1).astype(np.float32),
        rng.normal(size=len(CONFIDENCE_FEATURES) + 1).astype(np.float32),
    )
