"""Which pages a model has learned, so that a page that is crawled again is not counted again.

A page's key is a 64-bit hash of its address and its labelled words, so a changed text is
learned again. The keys are a sorted array with a bound. Each has the number of its generation: how
many times 16,384 pages had been learned before. Beyond the bound, the keys of the oldest
generations are dropped. The union of two sets is thus bounded, commutative and idempotent.
(A bound on the keys alone, such as keeping the smallest, would forget new pages as soon as old
ones.)

A new address is mistaken for a learned one with a probability of at most 2**18 / 2**64, one in 70
trillion; a learned one with a text that differs in a single word, with one in 2**32.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.markup.tokens import Bools, TokenIds, Tokens

MAX_KEYS = 2**18  # 3 MB; five hundred articles a day of each of ten sites, for fifty days
PAGES_OF_A_GENERATION = (
    2**14
)  # a sixteenth of the bound: of so many it does not matter which go first
MAX_RECENT = 2**10  # keys that wait to be sorted in; that takes a few milliseconds
KEY_BYTES = 8
UNUSED_BITS = np.uint64(32)  # of a token's id: half the bytes to hash, which is most of the time

Generations = NDArray[np.uint32]


def page_key(address: str, tokens: Tokens, inside: Bools) -> int:
    """What names the page *address* whose article is the tokens *inside* (bool[n_tokens]).

    The address counts without its fragment, which no server sees. Words count as the model sees
    them, by their stems; tags between them do not.
    """
    page, _, _ = address.partition("#")
    words = tokens.token_id[inside & ~tokens.is_tag] >> UNUSED_BITS
    key = blake2b(words.astype("<u4").tobytes(), digest_size=KEY_BYTES)
    key.update(page.encode("utf-8", "surrogatepass"))
    return int.from_bytes(key.digest(), "little")


def generation_after(pages: int) -> int:
    """The generation of a page that is learned after so many *pages*."""
    return min(pages // PAGES_OF_A_GENERATION, 2**32 - 1)


class LearnedPages:
    """A bounded set of page keys, the most recent ones."""

    def __init__(
        self, keys: TokenIds | None = None, generations: Generations | None = None
    ) -> None:
        """The keys uint64[n], strictly ascending, and their generations uint32[n]."""
        self._keys = np.zeros(0, np.uint64) if keys is None else keys
        self._generations = np.zeros(0, np.uint32) if generations is None else generations
        self._recent: dict[int, int] = {}  # not sorted in yet

    def __contains__(self, key: int) -> bool:
        if key in self._recent:
            return True
        at = int(self._keys.searchsorted(np.uint64(key)))
        return at < len(self._keys) and int(self._keys[at]) == key

    def __len__(self) -> int:
        return len(self.arrays()[0])

    def add(self, key: int, generation: int) -> None:
        """Take in the page of this *key*."""
        self._recent[key] = max(generation, self._recent.get(key, 0))
        if len(self._recent) >= MAX_RECENT:
            self.arrays()

    def merge(self, other: LearnedPages) -> int:
        """Take in the pages of *other*; how many of them were here already."""
        (keys, generations), more = self.arrays(), other.arrays()
        n_both = int(np.isin(more[0], keys, assume_unique=True).sum())
        self._keys, self._generations = _united(
            np.concatenate((keys, more[0])), np.concatenate((generations, more[1]))
        )
        return n_both

    def arrays(self) -> tuple[TokenIds, Generations]:
        """All keys, in ascending order, and their generations."""
        if self._recent:
            keys = np.fromiter(self._recent.keys(), np.uint64, len(self._recent))
            generations = np.fromiter(self._recent.values(), np.uint32, len(self._recent))
            self._keys, self._generations = _united(
                np.concatenate((self._keys, keys)), np.concatenate((self._generations, generations))
            )
            self._recent = {}
        return self._keys, self._generations


def _united(keys: TokenIds, generations: Generations) -> tuple[TokenIds, Generations]:
    """*keys* in order, each once with the newest of its *generations*, and not too many."""
    if not len(keys):
        return keys, generations
    order = keys.argsort(kind="stable")  # of keys that are two sorted runs: it merges them
    keys, generations = keys[order], generations[order]
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    keys, generations = keys[first], np.maximum.reduceat(generations, first)
    n_excess = len(keys) - MAX_KEYS
    if n_excess <= 0:
        return keys, generations
    kept = _newest(generations, n_excess)
    return keys[kept], generations[kept]


def _newest(generations: Generations, n_excess: int) -> Bools:
    """Which of the keys, which are in ascending order, are left if *n_excess* of them go.

    The oldest generations go first, and within one the least keys, so that it does not matter in
    which order sets were united.
    """
    limit = np.partition(generations, n_excess - 1)[n_excess - 1]
    kept: Bools = generations >= limit
    kept[np.flatnonzero(generations == limit)[: n_excess - int((~kept).sum())]] = False
    return kept
