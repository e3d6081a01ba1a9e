"""The memory of one site: additive, bounded, decaying counts of its pages; no page is stored.

Below the bounds the same pages give the same memory in any order, and the memories of two crawls
are merged by addition. Counts are halved at the end of each period. All counts of a memory are
in units of its own period, and adding an older memory scales it by a power of two, without
rounding, so nothing has to be rewritten as time passes.

A page is one observation, whatever its length, and counts a key once even if it occurs a hundred
times. A text is the words of a block: for each text that occurs once on the page, it is counted
which share of the article is before it and which after it; on the next page the article is expected
on the same side. A container is the kind of place of a block: the tags and class words of its four
innermost ancestors. Its vote is the mean probability of its blocks, either in the reading without
site memory, so that errors do not reinforce themselves, or according to a wrapper.

Counts are multiples of 1/256 on a scale of powers of two, which float32 adds without rounding until
a row has seen some 60,000 pages. A table that exceeds its bound drops rows seen once before others,
and among these the least recently seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.page import Page
from scrapy_mss.markup.compiled import accelerated
from scrapy_mss.markup.lazy import lazy
from scrapy_mss.markup.tokens import Bools, Counts, Floats, Indices, TokenIds
from scrapy_mss.pages.addresses import MAX_SHAPE_BYTES
from scrapy_mss.sites.address_counts import NO_ADDRESSES, ONCE, QUANTUM, AddressCounts

Rows = NDArray[np.float32]
Minutes = NDArray[np.uint32]

WIDTH = 4  # counts a row
SEEN = 0  # the column with the number of pages, in every table
VOTES = 1  # and that of containers with the sum of their votes


@dataclass(frozen=True, slots=True, eq=False)
class KeyedCounts:  # noqa: PLW1641 - arrays have no hash
    """Counts by key: parallel arrays in the order of the keys, each key once."""

    keys: TokenIds  # uint64[n], ascending
    rows: Rows  # float32[n, WIDTH]
    seen: Minutes  # uint32[n]: the minute in which each was last seen

    @classmethod
    def none(cls) -> KeyedCounts:
        return _NO_COUNTS

    @classmethod
    def of(cls, keys: TokenIds, rows: Floats, minute: int) -> KeyedCounts:
        """A table of *rows* (float64[n, WIDTH]) seen in *minute*, in the order of their *keys*.

        Each key is there once.
        """
        return cls(keys, _quantized(rows), np.full(len(keys), minute, np.uint32))

    def __len__(self) -> int:
        return len(self.keys)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KeyedCounts):
            return NotImplemented
        return (
            np.array_equal(self.keys, other.keys)
            and np.array_equal(self.rows, other.rows)
            and np.array_equal(self.seen, other.seen)
        )

    def plus(self, other: KeyedCounts) -> KeyedCounts:
        if not len(self) or not len(other):
            return self if len(self) else other
        return KeyedCounts(*_added(self, other))

    def scaled(self, halvings: int) -> KeyedCounts:
        """The table with every count halved so many times; rows that count nothing are gone."""
        if not halvings:
            return self
        halved = replace(self, rows=np.ldexp(self.rows, -halvings).astype(np.float32))
        return halved.chosen(np.flatnonzero(halved.rows[:, SEEN] * QUANTUM >= 1))

    def bounded(self, limit: int) -> KeyedCounts:
        """The table itself if it has at most *limit* rows, else those most worth keeping.

        An eighth of the limit is freed at once, so that not every page has to look for the worst.
        """
        if len(self) <= limit:
            return self
        kept = limit - limit // 8
        worth = np.lexsort((self.keys, self.seen, self.rows[:, SEEN] >= ONCE))
        return self.chosen(np.sort(worth[len(self) - kept :]))

    def chosen(self, places: Indices) -> KeyedCounts:
        """The rows at *places* (intp[n], ascending)."""
        return KeyedCounts(self.keys[places], self.rows[places], self.seen[places])

    def find(self, keys: TokenIds) -> Floats:
        """float64[WIDTH, n]: the counts of *keys* (uint64[n]); 0 where a key is unknown."""
        return _found(self.keys, self.rows, keys)


def _quantized(rows: Floats) -> Rows:
    """*rows* in whole parts of a page, which any order of adding leaves exact."""
    return (np.rint(rows * QUANTUM) / QUANTUM).astype(np.float32)


@accelerated()
def _added(one: KeyedCounts, other: KeyedCounts) -> tuple[TokenIds, Rows, Minutes]:
    """The keys, rows and minutes of both tables added, of which none is empty."""
    keys = np.union1d(one.keys, other.keys)
    added = np.full((len(keys), WIDTH), -0.0, np.float32)  # what no number is changed by
    latest = np.zeros(len(keys), np.uint32)
    for each in (one, other):
        places = keys.searchsorted(each.keys)
        added[places] += each.rows
        latest[places] = np.maximum(latest[places], each.seen)
    return keys, added, latest


@accelerated()
def _found(keys: TokenIds, rows: Rows, sought: TokenIds) -> Floats:
    """float64[WIDTH, n]: the *rows* of those *sought* among the ascending *keys*, else 0."""
    if not len(keys):
        return np.zeros((WIDTH, len(sought)))
    places = keys.searchsorted(sought)
    known = keys.take(places, mode="clip") == sought
    found = rows.take(places, axis=0, mode="clip") * known[:, np.newaxis]
    counts: Floats = found.T.astype(np.float64, order="C")
    return counts


_NO_COUNTS = KeyedCounts(
    np.zeros(0, np.uint64), np.zeros((0, WIDTH), np.float32), np.zeros(0, np.uint32)
)


# Of `BlockKeys`: raised when the keys of a page change (tests/blocks/test_families.py), so that
# what is stored under other keys is not used.
KEYS_VERSION = 1
MAX_PAGE_TEXTS = 512  # of a page: what a page can push out of the memory is bounded
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
        return cls(page.text_hashes, page.container_keys, page.blocks.words)

    @lazy
    def by_text(self) -> Groups:
        return Groups(*_groups(self.texts))

    @lazy
    def once(self) -> Bools:
        """bool[n]: the blocks whose text occurs once on the page."""
        once: Bools = self.by_text.sizes[self.by_text.of_block] == 1
        return once

    @lazy
    def by_container(self) -> Groups:
        return Groups(*_groups(self.containers))


@accelerated()
def _groups(keys: TokenIds) -> tuple[TokenIds, Indices, Indices, Counts]:
    return np.unique(keys, return_index=True, return_inverse=True, return_counts=True)


def main_container(keys: BlockKeys, mass: Floats) -> int:
    """The key of the container with the most of the *mass* (float64[n]); 0 if there is none."""
    if not len(mass):
        return 0
    groups = keys.by_container
    total = np.bincount(groups.of_block, mass)
    place = total.argmax()
    return int(groups.keys[place]) if total[place] > 0 else 0


def _texts(keys: BlockKeys, mass: Floats, minute: int) -> KeyedCounts:
    """Each text of the page: once; whether once on it; the article's shares before and after."""
    (texts, firsts, of_block, sizes), total = keys.by_text, float(np.add.reduce(mass))
    rows = _text_rows(of_block, sizes, mass, total if total >= MIN_ARTICLE_WORDS else 0.0)
    if len(firsts) > MAX_PAGE_TEXTS:
        is_kept = firsts <= np.partition(firsts, MAX_PAGE_TEXTS - 1)[MAX_PAGE_TEXTS - 1]
        texts, rows = texts[is_kept], rows[is_kept]
    return KeyedCounts(texts, rows, np.full(len(texts), minute, np.uint32))


