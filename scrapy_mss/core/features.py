"""What a page tells about its tokens: families of features, and the paper's three.

A family maps a page to *values*: each is a bucket of the family's count table and the run of
tokens that has it. A trigram is the value of one token; a class word is the value of all tokens of
its element, and a token has as many as its ancestors have. Classifier and file format know
families by these objects alone.

Trigrams get 2**22 buckets, 32 MiB of two 32-bit counts: of the 4 million distinct trigrams of 800
modern pages about four in ten share a bucket, which costs less than .001 F1 against 2**24. Tags
are few and have a bucket each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from scrapy_mss.core.hashing import buckets, buckets_of_ids, mix
from scrapy_mss.markup.tokens import Ints, Tokens


class Tokenized(Protocol):
    """What the paper's families need of a page."""

    @property
    def tokens(self) -> Tokens: ...


PageT = TypeVar("PageT", bound=Tokenized)
PageT_contra = TypeVar("PageT_contra", bound=Tokenized, contravariant=True)


class Values(NamedTuple):
    """The values of one family on a page: tokens ``start`` … ``end``-1 have the ``bucket``."""

    bucket: Ints  # int32[n]
    start: Ints
    end: Ints

    @classmethod
    def of_tokens(cls, bucket: Ints) -> Values:
        """One value a token."""
        at = np.arange(len(bucket) + 1, dtype=np.int32)
        return cls(bucket, at[:-1], at[1:])


@dataclass(frozen=True, slots=True)
class Family(Generic[PageT_contra]):
    """A kind of feature; ``values`` has buckets below 2**bits.

    ``smoothing`` is added to both counts of a bucket: as many tokens of doubt. ``version`` is
    raised when the values of a page change, so that stored counts of other values are not used.
    """

    name: str
    bits: int
    values: Callable[[PageT_contra, int], Values]
    smoothing: float = 0.5
    version: int = 1


def unigram(page: Tokenized, bits: int) -> Values:
    """The token itself."""
    return Values.of_tokens(buckets_of_ids(page.tokens.token_id, bits))


def trigram(page: Tokenized, bits: int) -> Values:
    """The token and the two after it; after the page's end there are zeros."""
    ids = np.append(page.tokens.token_id, np.zeros(2, np.uint64))
    return Values.of_tokens(buckets(mix((ids[:-2], ids[1:-1], ids[2:])), bits))


def unclosed_tag(page: Tokenized, bits: int) -> Values:
    """The name of the most recent unclosed tag; the last bucket is for none."""
    tags = np.append(page.tokens.tag.astype(np.int32), np.int32((1 << bits) - 1))
    return Values.of_tokens(tags[page.tokens.unclosed])


UNIGRAM = Family("unigram", 20, unigram)
TRIGRAM = Family("trigram", 22, trigram)
UNCLOSED_TAG = Family("unclosed_tag", 9, unclosed_tag)
