"""Judges that nobody fitted: their numbers mean nothing, but they fit what they are shown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scrapy_mss.blocks.classifier import Judge, evidence_of, inputs_of
from scrapy_mss.blocks.mlp import Matrix, Network
from scrapy_mss.blocks.page_features import looks_of
from scrapy_mss.core.naive_bayes import NaiveBayes
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.models.profiles import DEFAULT
from tests.helpers.news_pages import news_page

N_HIDDEN = 5


def learned(pages: int = 3, families: Sequence[str] = DEFAULT.families) -> NaiveBayes:
    """Counts of some pages of one site, names and all."""
    bayes = NaiveBayes(families)
    for number in range(pages):
        page = news_page(number)
        bayes.learn_page(page.tokens, page.inside)
    return bayes


def random_network(n_inputs: int, n_hidden: int = N_HIDDEN, seed: int = 0) -> Network:
    chance = np.random.default_rng(seed)

    def numbers(*shape: int) -> Matrix:
        return chance.normal(size=shape).astype(np.float32)

    scale = np.abs(numbers(n_inputs)) + np.float32(0.1)
    return Network(numbers(n_inputs), scale, numbers(n_inputs + 1, n_hidden), numbers(n_hidden + 1))


def random_judge(seed: int = 0) -> Judge:
    """A judge of counts as those of the default profile."""
    passages = tokenize("<p>one").passages
    evidence = evidence_of(NaiveBayes(DEFAULT.families), passages)
    n_inputs = inputs_of(passages, evidence, evidence[0]).shape[1]
    n_looks = len(looks_of(passages, evidence[0], evidence[0], evidence[0] > 0))
    chance = np.random.default_rng(seed)
    weights = chance.normal(size=len(evidence) + 1).astype(np.float32)
    decision = chance.normal(size=n_looks + 1).astype(np.float32)
    return Judge(weights, random_network(n_inputs, seed=seed), decision)
