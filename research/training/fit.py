"""From examples to counts and a classifier of blocks by them.

The classifier must not be fitted on pages whose own counts it weighs: there the evidence is far
stronger than on a page of another site. So the sites go into folds, and the evidence of a fold's
pages comes from the counts of all other folds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from research.training.examples import TrainingExample
from research.training.optimization import Config, fit_logistic, fit_network
from scrapy_mss.blocks.classifier import Judge as BlockClassifier
from scrapy_mss.blocks.classifier import evidence_of as block_evidence
from scrapy_mss.blocks.classifier import inputs_of as block_inputs
from scrapy_mss.blocks.classifier import score as block_scores
from scrapy_mss.blocks.mlp import Matrix, Network
from scrapy_mss.blocks.page_features import N_LOOKS as N_PAGE_FEATURES
from scrapy_mss.blocks.page_features import looks_of as page_features
from scrapy_mss.blocks.page_features import looks_of_silent as masked
from scrapy_mss.blocks.segmentation import Passages as Blocks
from scrapy_mss.blocks.selection import select
from scrapy_mss.core.naive_bayes import NaiveBayes, logistic
from scrapy_mss.markup.tokens import Floats, Tokens

FOLDS = 5
MASKED_WEIGHT = 0.2  # of a page whose metadata is masked; chosen, not measured
CERTAIN = 20.0  # log-odds of a probability that no rounding brings below .999


def fit(
    examples: Sequence[TrainingExample],
    families: Sequence[str],
    negatives: Sequence[Tokens] = (),
    config: Config | None = None,
) -> tuple[NaiveBayes, BlockClassifier]:
    """Counts of all *examples*, and the classifier; *negatives* are pages without an article."""
    folds = [[each for each in examples if each.site_hash % FOLDS == k] for k in range(FOLDS)]
    counts = [counted(fold, families) for fold in folds]
    evidence = []
    for k, fold in enumerate(folds):
        others = merged(counts[:k] + counts[k + 1 :], families)
        evidence += [block_evidence(others, each.blocks) for each in fold]
    bayes = merged(counts, families)
    training = TrainingSet.of(list(chain.from_iterable(folds)), evidence)
    network = training.network(config)
    if not negatives:
        return bayes, BlockClassifier(training.weights, network, _always_article())
    positive = training.page_features(config)
    blocks = (tokens.passages for tokens in negatives)
    negative = [
        _page_features(each, *_scored(bayes, each, training.weights, network))
        for each in blocks
        if len(each)
    ]
    decision = _fit_decision(positive, negative) if negative else _always_article()
    return bayes, BlockClassifier(training.weights, network, decision)


def _scored(
    bayes: NaiveBayes, blocks: Blocks, weights: Matrix, network: Network
) -> tuple[Floats, Matrix]:
    """The scores of *blocks* and their log-odds."""
    evidence = block_evidence(bayes, blocks)
    scores = block_scores(evidence, weights)
    return scores, network.log_odds(block_inputs(blocks, evidence, scores))


def _page_features(blocks: Blocks, scores: Floats, log_odds: Matrix) -> Floats:
    probability = logistic(log_odds.astype(np.float64))
    _, _, kept = select(probability, blocks)
    return page_features(blocks, scores, probability, kept)


def _fit_decision(positive: Sequence[Floats], negative: Sequence[Floats]) -> Matrix:
    """The coefficients that tell articles from other pages by their page features.

    Each page is shown a second time with its metadata masked, as of a site that has none.
    """
    features = [*positive, *negative]
    # The last feature says that there is no metadata: such a page is shown as it is.
    without_metadata = [page if page[-1] else masked(page) for page in features]
    labels = np.repeat([1.0, 0.0], [len(positive), len(negative)])
    rows = np.array([*features, *without_metadata]).T
    weights = np.repeat([1.0, MASKED_WEIGHT], len(features))
    return fit_logistic(rows, np.tile(labels, 2), weights).astype(np.float32)


def _always_article() -> Matrix:
    """The coefficients by which every page is an article."""
    return np.append(np.zeros(N_PAGE_FEATURES), CERTAIN).astype(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSet:
    """What the network learns from: examples, their inputs, and the weights of evidence."""

    examples: Sequence[TrainingExample]
    scores: Sequence[Floats]
    inputs: Sequence[Matrix]
    weights: Matrix

    @classmethod
    def of(cls, examples: Sequence[TrainingExample], evidence: Sequence[Floats]) -> TrainingSet:
        """From *evidence* (float64[n_evidence, n_blocks] for each of the *examples*)."""
        labels = np.concatenate([each.inside for each in examples]).astype(np.float64)
        shares = np.concatenate([each.weights for each in examples])
        weights = fit_logistic(np.concatenate(evidence, axis=1), labels, shares).astype(np.float32)
        scores = [block_scores(each, weights) for each in evidence]
        inputs = [
            block_inputs(example.blocks, each, score)
            for example, each, score in zip(examples, evidence, scores, strict=True)
        ]
        return cls(examples, scores, inputs, weights)

    def network(self, config: Config | None, *, without: int | None = None) -> Network:
        """A network fitted to the examples; *without* one half of the sites, or to all."""
        rows = [i for i, each in enumerate(self.examples) if each.half != without]
        inputs = np.concatenate([self.inputs[i] for i in rows])
        labels = np.concatenate([self.examples[i].inside for i in rows]).astype(np.float32)
        shares = np.concatenate([self.examples[i].weights for i in rows]).astype(np.float32)
        return fit_network(inputs, labels, shares, config)

    def page_features(self, config: Config | None) -> list[Floats]:
        """Those of the whole pages, from networks that were fitted to other sites."""
        networks = [self.network(config, without=half) for half in (0, 1)]
        return [
            _page_features(each.blocks, scores, networks[each.half].log_odds(inputs))
            for each, scores, inputs in zip(self.examples, self.scores, self.inputs, strict=True)
            if not each.synthetic
        ]


def counted(examples: Sequence[TrainingExample], families: Sequence[str]) -> NaiveBayes:
    """The counts of whole pages; a synthetic one would count its article twice."""
    bayes = NaiveBayes(families)
    for example in examples:
        if not example.synthetic:
            bayes.learn_page(example.tokens, example.token_labels)
    return bayes


def merged(parts: Sequence[NaiveBayes], families: Sequence[str]) -> NaiveBayes:
    """The counts of all *parts*."""
    whole = NaiveBayes(families)
    for part in parts:
        whole.merge(part)
    return whole
