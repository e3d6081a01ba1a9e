"""From lessons to counts and a judge of them.

The judge must not be fitted on pages whose own counts it weighs: there they look far surer than
they will on a page of another site. So the sites are dealt into parts, and what the judge is
shown of a part's pages comes from the counts of all other parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from research.training.descent import Descent, fit_logistic, fit_network
from research.training.lessons import Lesson
from scrapy_mss.blocks.classifier import Judge, evidence_of, inputs_of, score
from scrapy_mss.blocks.mlp import Matrix, Network
from scrapy_mss.blocks.page_features import N_LOOKS, looks_of, looks_of_silent
from scrapy_mss.blocks.segmentation import Passages
from scrapy_mss.blocks.selection import select
from scrapy_mss.core.naive_bayes import NaiveBayes, logistic
from scrapy_mss.markup.tokens import Floats, Tokens

PARTS = 5
SILENCED_WEIGHT = 0.2  # of a page that is shown as if it said nothing of itself
SURE = 20.0  # log-odds that leave no doubt


def fit(
    lessons: Sequence[Lesson],
    families: Sequence[str],
    others: Sequence[Tokens] = (),
    how: Descent | None = None,
) -> tuple[NaiveBayes, Judge]:
    """Counts of all *lessons*, and the judge of such counts; *others* are pages without one."""
    dealt = [[lesson for lesson in lessons if lesson.part % PARTS == k] for k in range(PARTS)]
    parts = [counted(part, families) for part in dealt]
    evidence = []
    for k, part in enumerate(dealt):
        rest = merged(parts[:k] + parts[k + 1 :], families)
        evidence += [evidence_of(rest, lesson.tokens.passages) for lesson in part]
    ordered = list(chain.from_iterable(dealt))
    whole = merged(parts, families)
    shown = Shown.of(ordered, evidence)
    network = shown.network(how)
    articles = shown.looks(how) if others else []
    strangers = []
    for tokens in others:
        passages = tokens.passages
        if len(passages):
            said = evidence_of(whole, passages)
            scores = score(said, shown.weights)
            odds = network.log_odds(inputs_of(passages, said, scores))
            strangers.append(_looks(passages, scores, odds))
    return whole, Judge(shown.weights, network, _decision(articles, strangers))


def _looks(passages: Passages, scores: Floats, odds: Matrix) -> Floats:
    probability = logistic(odds.astype(np.float64))
    _, _, kept = select(probability, passages)
    return looks_of(passages, scores, probability, kept)


def _decision(articles: Sequence[Floats], others: Sequence[Floats]) -> Matrix:
    """The coefficients that tell articles from other pages; without others, all are articles.

    Each page is shown a second time as if it said nothing of itself.
    """
    if not others:
        return np.append(np.zeros(N_LOOKS), SURE).astype(np.float32)
    looks = [*articles, *others]
    # A page that says nothing already is as it is; the others are shown without what they say, too.
    silenced = [page if page[-1] else looks_of_silent(page) for page in looks]
    labels = np.repeat([1.0, 0.0], [len(articles), len(others)])
    rows = np.array([*looks, *silenced]).T
    weights = np.repeat([1.0, SILENCED_WEIGHT], len(looks))
    return fit_logistic(rows, np.tile(labels, 2), weights).astype(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """What the network learns from: lessons, their inputs, and the weights of evidence."""

    lessons: Sequence[Lesson]
    scores: Sequence[Floats]
    inputs: Sequence[Matrix]
    weights: Matrix

    @classmethod
    def of(cls, lessons: Sequence[Lesson], evidence: Sequence[Floats]) -> Shown:
        """From *evidence* (float64[n_evidence, n_passages] for each of the *lessons*)."""
        labels = np.concatenate([lesson.inside for lesson in lessons]).astype(np.float64)
        shares = np.concatenate([lesson.weights for lesson in lessons])
        weights = fit_logistic(np.concatenate(evidence, axis=1), labels, shares).astype(np.float32)
        scores = [score(said, weights) for said in evidence]
        inputs = [
            inputs_of(lesson.tokens.passages, said, summed)
            for lesson, said, summed in zip(lessons, evidence, scores, strict=True)
        ]
        return cls(lessons, scores, inputs, weights)

    def network(self, how: Descent | None, *, without: int | None = None) -> Network:
        """A network fitted to the lessons; *without* one half of the sites, or to all."""
        rows = [i for i, lesson in enumerate(self.lessons) if lesson.half != without]
        inputs = np.concatenate([self.inputs[i] for i in rows])
        labels = np.concatenate([self.lessons[i].inside for i in rows]).astype(np.float32)
        shares = np.concatenate([self.lessons[i].weights for i in rows]).astype(np.float32)
        return fit_network(inputs, labels, shares, how)

    def looks(self, how: Descent | None) -> list[Floats]:
        """What a judge decides by, of the whole pages, from networks fitted to other sites."""
        apart = [self.network(how, without=half) for half in (0, 1)]
        return [
            _looks(lesson.tokens.passages, scores, apart[lesson.half].log_odds(inputs))
            for lesson, scores, inputs in zip(self.lessons, self.scores, self.inputs, strict=True)
            if not lesson.made
        ]


def counted(lessons: Sequence[Lesson], families: Sequence[str]) -> NaiveBayes:
    """The counts of whole pages; what is made from one would count its article twice."""
    bayes = NaiveBayes(families)
    for lesson in lessons:
        if not lesson.made:
            bayes.learn_page(lesson.tokens, lesson.token_labels)
    return bayes


def merged(parts: Sequence[NaiveBayes], families: Sequence[str]) -> NaiveBayes:
    """The counts of all *parts*."""
    whole = NaiveBayes(families)
    for part in parts:
        whole.merge(part)
    return whole
