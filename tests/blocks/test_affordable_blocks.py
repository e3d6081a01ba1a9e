"""A page has no more blocks than its length pays for."""

from __future__ import annotations

import tracemalloc

import pytest

from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.segmentation import DENSEST, MIN_BLOCKS
from scrapy_mss.extractor import Extractor

MAX_MEMORY = 140  # bytes a byte: 60, and the 72 of lxml's tree of paragraphs of a letter


def test_blocks_that_are_too_many_are_joined_and_lose_no_word() -> None:
    n = 4 * MIN_BLOCKS
    blocks = Page.of("<p>a" * n + "<p>" + "word " * 1000 + "<p>end").blocks

    assert len(blocks) <= MIN_BLOCKS
    assert blocks.words.sum() == n + 1001
    assert blocks.words.max() == 1000
    assert (blocks.first[1:] > blocks.last[:-1]).all()


@pytest.mark.parametrize("part", ["<p>a", "<p>" + "a" * DENSEST])
def test_blocks_of_short_and_of_ordinary_pages_are_not_joined(part: str) -> None:
    n = MIN_BLOCKS if part == "<p>a" else 4 * MIN_BLOCKS

    assert len(Page.of(part * n).blocks) == n


@pytest.mark.parametrize("part", ["<p>a", "<li>a b", "<td>1</td>", "<b></b>"])
def test_memory_of_dense_markup_is_bounded(part: str) -> None:
    extractor, source = Extractor(), part * (400_000 // len(part))
    extractor.extract(part * 100)
    tracemalloc.start()
    try:
        extractor.extract(source)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak <= MAX_MEMORY * len(source)
