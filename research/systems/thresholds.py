"""How well thresholds do on labelled pages: what a swarm climbs, and its slices along one feature.

The paper's swarm begins in the unit cube and leaves open what a number of sentences is in there.
Here a coordinate is a share of the words of the pages learned from: of those that stand in blocks
with less of the feature than the threshold. Each feature is divided finely where its values lie,
and a threshold is a value that occurred.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from research.datasets.pages import Example
from research.systems.block_features import FEATURES, features, passing
from research.systems.blocks import blocks
from research.systems.similarity import PageTerms, Similarity, is_term
from scrapy_mss.core.labels import words_of
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Floats

# The corner of the cube that lets every block of the pages pass.
OPEN: Final = np.array([0.0 if feature.at_least else 1.0 for feature in FEATURES])


class Scale(NamedTuple):
    """The values of one feature, ascending, and the share of the words in blocks before each."""

    values: Floats
    below: Floats

    @classmethod
    def of(cls, values: Floats, words: Floats) -> Scale:
        """The scale of *values*, one a block, of blocks with so many *words*."""
        order = np.argsort(values, kind="stable")
        before = np.cumsum(words[order]) - words[order]
        return cls(values[order], before / words.sum())

    def at(self, shares: Floats) -> Floats:
        """float64[n]: the values that *shares* (float64[n] in [0, 1]) of the words stand below."""
        return self.values[np.searchsorted(self.below, shares, side="right") - 1]


class _Study(NamedTuple):
    """What one page has to teach."""

    values: Floats
    words: Floats
    terms: PageTerms


def _study(example: Example) -> _Study:
    tokens = tokenize(example.html)
    found = blocks(tokens)
    block = found.number[tokens.is_word].tolist()
    terms = [
        (word, number)
        for word, number in zip(tokens.words(), block, strict=True)
        if number >= 0 and is_term(word)
    ]
    return _Study(
        features(tokens, found),
        found.words,
        PageTerms(
            [word for word, _ in terms],
            [number for _, number in terms],
            len(found),
            [word for word in words_of(example.text) if is_term(word)],
        ),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """Labelled pages on which thresholds are tried."""

    values: Floats  # float64[8, n_blocks] of the blocks of all pages
    scales: tuple[Scale, ...]
    similarity: Similarity

    @classmethod
    def of(cls, examples: Iterable[Example]) -> Trial:
        """Take in *examples*."""
        pages = [_study(example) for example in examples]
        if not any(len(page.words) for page in pages):
            raise ValueError("there is nothing to learn from: no page has a word in it")
        values = np.concatenate([page.values for page in pages], axis=1)
        words = np.concatenate([page.words for page in pages])
        scales = tuple(Scale.of(row, words) for row in values)
        return cls(values, scales, Similarity.of([page.terms for page in pages]))

    def thresholds(self, positions: Floats) -> Floats:
        """float64[n, 8]: the thresholds that *positions* in the unit cube stand for."""
        columns = zip(self.scales, positions.T, strict=True)
        return np.stack([scale.at(shares) for scale, shares in columns], axis=1)

    def fitness(self, positions: Floats) -> Floats:
        """float64[n]: the mean similarity of what each of *positions* lets pass."""
        thresholds = self.thresholds(positions)
        means = [
            self.similarity.scores(passing(self.values, thresholds[part])).mean(axis=1)
            for part in self.similarity.batches(len(thresholds))
        ]
        return np.concatenate(means)

    def curves(self, shares: Floats) -> Iterator[tuple[str, Floats]]:
        """For each feature its name and the fitness at *shares*, with all else let pass."""
        for number, feature in enumerate(FEATURES):
            positions = np.tile(OPEN, (len(shares), 1))
            positions[:, number] = shares
            yield feature.name, self.fitness(positions)
