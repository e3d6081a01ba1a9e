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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.core.features import FAMILIES, LAYOUT, NAME_BITS, NAMES, Family, name_buckets
from scrapy_mss.markup.elements import Counts, held
from scrapy_mss.markup.tokens import Bools, Floats, Ints, Tokens

SMOOTHING = 0.5

# Of layout: all words of an article stand in one element, so that a single page would make a name
# as sure as many. So many words of doubt stand against it.
LAYOUT_SMOOTHING = 300.0

# Where a bucket's 32-bit count would run over, learning stops: at a hundred tokens of one kind
# a page that is after forty million pages, when there is nothing left to learn.
LARGEST_COUNT = 2**32 - 1

OUT, IN = 0, 1


class Named(NamedTuple):
    """For each name of each element of a page, its bucket and the tokens that it stands around."""

    buckets: Ints  # int32[n_names]
    tokens: Counts  # int64[n_names, 2], out and in


class NaiveBayes:
    """In and out counts for each family of features.

    ``counts[family]`` is uint32[buckets, 2] (out, in), ``tokens`` int64[2] the tokens learned.
    A token has one feature of each family, and as many names as the elements around it have.
    """

    def __init__(self, families: Sequence[str]) -> None:
        self.families: tuple[Family, ...] = tuple(
            FAMILIES[name] for name in families if name != NAMES
        )
        self.named = NAMES in families
        bits = {family.name: family.bits for family in self.families}
        bits |= {NAMES: NAME_BITS} if self.named else {}
        self.counts: dict[str, NDArray[np.uint32]] = {
            name: np.zeros((1 << size, 2), np.uint32) for name, size in bits.items()
        }
        self.tokens: NDArray[np.int64] = np.zeros(2, np.int64)
        self.pages = 0

    def features(self, tokens: Tokens) -> Ints:
        """The buckets of every token: int32[n_families, n_tokens]."""
        rows = [family.buckets(tokens, family.bits) for family in self.families]
        return np.stack(rows) if rows else np.zeros((0, len(tokens)), np.int32)

    def names(self, tokens: Tokens, inside: Bools) -> Named | None:
        """The names of a page whose tokens are *inside* or not; None if names are not counted."""
        if not self.named:
            return None
        names = tokens.passages.names
        within = held(tokens, names.element, inside)
        around = tokens.partner[names.element] - names.element
        counts = np.stack((around - within, within), axis=1)[names.of]
        return Named(name_buckets(names, NAME_BITS), counts)

    def learn(
        self, features: Ints, inside: Bools, pages: int = 1, names: Named | None = None
    ) -> None:
        """Count *features* (int32[n_families, n_tokens]) of tokens that are *inside* or not."""
        if not self.has_room(features, names):
            raise OverflowError(_FULL)
        side = inside.astype(np.int32)
        for family, buckets in zip(self.families, features, strict=True):
            np.add.at(self.counts[family.name].reshape(-1), 2 * buckets + side, 1)
        if names is not None:
            np.add.at(self.counts[NAMES], names.buckets, names.tokens.astype(np.uint32))
        self.tokens += np.bincount(side, minlength=2)
        self.pages += pages

    def learn_page(self, tokens: Tokens, inside: Bools) -> None:
        """Count a page whose article is *inside* (bool[n_tokens])."""
        self.learn(self.features(tokens), inside, names=self.names(tokens, inside))

    def has_room(self, features: Ints, names: Named | None = None) -> bool:
        """Whether no count would run over by learning *features* and *names*."""
        rows = zip(self.families, features, strict=True)
        more = [(family.name, buckets, len(buckets)) for family, buckets in rows]
        if names is not None:
            more.append((NAMES, names.buckets, int(names.tokens.sum())))
        return all(
            not len(buckets) or int(self.counts[name][buckets].max()) <= LARGEST_COUNT - most
            for name, buckets, most in more
        )

    def merge(self, other: NaiveBayes) -> None:
        """Add what *other* has learned."""
        if list(self.counts) != list(other.counts):
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
        total = np.zeros(features.shape[1])
        known = np.zeros(features.shape[1], np.bool_)
        for family, buckets in zip(self.families, features, strict=True):
            ratio, seen = self.ratio(family.name, buckets)
            total += _with_neighbours(ratio, seen) if neighbours else ratio
            known |= seen
        return np.where(known, total + self._balance, total)

    def ratio(self, family: str, buckets: Ints) -> tuple[Floats, Bools]:
        """log P(f | in) / P(f | out) of the features in *buckets*, and which were ever seen."""
        seen_out, seen_in = self.counts[family][buckets].T
        seen = (seen_in > 0) | (seen_out > 0)
        doubt = LAYOUT_SMOOTHING if family in LAYOUT else SMOOTHING
        ratio = np.log((seen_in + doubt) / (seen_out + doubt)) - self._balance
        return np.where(seen, ratio, 0.0), seen

    @property
    def _balance(self) -> float:
        return float(np.log((self.tokens[IN] + 1) / (self.tokens[OUT] + 1)))

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
