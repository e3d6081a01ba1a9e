"""Naive Bayes in dictionaries: features are tuples, nothing is hashed, one token at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.markup.tokens import Tokens

Feature = tuple[object, ...]


def features_of(tokens: Tokens, families: Sequence[str]) -> list[list[Feature]]:
    """For each token its feature in each of *families*."""
    ids = [*tokens.token_id.tolist(), None, None]
    unclosed = [None if at < 0 else int(tokens.tag[at]) for at in tokens.unclosed.tolist()]
    exact: dict[str, Callable[[int], Feature]] = {
        "trigram": lambda i: (ids[i], ids[i + 1], ids[i + 2]),
        "unigram": lambda i: (ids[i],),
        "unclosed_tag": lambda i: (unclosed[i],),
    }
    return [[(name, *exact[name](i)) for name in families] for i in range(len(tokens))]


@dataclass
class DictionaryBayes:
    """Counts of features inside and outside."""

    families: Sequence[str]
    inside: Counter[Feature] = field(default_factory=Counter)
    outside: Counter[Feature] = field(default_factory=Counter)
    n_inside: int = 0
    n_outside: int = 0

    def learn(self, page: Tokens, inside: NDArray[np.bool_]) -> None:
        rows = features_of(page, self.families)
        for features, is_inside in zip(rows, inside.tolist(), strict=True):
            (self.inside if is_inside else self.outside).update(features)
            self.n_inside += is_inside
            self.n_outside += not is_inside

    def seen(self, feature: Feature) -> bool:
        return self.inside[feature] + self.outside[feature] > 0

    def log_ratio(self, feature: Feature) -> float:
        """log P(feature | in) / P(feature | out), half a count added; 0 if never seen."""
        if not self.seen(feature):
            return 0.0
        given_in = (self.inside[feature] + 0.5) / (self.n_inside + 1)
        given_out = (self.outside[feature] + 0.5) / (self.n_outside + 1)
        return log(given_in) - log(given_out)

    def log_odds(self, page: Tokens, *, neighbours: bool = False) -> list[float]:
        prior = log(self.n_inside + 1) - log(self.n_outside + 1)
        rows = features_of(page, self.families)
        sums = []
        for i, features in enumerate(rows):
            total = prior if any(map(self.seen, features)) else 0.0
            for column, feature in enumerate(features):
                if neighbours and not self.seen(feature):
                    adjacent = [j for j in (i - 1, i + 1) if 0 <= j < len(rows)]
                    total += sum(self.log_ratio(rows[j][column]) for j in adjacent)
                else:
                    total += self.log_ratio(feature)
            sums.append(total)
        return sums

    def probability(self, page: Tokens, *, neighbours: bool = False) -> list[float]:
        odds = self.log_odds(page, neighbours=neighbours)
        return [1 / (1 + exp(-value)) for value in odds]
