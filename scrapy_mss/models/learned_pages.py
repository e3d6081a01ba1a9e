"""Which pages a model has learned, so that a page that is crawled again is not counted again.

A page's key is 64 bits of a hash of its address and its labelled words, so a text that changed is
learned again. The keys are a sorted array with a bound. Each has an age: how many thousands of
pages had been learned when it came. Of too many keys those of the greatest age are kept. So the
union of two sets does not depend on their order, is bounded, and is the same however often one of
them is added. A bound on keys alone, as the least ones, would forget new pages as soon as old.

A page is wrongly taken as learned with a probability of at most 2**18 / 2**64, one in 70 trillion.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.markup.tokens import Bools, TokenIds, Tokens

MAX_KEYS = 2**18  # 3 MB; five hundred articles a day of each of ten sites, for fifty days
PAGES_OF_AN_AGE = 2**14  # a sixteenth of the bound is what may be forgotten a little too early
MAX_RECENT = 2**10  # keys that wait to be sorted in; that takes a few milliseconds
KEY_BYTES = 8

Ages = NDArray[np.uint32]


def page_key(address: str, tokens: Tokens, inside: Bools) -> int:
    """What names the page *address* whose article is the tokens *inside* (bool[n_tokens]).

    The address counts without its fragment, which no server sees. Words count as the model sees
    them, by their stems; tags between them do not.
    """
    page, _, _ = address.partition("#")
    words = tokens.token_id[inside & ~tokens.is_tag]
    key = blake2b(words.astype("<u8").tobytes(), digest_size=KEY_BYTES)
    key.update(page.encode("utf-8", "surrogatepass"))
    return int.from_bytes(key.digest(), "little")


def age_after(pages: int) -> int:
    """The age of a page that is learned when *pages* have been."""
    return min(pages // PAGES_OF_AN_AGE, 2**32 - 1)


class LearnedPages:
    """A bounded set of page keys, the most recent ones."""

    def __init__(self, keys: TokenIds | None = None, ages: Ages | None = None) -> None:
        """The keys uint64[n], strictly ascending, and their ages uint32[n]."""
        self._keys = np.zeros(0, np.uint64) if keys is None else keys
        self._ages = np.zeros(0, np.uint32) if ages is None else ages
        self._recent: dict[int, int] = {}  # not sorted in yet

    def __contains__(self, key: int) -> bool:
        if key in self._recent:
            return True
        at = int(self._keys.searchsorted(np.uint64(key)))
        return at < len(self._keys) and int(self._keys[at]) == key

    def __len__(self) -> int:
        return len(self.arrays()[0])

    def add(self, key: int, age: int) -> None:
        """Take in the page of this *key*."""
        self._recent[key] = max(age, self._recent.get(key, 0))
        if len(self._recent) >= MAX_RECENT:
            self.arrays()

    def merge(self, other: LearnedPages) -> int:
        """Take in the pages of *other*; how many of them were here already."""
        (keys, ages), more = self.arrays(), other.arrays()
        n_both = int(np.isin(more[0], keys, assume_unique=True).sum())
        self._keys, self._ages = _united(
            np.concatenate((keys, more[0])), np.concatenate((ages, more[1]))
        )
        return n_both

    def arrays(self) -> tuple[TokenIds, Ages]:
        """All keys, in ascending order, and their ages."""
        if self._recent:
            keys = np.fromiter(self._recent.keys(), np.uint64, len(self._recent))
            ages = np.fromiter(self._recent.values(), np.uint32, len(self._recent))
            self._keys, self._ages = _united(
                np.concatenate((self._keys, keys)), np.concatenate((self._ages, ages))
            )
            self._recent = {}
        return self._keys, self._ages


def _united(keys: TokenIds, ages: Ages) -> tuple[TokenIds, Ages]:
    """*keys* in order, each once and with the greatest of its *ages*, and not too many of them."""
    order = np.lexsort((ages, keys))
    keys, ages = keys[order], ages[order]
    is_last = np.append(keys[1:] != keys[:-1], True)[: len(keys)]
    keys, ages = keys[is_last], ages[is_last]
    if len(keys) > MAX_KEYS:
        kept = np.sort(np.lexsort((keys, ages))[-MAX_KEYS:])
        keys, ages = keys[kept], ages[kept]
    return keys, ages
