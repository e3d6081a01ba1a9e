"""Blocks that pass eight thresholds, which a particle swarm learned (Ziegler and Skubacz, 2007).

A block is content if each of its features is on the right side of its threshold. Thresholds are
learned together: a particle is eight of them, its fitness the mean similarity of what passes to
the golds of the pages learned from, and the best particle of all generations is kept. Before
anything is learned every block passes, which is the paper's lower bound: a page from which the
elements are pruned that never hold content.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from research.datasets.pages import Example
from research.systems.block_features import FEATURES, features, passing
from research.systems.blocks import blocks
from research.systems.stopwords import languages_of_words
from research.systems.swarm import DEFAULT, Swarm, fittest, fly
from research.systems.thresholds import Trial
from research.systems.tokenwise import TokenSystem
from scrapy_mss.markup.tokens import Bools, Floats, Tokens

NO_LIMITS: Final = np.array([-np.inf if feature.at_least else np.inf for feature in FEATURES])


class Pruned(TokenSystem):
    """All blocks: what pruning alone is worth."""

    def kept(self, tokens: Tokens) -> Bools:
        return blocks(tokens).inside


class Pso(TokenSystem):
    """The blocks that satisfy all thresholds; the options are those of the swarm."""

    def __init__(  # noqa: PLR0913 - a spec names options one by one
        self,
        *,
        particles: int = DEFAULT.particles,
        generations: int = DEFAULT.generations,
        inertia: float = DEFAULT.inertia,
        cognitive: float = DEFAULT.cognitive,
        social: float = DEFAULT.social,
        seed: int = DEFAULT.seed,
    ) -> None:
        self.swarm = Swarm(particles, generations, inertia, cognitive, social, seed)
        languages_of_words()  # a run without the lists stops here, not at its first page
        self.thresholds: Floats = NO_LIMITS  # float64[8], in the order of FEATURES

    def fit(self, examples: Iterable[Example]) -> None:
        """Forget what was learned, and let a swarm look for the thresholds that fit *examples*."""
        trial = Trial.of(examples)
        best, _ = fittest(fly(trial.fitness, len(FEATURES), self.swarm))
        self.thresholds = trial.thresholds(best[np.newaxis])[0]

    def kept(self, tokens: Tokens) -> Bools:
        found = blocks(tokens)
        chosen = passing(features(tokens, found), self.thresholds[np.newaxis])[0]
        return found.tokens_of(chosen)