@accelerated()
def _text_rows(of_block: Indices, sizes: Counts, mass: Floats, total: float) -> Rows:
    """The rows of the texts *of_block*, of such *sizes*; without a *total* there are no shares."""
    rows = np.zeros((len(sizes), WIDTH))
    rows[:, 0] = 1.0
    if total:
        through, once = mass.cumsum() / total, sizes[of_block] == 1
        shares = np.stack((once, through - mass / total, 1 - through), axis=1)
        rows[of_block[once], 1:] = shares[once]
    return _quantized(rows)


def _containers(keys: BlockKeys, inside: Floats, minute: int, *, labelled: bool) -> KeyedCounts:
    """Each container of the page: once, with the mean probability of its blocks."""
    unique, _, of_block, sizes = keys.by_container
    votes = np.bincount(of_block, inside, len(unique)) / sizes
    rows = np.zeros((len(unique), WIDTH))
    rows[:, 0], rows[:, 1] = 1.0, votes
    if labelled:
        rows[:, 2:] = rows[:, :2]
    return KeyedCounts.of(unique, rows, minute)


MINUTES_A_DAY = 24 * 60
# Chosen, not measured: sites change their layouts once in some years, boxes once in some weeks.
PERIOD_DAYS = 30
# All tables together are below 64 KB.
ROW_SIZE = 28  # bytes
SMALLEST_SIZE = 1000  # bytes of a memory without rows, mostly of objects
LARGEST_SHAPE = MAX_SHAPE_BYTES + 24  # bytes of a shape and its counts
MAX_TEXTS = 1500
MAX_CONTAINERS = 500


