"""FeatureExtractor and K-FeatureExtractor (Debnath, Mitra, Pal and Giles, 2005).

A page is cut into blocks at the tags of tables, rows, paragraphs, rules and lists, to which we
add `div`, which lays pages out since. For each block features are counted: words that are no
links, and occurrences of what is no text. A feature's share in a block is the part that it has
in all counts of the block.

`fe` wants one block: of those where text has the greater share, the one with the most words. A
page whose text stands in paragraphs thus gives one paragraph. `kfe` clusters the blocks by their
shares with k-means, k = 3, and keeps the cluster with the most words a block.

The sources name text, images, scripts and the like and leave the list open: ours is
`OCCURRENCES`. Blocks without a word that is no link take no part.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from research.systems.clustering import kmeans
from research.systems.tokenwise import TokenSystem
from scrapy_mss.markup.tokens import OPEN, Bools, Floats, Indices, Tokens, is_tag_of, linked_words

CUTS: Final = frozenset({"table", "tr", "p", "hr", "ul", "div"})
OCCURRENCES: Final = (
    frozenset({"a"}),
    frozenset({"li", "dt", "dd", "option"}),
    frozenset({"img", "picture", "svg", "canvas", "video", "audio"}),
    frozenset({"iframe", "object", "embed", "applet"}),
    frozenset({"form", "input", "button", "select", "textarea"}),
    frozenset({"script", "noscript", "style"}),
)
MAJORITY: Final = 0.5
CLUSTERS: Final = 3


class FeatureExtractor(TokenSystem):
    """The block with the most words, of those that are text rather than anything else."""

    def kept(self, tokens: Tokens) -> Bools:
        block = blocks(tokens)
        counts = block_counts(tokens, block)
        words = counts[:, 0] * (shares(counts)[:, 0] > MAJORITY)
        if not words.any():
            return np.zeros(len(tokens), np.bool_)
        return np.equal(block, np.argmax(words))


class KFeatureExtractor(TokenSystem):
    """The cluster of blocks that has the most words a block."""

    def __init__(self, *, seed: int = 0) -> None:
        self.seed = seed

    def kept(self, tokens: Tokens) -> Bools:
        block = blocks(tokens)
        counts = block_counts(tokens, block)
        candidates = np.flatnonzero(counts[:, 0])
        chosen = counts[candidates]
        cluster = kmeans(shares(chosen), CLUSTERS, seed=self.seed)
        words = np.bincount(cluster, chosen[:, 0], CLUSTERS)
        means = words / np.maximum(np.bincount(cluster, minlength=CLUSTERS), 1)
        return np.isin(block, candidates[cluster == np.argmax(means)])


def blocks(tokens: Tokens) -> Indices:
    """The number of the block that each token is in; a tag that cuts is in the one behind it."""
    return np.cumsum(is_tag_of(tokens, CUTS), dtype=np.intp)


def block_counts(tokens: Tokens, block: Indices) -> Floats:
    """float64[n_blocks, n_features]: words in the first column, then each of OCCURRENCES."""
    opens = tokens.kind == OPEN
    occurrences = [opens & is_tag_of(tokens, names) for names in OCCURRENCES]
    features = (tokens.is_word & ~linked_words(tokens), *occurrences)
    return np.stack([np.bincount(block, feature) for feature in features], axis=1)


def shares(counts: Floats) -> Floats:
    """Each row of *counts* divided by its sum; a row of zeros stays."""
    sums: Floats = counts.sum(axis=1, keepdims=True)
    return counts / np.maximum(sums, 1)
