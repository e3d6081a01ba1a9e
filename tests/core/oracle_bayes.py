"""Naive Bayes in dictionaries: features are tuples, nothing is hashed, one token at a time.

Its pages come from the library's tokens, or from a page's source by the oracle's own tokenizer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.markup.tokens import CLOSE, Tokens
from tests.markup.oracle_tokenizer import nesting, tokens_of

Feature = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class ExactPage:
    """The id of each token, and the number of the most recent unclosed tag, None for none."""

    ids: list[int]
    unclosed: list[int | None]

    @classmethod
    def of_tokens(cls, tokens: Tokens) -> ExactPage:
        opened = tokens.unclosed.tolist()
        return cls(
            tokens.token_id.tolist(), [None if at < 0 else int(tokens.tag[at]) for at in opened]
        )

    @classmethod
    def of_source(cls, source: str) -> ExactPage:
        """Without a line of the library's tokenizer."""
        tokens = tokens_of(source)
        tags = [token for token in tokens if token.kind <= CLOSE]
        tops, _ = nesting([(tag.tag, tag.kind == CLOSE) for tag in tags])
        unclosed: list[int | None] = []
        top = -1
        following = iter(tops)
        for token in tokens:
            top = next(following) if token.kind <= CLOSE else top
            unclosed.append(tags[top].tag if top >= 0 else None)
        return cls([token.token_id for token in tokens], unclosed)


def features_of(page: ExactPage, families: Sequence[str]) -> list[list[Feature]]:
    """For each token its feature in each of *families*."""
    ids = [*page.ids, None, None]
    exact: dict[str, Callable[[int], Feature]] = {
        "trigram": lambda i: (ids[i], ids[i + 1], ids[i + 2]),
        "unigram": lambda i: (ids[i],),
        "unclosed_tag": lambda i: (page.unclosed[i],),
    }
    return [[(name, *exact[name](i)) for name in families] for i in range(len(page.ids))]


@dataclass
class DictionaryBayes:
    """Counts of features inside and outside."""

    families: Sequence[str]
    inside: Counter[Feature] = field(default_factory=Counter)
    outside: Counter[Feature] = field(default_factory=Counter)
    n_inside: int = 0
    n_outside: int = 0

    def learn(self, page: ExactPage | Tokens, inside: NDArray[np.bool_]) -> None:
        for features, is_inside in zip(self._features(page), inside.tolist(), strict=True):
            (self.inside if is_inside else self.outside).update(features)
            self.n_inside += is_inside
            self.n_outside += not is_inside

    def _features(self, page: ExactPage | Tokens) -> list[list[Feature]]:
        exact = ExactPage.of_tokens(page) if isinstance(page, Tokens) else page
        return features_of(exact, self.families)

    def seen(self, feature: Feature) -> bool:
        return self.inside[feature] + self.outside[feature] > 0

    def log_ratio(self, feature: Feature) -> float:
        """log P(feature | in) / P(feature | out), half a count added; 0 if never seen."""
        if not self.seen(feature):
            return 0.0
        given_in = (self.inside[feature] + 0.5) / (self.n_inside + 1)
        given_out = (self.outside[feature] + 0.5) / (self.n_outside + 1)
        return log(given_in) - log(given_out)

    def log_odds(self, page: ExactPage | Tokens, *, neighbours: bool = False) -> list[float]:
        prior = log(self.n_inside + 1) - log(self.n_outside + 1)
        rows = self._features(page)
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

    def probability(self, page: ExactPage | Tokens, *, neighbours: bool = False) -> list[float]:
        odds = self.log_odds(page, neighbours=neighbours)
        return [1 / (1 + exp(-value)) for value in odds]
