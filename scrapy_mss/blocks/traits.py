"""What the labelled pages of a site teach of its other pages: a regression, learned page by page.

A block has *traits*: its containers, its first and last words, its length, and how far it is from
the first and the last block that the classifier takes for the article. Each trait of a site has a
coefficient, and what those of a block sum to is added to the block's log-odds.

A labelled page moves the coefficients of its traits by gradient steps on its log-loss, and is
forgotten. The log-loss of a block curves by 1/4 at most, so a trait is moved by its slope over the
curvature of all pages that had it: less, the more pages there were. What is stored of a trait is
this curvature, and its product with the coefficient. Both can be added: the sum of two crawls has
the weighted mean of their coefficients, and of pages that are learned at the same time, the moves
add up.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from scrapy_mss.blocks.page import Page
from scrapy_mss.core.hashing import mix
from scrapy_mss.core.naive_bayes import log_odds, logistic
from scrapy_mss.markup.tokens import Bools, Floats, Indices, TokenIds

CURVATURE: Final = 0.25  # of the log-loss of a block, at most
TRAIT_BITS: Final = 24
FIRST_TRAIT: Final = 2**21  # smaller numbers are left for other rows of a site

# Where another class of lengths (words) and of distances (blocks) begins.
LENGTHS: Final = 2.0 ** np.arange(0.5, 9.5)
DISTANCES: Final = np.array((-63, -31, -15, -7, -3, -2, -1, 0, 1, 2, 3, 4, 8, 16, 32, 64))

# Chosen on `sites_ctf` and `sites_daniel`: research/notes/learning.md.
N_STEPS: Final = 10
STEP: Final = 2.0  # of what curvature alone would allow: traits seldom agree about all blocks
PRIOR: Final = 1.0  # blocks that speak for the coefficients as they are
MOST: Final = 4.0  # log-odds that are added to a block
LEAST: Final = 0.02  # coefficients that are worth a row


def traits(page: Page, likely: Bools) -> TokenIds:
    """uint64[n_traits, n]: the traits of each block; *likely* (bool[n]) are the article's."""
    around = [*page.ancestor_keys[:4]]
    place, ends = mix(around[:3]), _end_words(page)
    classes = ((LENGTHS, page.blocks.words), *((DISTANCES, each) for each in distances(likely)))
    classed = np.array([bounds.searchsorted(each, "right") for bounds, each in classes], np.uint64)
    columns = np.array(
        [
            *(*around, mix(around[:2]), place, mix(around)),
            *(*mix([*ends[:2]]), *mix([*ends])),
            *classed,
            *mix([classed, place]),
        ]
    )
    numbers = np.arange(len(columns), dtype=np.uint64)[:, None].repeat(columns.shape[1], axis=1)
    found: TokenIds = mix([numbers, columns]) >> np.uint64(64 - TRAIT_BITS) | np.uint64(FIRST_TRAIT)
    return found


def distances(likely: Bools) -> tuple[Indices, Indices]:
    """intp[n] each: how far every block is behind the first *likely* one and before the last."""
    kept, at = np.flatnonzero(likely), np.arange(len(likely))
    first, last = (kept[0], kept[-1]) if len(kept) else (0, len(likely) - 1)
    return at - first, last - at


def _end_words(page: Page) -> TokenIds:
    """uint64[4, 2, n]: the first and the last four words or symbols of each block, 0 for none."""
    blocks, number = page.blocks, np.arange(4)[:, None]
    last = blocks.n_texts - 1
    at = np.stack((np.minimum(number, last), np.maximum(last - number, 0)), axis=1)
    words = page.tokens.token_id[blocks.text[blocks.first_text + at]]
    return np.where((number <= last)[:, None], words, np.uint64(0))


class Coefficients(NamedTuple):
    """Those of the traits of a site, each trait once."""

    trait: TokenIds  # uint64[m], ascending
    curvature: Floats  # float64[m]
    moment: Floats  # float64[m]: the curvature times the coefficient

    def of(self, trait: TokenIds) -> tuple[Floats, Floats]:
        """The curvature and the coefficient of each *trait*; 0 where it is unknown."""
        if not len(self.trait):
            return np.zeros(trait.shape), np.zeros(trait.shape)
        at = np.minimum(self.trait.searchsorted(trait), len(self.trait) - 1)
        curvature = np.where(self.trait[at] == trait, self.curvature[at], 0.0)
        return curvature, np.divide(
            self.moment[at], curvature, out=np.zeros(trait.shape), where=curvature > 0
        )

    def correction(self, trait: TokenIds) -> Floats:
        """float64[n]: what the traits of each block (uint64[n_traits, n]) add to its log-odds."""
        bounded: Floats = np.clip(self.of(trait)[1].sum(axis=0), -MOST, MOST)
        return bounded

    def learned(
        self, trait: TokenIds, inside: Bools, probability: Floats, weight: Floats
    ) -> Coefficients:
        """What a page adds whose blocks have these traits, and are *inside* the article or not.

        *probability* is that of its blocks without what their traits add, *weight* the blocks' own:
        float64[n] each.
        """
        names, at = np.unique(trait, return_inverse=True)
        at = at.reshape(trait.shape)
        before, start = self.of(names)
        added = _sums(at, CURVATURE * weight, len(names))
        step = STEP / (len(trait) * (before + added) + PRIOR)
        odds, coefficient = log_odds(probability), start
        for _ in range(N_STEPS):
            residual = inside - logistic(odds + np.add.reduce(coefficient.take(at)))
            slope = _sums(at, weight * residual, len(names)) - PRIOR * (coefficient - start)
            coefficient = coefficient + step * slope
        is_worth = (before > 0) | (np.abs(coefficient) > LEAST)
        moment = (before + added) * coefficient - before * start
        return Coefficients(names[is_worth], added[is_worth], moment[is_worth])


def _sums(at: Indices, values: Floats, size: int) -> Floats:
    """float64[size]: the *values* (float64[n]) of the blocks that have each trait."""
    everywhere = np.empty(at.shape)
    everywhere[:] = values
    sums: Floats = np.bincount(at.ravel(), everywhere.ravel(), size).astype(float, copy=False)
    return sums
