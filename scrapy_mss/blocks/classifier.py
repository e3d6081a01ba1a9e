"""From the evidence of the tokens to a probability for each passage.

Naive Bayes takes its families of features as independent, which they are not: together they are
far too sure. The judge weighs them. What each family says of a passage is the mean over its
tokens; a weighted sum of these is the passage's score, which shows where in the page the article
is (`agreement`); and a small network puts all of this beside the passage's looks (`measures`).

The judge is learned once, from pages whose evidence came from counts of other sites. The counts
go on learning in a crawl, the judge does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks import container_features as agreement
from scrapy_mss.blocks import features as measures
from scrapy_mss.blocks.algebra import product
from scrapy_mss.blocks.mlp import Matrix, Network
from scrapy_mss.blocks.segmentation import Passages
from scrapy_mss.core.features import NAME_BITS, NAMES, name_buckets
from scrapy_mss.core.naive_bayes import NaiveBayes, logistic
from scrapy_mss.markup.tokens import Floats

SUREST = 8.0  # the log-odds beyond which evidence is not heard
OF_TOKENS = "unigram"  # the family that differs from token to token of a passage
BESIDE = ("words", "link_share", "heading", "closed")  # measures of the passages beside
NEIGHBOURS = (-2, -1, 1, 2)
OF_NAMES = ("names_sum", "names_least", "names_most")


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """What was learned of weighing.

    ``weights`` is float32[n_evidence+1] and ``decision`` float32[n_looks+1], the last a constant.
    """

    weights: Matrix
    network: Network
    decision: Matrix

    def score(self, evidence: Floats) -> Floats:
        """What the families say together of each passage: float64[n_passages]."""
        return score(evidence, self.weights)

    def probabilities(self, evidence: Floats, passages: Passages) -> Floats:
        """How probably each passage is of the article: float64[n_passages]."""
        inputs = inputs_of(passages, evidence, self.score(evidence))
        return logistic(self.network.log_odds(inputs).astype(np.float64))

    def article(self, looks: Floats) -> float:
        """How probably a page that looks so (float64[n_looks]) is an article."""
        odds = product(self.decision[:-1].astype(np.float64), looks) + float(self.decision[-1])
        return float(logistic(np.array([odds]))[0])


def score(evidence: Floats, weights: Matrix) -> Floats:
    """The weighted sum of *evidence* (float64[n_evidence, n_passages]): float64[n_passages]."""
    return product(weights[:-1].astype(np.float64), evidence) + float(weights[-1])


def inputs_of(passages: Passages, evidence: Floats, scores: Floats) -> Matrix:
    """What the network is shown: float32[n_passages, n_inputs]."""
    heading = measures.last_heading(passages)
    above = np.where(heading >= 0, scores[heading], 0.0) if len(scores) else scores
    looks = passages.looks
    beside = [scores, *(looks[name] for name in BESIDE)]
    columns = [
        *looks.values(),
        *evidence,
        scores,
        above,
        *agreement.columns(passages, scores).values(),
        *(_moved(column, by) for column in beside for by in NEIGHBOURS),
    ]
    return np.stack(columns, axis=1).astype(np.float32)


def _moved(column: Floats, by: int) -> Floats:
    """*column* of the passage that is *by* passages further on; 0 beyond the page's ends."""
    moved = np.zeros_like(column)
    if by > 0:
        moved[:-by] = column[by:]
    else:
        moved[-by:] = column[:by]
    return moved


def evidence_of(bayes: NaiveBayes, passages: Passages) -> Floats:
    """What each family says of each passage: float64[n_evidence, n_passages]."""
    tokens = passages.tokens
    rows = []
    for family in bayes.families:
        buckets = family.buckets(tokens, family.bits)
        if family.name == OF_TOKENS:
            rows.append(_mean(passages, bayes, buckets))
        else:
            rows.append(bayes.ratio(family.name, buckets[passages.first])[0])
    if bayes.named:
        rows += _of_names(passages, bayes)
    return np.clip(np.stack(rows), -SUREST, SUREST)


def _mean(passages: Passages, bayes: NaiveBayes, buckets: NDArray[np.int32]) -> Floats:
    """The mean over the words and signs of each passage."""
    texts = np.flatnonzero((passages.of >= 0) & ~passages.tokens.is_tag)
    of = passages.of[texts]
    said = bayes.ratio(OF_TOKENS, buckets[texts])[0]
    return np.bincount(of, said, len(passages)) / np.bincount(of, minlength=len(passages))


def _of_names(passages: Passages, bayes: NaiveBayes) -> list[Floats]:
    """Of all names of the elements around: what they say together, least and most."""
    names = passages.names
    said = bayes.ratio(NAMES, name_buckets(names, NAME_BITS))[0]
    whole, least, most = (np.zeros(len(passages.tokens) + 1) for _ in OF_NAMES)
    at = names.element[names.of]
    np.add.at(whole, at, said)
    np.minimum.at(least, at, said)
    np.maximum.at(most, at, said)
    around = passages.around
    return [whole[around].sum(axis=0), least[around].min(axis=0), most[around].max(axis=0)]
