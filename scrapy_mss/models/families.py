"""The feature families that a model can count, by name: the paper's and those of layout."""

from __future__ import annotations

from collections.abc import Sequence

from scrapy_mss.blocks.layout_families import CLASS_WORDS, SHAPE
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.features import TRIGRAM, UNCLOSED_TAG, UNIGRAM, Family
from scrapy_mss.core.naive_bayes import NaiveBayes

FAMILIES: dict[str, Family[Page]] = {
    family.name: family for family in (TRIGRAM, UNCLOSED_TAG, UNIGRAM, SHAPE, CLASS_WORDS)
}


def new_counts(names: Sequence[str]) -> NaiveBayes[Page]:
    """Empty counts for the families of these *names*."""
    return NaiveBayes([FAMILIES[name] for name in names])
