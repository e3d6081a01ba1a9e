"""Naive Bayes over hashed counts: how often each feature stood inside an article and outside.

The counts are the only state. Learning adds to them, so that pages in any order and any number
of portions, or two models merged, give the same tables; everything else is derived when asked,
for the features of one page, which is a few thousand look-ups and needs no table of logarithms
to be kept up to date.

For a token with features f the evidence is log P(in) / P(out), as often as tokens of each were
learned, and for each family

    log P(f | in) / P(f | out),   P(f | c) = (count of f in c + 1/2) / (tokens in c + 1)

A feature never seen says nothing: its ratio is 1, as in the paper. Nor does a token of which no
feature was ever seen: it has probability 1/2, or a site's new words would all count as outside.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.core.features import FAMILIES, Family
from scrapy_mss.core.tokens import Bools, Floats, Ints, Tokens

SMOOTHING = 0.5

# Where a bucket's 32-bit count would run over, learning stops: at a hundred tokens of one kind
# a page that is after forty million pages, when there is nothing left to learn.
LARGEST_COUNT = 2**32 - 1

OUT, IN = 0, 1


class NaiveBayes:
    """In and out counts for each family of features.

    ``counts[family]`` is uint32[buckets, 2] (out, in), ``tokens`` int64[2] the tokens learned.
    """

    def __init__(self, families: Sequence[str]) -> None:
        self.families: tuple[Family, ...] = tuple(FAMILIES[name] for name in families)
        self.counts: dict[str, NDArray[np.uint32]] = {
            family.name: np.zeros((1 << family.bits, 2), np.uint32) for family in self.families
        }
        self.tokens: NDArray[np.int64] = np.zeros(2, np.int64)
        self.pages = 0

    def features(self, tokens: Tokens) -> Ints:
        """The buckets of every token: int32[n_families, n_tokens]."""
        rows = [family.buckets(tokens, family.bits) for family in self.families]
        return np.stack(rows) if rows else np.zeros((0, len(tokens)), np.int32)

    def learn(self, features: Ints, inside: Bools, pages: int = 1) -> None:
        """Count *features* (int32[n_families, n_tokens]) of tokens that are *inside* or not."""
        if not self.has_room(features):
            raise OverflowError(_FULL)
        side = inside.astype(np.int32)
        for family, buckets in zip(self.families, features, strict=True):
            np.add.at(self.counts[family.name].reshape(-1), 2 * buckets + side, 1)
        self.tokens += np.bincount(side, minlength=2)
        self.pages += pages

    def has_room(self, features: Ints) -> bool:
        """Whether no count would run over by learning *features*."""
        limit = LARGEST_COUNT - features.shape[1]
        return all(
            not features.shape[1] or int(self.counts[family.name][buckets].max()) <= limit
            for family, buckets in zip(self.families, features, strict=True)
        )

    def merge(self, other: NaiveBayes) -> None:
        """Add what *other* has learned."""
        if [f.name for f in self.families] != [f.name for f in other.families]:
            raise ValueError(
                f"models of different features do not add up: this one has "
                f"{', '.join(self.counts)}, the other {', '.join(other.counts)}"
            )
        for name, counts in other.counts.items():
            mine = self.counts[name]
            if np.any(mine > LARGEST_COUNT - counts):
                raise OverflowError(_FULL)
            mine += counts
        self.tokens += other.tokens
        self.pages += other.pages

    def become(self, other: NaiveBayes) -> None:
        """Hold the counts of *other*, in the arrays that are there."""
        for name, counts in other.counts.items():
            self.counts[name][...] = counts
        self.tokens[...] = other.tokens
        self.pages = other.pages

    def log_odds(self, features: Ints, *, neighbours: bool = False) -> Floats:
        """The evidence that each token is inside, as a logarithm: float64[n_tokens].

        With *neighbours*, a token whose feature was never seen takes those of the token before
        and the token after it instead (the paper's smoothing for pages unlike the training's).
        """
        balance = float(np.log((self.tokens[IN] + 1) / (self.tokens[OUT] + 1)))
        total = np.zeros(features.shape[1])
        known = np.zeros(features.shape[1], np.bool_)
        for family, buckets in zip(self.families, features, strict=True):
            seen_out, seen_in = self.counts[family.name][buckets].T
            seen = (seen_in > 0) | (seen_out > 0)
            ratio = np.log((seen_in + SMOOTHING) / (seen_out + SMOOTHING)) - balance
            ratio[~seen] = 0.0
            total += _with_neighbours(ratio, seen) if neighbours else ratio
            known |= seen
        return np.where(known, total + balance, total)

    def probability(self, features: Ints, *, neighbours: bool = False) -> Floats:
        """The probability that each token is inside: float64[n_tokens]."""
        return logistic(self.log_odds(features, neighbours=neighbours))


_FULL = "a count would run over 32 bits: this model has learned all it can, go on with a new one"


def logistic(log_odds: Floats) -> Floats:
    """The probability behind *log_odds*."""
    return 1.0 / (1.0 + np.exp(-np.clip(log_odds, -500, 500)))


def _with_neighbours(ratio: Floats, seen: Bools) -> Floats:
    before = np.concatenate(([0.0], ratio[:-1]))
    after = np.concatenate((ratio[1:], [0.0]))
    return np.where(seen, ratio, before + after)
