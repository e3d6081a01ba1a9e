"""From examples to counts and a classifier of blocks by them.

The classifier must not be fitted on pages whose own counts it weighs: there the evidence is far
stronger than on a page of another site. So the sites go into folds, and the evidence of a fold's
pages comes from the counts of all other folds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from research.training.examples import TrainingExample
from research.training.optimization import Config, fit_logistic, fit_network, fit_signed
from scrapy_mss.blocks.classifier import (
    BlockClassifier,
    BlockInputs,
    Matrix,
    Network,
    Networks,
    block_evidence,
    block_inputs,
    block_scores,
)
from scrapy_mss.blocks.families import new_counts
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.page_features import (
    CONFIDENCE_FEATURES,
    EXPECTED_F1,
    UNDECLARED,
    ReadPage,
    as_undeclared,
    confidence_features,
    page_feature_names,
    page_features,
    without_address,
)
from scrapy_mss.blocks.selection import select
from scrapy_mss.core.labels import match_words, words_of
from scrapy_mss.core.naive_bayes import NaiveBayes
from scrapy_mss.markup.tokens import Floats

FOLDS = 5
# What pages that are no articles weigh in the network for articles, as a share of what they weigh
# in the other. At 0 CleanEval has .004 less; at 1 `articles_l3s` .005, `articles_world` .012.
TO_ARTICLES = 0.2
CERTAIN = 20.0  # log-odds of a probability that no rounding brings below .999


def fit(
    examples: Sequence[TrainingExample],
    families: Sequence[str],
    negatives: Sequence[Page] = (),
    config: Config | None = None,
) -> tuple[NaiveBayes[Page], BlockClassifier]:
    """Counts of all *examples*, and the classifier with all that it decides.

    *negatives* are pages without an article whose text is not learned.
    """
    bayes, classifier, training = fit_text(examples, families, config)
    rest = [page for page in negatives if len(page.blocks)]
    if not rest and all(each.is_article for each in examples):
        return bayes, classifier
    read = list(training.readings(config))
    articles = [(example, reading) for example, reading in read if example.is_article]
    others = [reading for example, reading in read if not example.is_article]
    networks = classifier.networks
    others += [_reading(page, classifier.inputs(page, bayes), networks) for page in rest]
    page_weights = _fit_page_weights(
        [page_features(reading) for _, reading in articles], list(map(page_features, others))
    )
    confidence_weights = _fit_confidence(articles)
    return bayes, replace(
        classifier, page_weights=page_weights, confidence_weights=confidence_weights
    )


def fit_text(
    examples: Sequence[TrainingExample], families: Sequence[str], config: Config | None = None
) -> tuple[NaiveBayes[Page], BlockClassifier, TrainingSet]:
    """Counts, and a classifier that finds the text and takes every page for an article.

    The training set is what its networks were fitted to.
    """
    folds = [[each for each in examples if each.site_hash % FOLDS == k] for k in range(FOLDS)]
    counts = [counted(fold, families) for fold in folds]
    evidence = []
    for k, fold in enumerate(folds):
        others = merged(counts[:k] + counts[k + 1 :], families)
        evidence += [block_evidence(each.page, others) for each in fold]
    bayes = merged(counts, families)
    training = TrainingSet.of(list(chain.from_iterable(folds)), evidence)
    networks = training.networks(config)
    classifier = BlockClassifier(training.weights, networks, _always_article(), _as_expected())
    return bayes, classifier, training


def _reading(page: Page, inputs: BlockInputs, networks: Networks) -> ReadPage:
    probability = networks.probabilities(page, inputs)
    chosen = select(page, probability)
    return ReadPage(page, inputs, probability, chosen.kept, chosen.threshold)


# What a page feature may speak for: an article, another page (-1), or either (0). There are few
# pages without an article in the training, and few kinds of them; a weight that those alone ask
# for, against what is known of pages, errs on the kinds that are not there.
_AGAINST = """
in_list_items is_code times other_type shop_type forum_type graph_website graph_other
price_cues forum_cues is_root is_list
""".split()
_SIGNS = {**dict.fromkeys(_AGAINST, -1), "address": 0, UNDECLARED: 0}


def _fit_page_weights(positive: Sequence[Floats], negative: Sequence[Floats]) -> Matrix:
    """The coefficients that tell articles from other pages by their page features.

    Each page is shown again as if it declared nothing of itself, as if its address were unknown,
    and as if both were so.
    """
    declared = [*positive, *negative]
    features = [*declared, *map(as_undeclared, declared)]
    rows = np.array([*features, *map(without_address, features)]).T
    labels = np.repeat([1.0, 0.0], [len(positive), len(negative)])
    signs = np.array([_SIGNS.get(name, 1) for name in page_feature_names()])
    copies = rows.shape[1] // len(labels)
    return fit_signed(rows, np.tile(labels, copies), signs).astype(np.float32)


def _fit_confidence(read: Sequence[tuple[TrainingExample, ReadPage]]) -> Matrix:
    """The coefficients that tell the F1 of a text, from pages whose network had not seen the site.

    An F1 is fitted as the probability that something drawn at random is right.
    """
    inputs = np.array([confidence_features(reading) for _, reading in read]).T
    true = np.array([f1_of(example, reading) for example, reading in read])
    return fit_signed(inputs, true, np.ones(len(inputs))).astype(np.float32)


def f1_of(example: TrainingExample, read: ReadPage) -> float:
    """The F1, by words, of the blocks that were kept, against the text as people have it."""
    blocks = read.page.blocks
    matched = blocks.count(match_words(read.page.tokens, example.text))
    n_words = blocks.words[read.kept].sum() + len(words_of(example.text))
    return float(2.0 * matched[read.kept].sum() / max(n_words, 1))


def _as_expected() -> Matrix:
    """The coefficients by which confidence is the F1 that the probabilities of blocks give."""
    names = list(CONFIDENCE_FEATURES)
    return np.array([name == EXPECTED_F1 for name in (*names, "")], np.float32)


def _always_article() -> Matrix:
    """The coefficients by which every page is an article."""
    return np.append(np.zeros(len(page_feature_names())), CERTAIN).astype(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSet:
    """What the networks learn from: examples, their inputs, and the weights of evidence."""

    examples: Sequence[TrainingExample]
    inputs: Sequence[BlockInputs]
    weights: Matrix

    @classmethod
    def of(cls, examples: Sequence[TrainingExample], evidence: Sequence[Floats]) -> TrainingSet:
        """From *evidence* (float64[n_poolings, n_blocks] for each of the *examples*).

        What the evidence weighs is for articles to say.
        """
        articles = [i for i, each in enumerate(examples) if each.is_article]
        labels = np.concatenate([examples[i].inside for i in articles]).astype(np.float64)
        shares = np.concatenate([examples[i].weights for i in articles])
        known = np.concatenate([evidence[i] for i in articles], axis=1)
        weights = fit_logistic(known, labels, shares).astype(np.float32)
        inputs = [
            block_inputs(example.page, rows, block_scores(rows, weights))
            for example, rows in zip(examples, evidence, strict=True)
        ]
        return cls(examples, inputs, weights)

    def networks(self, config: Config | None, *, without: int | None = None) -> Networks:
        """Networks fitted to the examples; *without* one half of the sites, or to all.

        To that for articles, what is no article weighs less still.
        """
        rows = [i for i, each in enumerate(self.examples) if each.half != without]
        of_all = self._network(rows, 1.0, config)
        if all(self.examples[i].is_article for i in rows):
            return Networks(of_all, of_all)
        return Networks(self._network(rows, TO_ARTICLES, config), of_all)

    def _network(self, rows: Sequence[int], others: float, config: Config | None) -> Network:
        """A network fitted to *rows*, where pages that are no articles weigh *others* as much."""
        examples = [self.examples[i] for i in rows]
        inputs = np.concatenate([self.inputs[i].matrix for i in rows])
        labels = np.concatenate([each.inside for each in examples]).astype(np.float32)
        shares = [each.weights * (1.0 if each.is_article else others) for each in examples]
        return fit_network(inputs, labels, np.concatenate(shares).astype(np.float32), config)

    def readings(self, config: Config | None) -> Iterator[tuple[TrainingExample, ReadPage]]:
        """The whole pages, read by networks that were fitted to other sites."""
        networks = [self.networks(config, without=half) for half in (0, 1)]
        for each, inputs in zip(self.examples, self.inputs, strict=True):
            if not each.synthetic:
                yield each, _reading(each.page, inputs, networks[each.half])


def counted(examples: Sequence[TrainingExample], families: Sequence[str]) -> NaiveBayes[Page]:
    """The counts of whole articles; a synthetic page would count its article twice."""
    bayes = new_counts(families)
    for example in examples:
        if example.is_article and not example.synthetic:
            bayes.learn(example.page, example.token_labels)
    return bayes


def merged(parts: Sequence[NaiveBayes[Page]], families: Sequence[str]) -> NaiveBayes[Page]:
    """The counts of all *parts*."""
    whole = new_counts(families)
    for part in parts:
        whole.merge(part)
    return whole
