"""What one page adds to the memory of its site: the texts and the containers of its blocks.

A text is the words of a block. For each text of the page that occurs on it once, it is known which
share of the article is before it and which after it: on the next page the article is expected on
the same side. A container is the kind of place that a block is in: the tags and class words of its
four innermost ancestors. Its vote is the mean probability of its blocks by the reading that knew
nothing of the site, so that no error confirms itself, or what a wrapper says.

Each page is one observation whatever its length, and one that has the same key a hundred times
counts it once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scrapy_mss.blocks.page import Page
from scrapy_mss.core.hashing import mix
from scrapy_mss.markup.elements import Counts
from scrapy_mss.markup.tokens import Bools, Floats, TokenIds
from scrapy_mss.sites.counts import KeyedCounts

CONTAINER_LEVELS = 4  # of 1 to 12 ancestors, 2 to 12 are within 1 % of the error of one another
MAX_TEXTS = 512  # of a page: what a page can push out of the memory is bounded
MIN_ARTICLE_WORDS = 20.0  # that are expected in all, for shares of them to say anything


@dataclass(frozen=True, slots=True, eq=False)
class BlockKeys:
    """What a page's blocks are known by on other pages, and how long they are; one row a block."""

    texts: TokenIds  # uint64[n]
    containers: TokenIds  # uint64[n]
    words: Counts  # int64[n]

    @classmethod
    def of(cls, page: Page) -> BlockKeys:
        """The keys of the blocks of *page*."""
        levels = page.ancestor_keys[:CONTAINER_LEVELS]
        return cls(page.text_hashes, mix(list(levels)), page.blocks.words)

    @property
    def once(self) -> Bools:
        """bool[n]: the blocks whose text occurs once on the page."""
        _, of_key, times = np.unique(self.texts, return_inverse=True, return_counts=True)
        once: Bools = times[of_key] == 1
        return once


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """One page's counts; the columns are named in `SiteMemory`."""

    texts: KeyedCounts
    containers: KeyedCounts


def observation(page: Page, inside: Floats, minute: int, *, labelled: bool = False) -> Observation:
    """What *page* adds, with the probability *inside* (float64[n_blocks]) of each block.

    With *labelled*, the probabilities are 0 or 1 and what a wrapper says. *minute* is when the
    page was downloaded, in minutes since 1970.
    """
    keys = BlockKeys.of(page)
    return Observation(
        _texts(keys, keys.words * inside, minute),
        _containers(keys, inside, minute, labelled=labelled),
    )


def _texts(keys: BlockKeys, mass: Floats, minute: int) -> KeyedCounts:
    """Each text of the page: once; whether once on it; the article's shares before and after."""
    _, firsts = np.unique(keys.texts, return_index=True)
    firsts = np.sort(firsts)[:MAX_TEXTS]
    total = float(mass.sum())
    anchors = keys.once * (total >= MIN_ARTICLE_WORDS)
    through = np.cumsum(mass) / max(total, 1.0)
    before = through - mass / max(total, 1.0)
    after = 1 - through
    rows: Floats = np.stack((np.ones(len(mass)), anchors, before * anchors, after * anchors), 1)
    return KeyedCounts.of(keys.texts[firsts], rows[firsts], minute)


def _containers(keys: BlockKeys, inside: Floats, minute: int, *, labelled: bool) -> KeyedCounts:
    """Each container of the page: once, with the mean probability of its blocks."""
    unique, of_key = np.unique(keys.containers, return_inverse=True)
    votes = np.bincount(of_key, inside, len(unique)) / np.maximum(np.bincount(of_key), 1)
    ones = np.ones(len(unique))
    rows = np.stack((ones, votes, ones * labelled, votes * labelled), axis=1)
    return KeyedCounts.of(unique, rows, minute)
