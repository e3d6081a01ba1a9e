"""What one page adds to the memory of its site: the texts and the containers of its blocks.

A text is the words of a block. For each text that occurs once on the page, it records which
share of the article is before it and which after it; on the next page the article is expected on
the same side. A container is the kind of place of a block: the tags and class words of its
four innermost ancestors. Its vote is the mean probability of its blocks, either in the reading
without site memory, so that errors do not reinforce themselves, or according to a wrapper.

Each page is one observation, regardless of its length, and counts a key once even if it occurs a
hundred times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from scrapy_mss.blocks.page import Page
from scrapy_mss.core.hashing import mix
from scrapy_mss.markup.lazy import lazy
from scrapy_mss.markup.tokens import Bools, Counts, Floats, Indices, TokenIds
from scrapy_mss.sites.counts import WIDTH, KeyedCounts

# Of `BlockKeys`: raised when the keys of a page change (tests/models/test_families.py), so that
# what is stored under other keys is not used.
KEYS_VERSION = 1
CONTAINER_LEVELS = 4  # of 1 to 12 ancestors, 2 to 12 are within 1 % of the error of one another
MAX_TEXTS = 512  # of a page: what a page can push out of the memory is bounded
MIN_ARTICLE_WORDS = 20.0  # that are expected in all, for shares of them to say anything


class Groups(NamedTuple):
    """Blocks by their key: each key once, and which of them each block has."""

    keys: TokenIds  # uint64[m], ascending
    first: Indices  # intp[m]: the first block with each key
    of_block: Indices  # intp[n]
    sizes: Counts  # int64[m]: how many blocks have each key


@dataclass(frozen=True, eq=False)
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

    @lazy
    def by_text(self) -> Groups:
        """The blocks by their text."""
        return _groups(self.texts)

    @lazy
    def once(self) -> Bools:
        """bool[n]: the blocks whose text occurs once on the page."""
        once: Bools = self.by_text.sizes[self.by_text.of_block] == 1
        return once

    @lazy
    def by_container(self) -> Groups:
        """The blocks by the kind of container that they are in."""
        return _groups(self.containers)


def _groups(keys: TokenIds) -> Groups:
    return Groups(*np.unique(keys, return_index=True, return_inverse=True, return_counts=True))


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """One page's counts; the columns are named in `SiteMemory`."""

    texts: KeyedCounts
    containers: KeyedCounts


def observation(
    keys: BlockKeys, inside: Floats, minute: int, *, labelled: bool = False
) -> Observation:
    """What the page with these *keys* adds; *inside* (float64[n]) is the probability of each block.

    With *labelled*, the probabilities are 0 or 1 and what a wrapper says. *minute* is when the
    page was downloaded, in minutes since 1970.
    """
    return Observation(
        _texts(keys, keys.words * inside, minute),
        _containers(keys, inside, minute, labelled=labelled),
    )


def main_container(keys: BlockKeys, mass: Floats) -> int:
    """The key of the container with the most of the *mass* (float64[n]); 0 if there is none."""
    if not mass.any():
        return 0
    groups = keys.by_container
    return int(groups.keys[np.argmax(np.bincount(groups.of_block, mass, len(groups.keys)))])


def _texts(keys: BlockKeys, mass: Floats, minute: int) -> KeyedCounts:
    """Each text of the page: once; whether once on it; the article's shares before and after."""
    firsts = keys.by_text.first
    if len(firsts) > MAX_TEXTS:
        firsts = firsts[firsts <= np.partition(firsts, MAX_TEXTS - 1)[MAX_TEXTS - 1]]
    total = float(mass.sum())
    rows = np.zeros((len(firsts), WIDTH))
    rows[:, 0] = 1.0
    if total >= MIN_ARTICLE_WORDS:
        once = keys.once[firsts]
        through = mass.cumsum() / total
        rows[:, 1] = once
        rows[:, 2] = (through - mass / total)[firsts] * once
        rows[:, 3] = (1 - through)[firsts] * once
    return KeyedCounts.of(keys.texts[firsts], rows, minute)


def _containers(keys: BlockKeys, inside: Floats, minute: int, *, labelled: bool) -> KeyedCounts:
    """Each container of the page: once, with the mean probability of its blocks."""
    unique, _, of_block, sizes = keys.by_container
    votes = np.bincount(of_block, inside, len(unique)) / sizes
    rows = np.zeros((len(unique), WIDTH))
    rows[:, 0], rows[:, 1] = 1.0, votes
    if labelled:
        rows[:, 2:] = rows[:, :2]
    return KeyedCounts.of(unique, rows, minute)