@dataclass(frozen=True, slots=True)
class SiteMemory:
    """What is known of a site.

    ``texts``: pages with the text; pages with the text once; of these, the sums of the shares of
    the article before it and after it. ``containers``: pages with the container, the sum of its
    votes; the same of labelled pages alone. ``addresses``: by shape, all pages and articles.
    ``pages`` are those with an article.
    """

    pages: float = 0.0
    labelled_pages: float = 0.0
    period: int = 0
    texts: KeyedCounts = field(default_factory=KeyedCounts.none)
    containers: KeyedCounts = field(default_factory=KeyedCounts.none)
    addresses: AddressCounts = NO_ADDRESSES

    def __bool__(self) -> bool:
        return bool(self.pages or self.addresses)

    @property
    def size(self) -> int:
        """About how many bytes it takes, in memory and in a file."""
        rows = len(self.texts) + len(self.containers)
        return SMALLEST_SIZE + rows * ROW_SIZE + len(self.addresses) * LARGEST_SHAPE

    @classmethod
    def of_page(
        cls, keys: BlockKeys, inside: Floats, minute: int, *, labelled: bool = False
    ) -> SiteMemory:
        """The memory of a single page with an article, by the *keys* of its blocks.

        *inside* (float64[n]) is the probability of each block; with *labelled*, it is 0 or 1 and
        what a wrapper says. *minute* is when the page was downloaded, in minutes since 1970.
        """
        return cls(
            1.0,
            float(labelled),
            period_of(minute),
            _texts(keys, keys.words * inside, minute),
            _containers(keys, inside, minute, labelled=labelled).bounded(MAX_CONTAINERS),
        )

    def plus(self, other: SiteMemory) -> SiteMemory:
        """Both memories added, within the bounds."""
        period = max(self.period, other.period)
        one, other = self.at(period), other.at(period)
        return SiteMemory(
            one.pages + other.pages,
            one.labelled_pages + other.labelled_pages,
            period,
            one.texts.plus(other.texts).bounded(MAX_TEXTS),
            one.containers.plus(other.containers).bounded(MAX_CONTAINERS),
            one.addresses.plus(other.addresses),
        )

    @classmethod
    def total(cls, memories: Iterable[SiteMemory]) -> SiteMemory:
        """All *memories* added, within the bounds, beyond which their order does not count."""
        memories = list(memories)
        period = max((each.period for each in memories), default=0)
        known = [each.at(period) for each in memories]
        texts, containers = (each.texts for each in known), (each.containers for each in known)
        return cls(
            sum(each.pages for each in known),
            sum(each.labelled_pages for each in known),
            period,
            reduce(KeyedCounts.plus, texts, KeyedCounts.none()).bounded(MAX_TEXTS),
            reduce(KeyedCounts.plus, containers, KeyedCounts.none()).bounded(MAX_CONTAINERS),
            reduce(AddressCounts.plus, (each.addresses for each in known), AddressCounts()),
        )

    def at(self, period: int) -> SiteMemory:
        """The memory as it counts in *period*; a past one changes nothing."""
        halvings = max(period - self.period, 0)
        if not halvings:
            return self
        if not self:
            return SiteMemory(period=period)
        share = 0.5**halvings
        return SiteMemory(
            self.pages * share,
            self.labelled_pages * share,
            period,
            self.texts.scaled(halvings),
            self.containers.scaled(halvings),
            self.addresses.scaled(halvings),
        )


def period_of(minute: int) -> int:
    """The number of the period that *minute*, in minutes since 1970, is in."""
    return minute // (PERIOD_DAYS * MINUTES_A_DAY)
