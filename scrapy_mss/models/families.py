"""The feature families that a model can count, by name: the paper's and those of layout.

A family's version is raised by hand when its values change; `tests/models/test_families.py` fails
where that was forgotten. Counts of different versions are never added.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.blocks.layout_families import CLASS_WORDS, SHAPE
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.features import TRIGRAM, UNCLOSED_TAG, UNIGRAM, Family
from scrapy_mss.core.naive_bayes import MAX_COUNT, NaiveBayes, Table

FAMILIES: dict[str, Family[Page]] = {
    family.name: family for family in (TRIGRAM, UNCLOSED_TAG, UNIGRAM, SHAPE, CLASS_WORDS)
}


def new_counts(names: Sequence[str]) -> NaiveBayes[Page]:
    """Empty counts for the families of these *names*."""
    return NaiveBayes([FAMILIES[name] for name in names])


class OtherFamily(NamedTuple):
    """Stored counts of a family that this version of the library does not compute."""

    pages: int
    buckets: NDArray[np.int64]  # [n], ascending
    counts: Table  # uint32[n, 2]

    def plus(self, more: OtherFamily) -> OtherFamily:
        """Both added, up to the greatest count."""
        both = np.concatenate((self.buckets, more.buckets))
        buckets, at = np.unique(both, return_inverse=True)
        total = np.zeros((len(buckets), 2), np.uint64)
        np.add.at(total, at, np.concatenate((self.counts, more.counts)))
        counts = np.minimum(total, MAX_COUNT).astype(np.uint32)
        return OtherFamily(self.pages + more.pages, buckets, counts)
