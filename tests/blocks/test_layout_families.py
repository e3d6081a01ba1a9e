from __future__ import annotations

from collections import Counter
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.families import CLASS_WORDS, SHAPE
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.hashing import MULTIPLIERS, buckets
from scrapy_mss.core.naive_bayes import NaiveBayes
from scrapy_mss.markup.attributes import class_words
from scrapy_mss.markup.tags import BLOCK_TAGS
from scrapy_mss.markup.tokens import OPEN
from tests.helpers.effort import examples
from tests.helpers.layouts import PAGES, tag_of


def bucket_of(word: str) -> int:
    hashed = np.array([crc32(word.encode())], np.uint64) * MULTIPLIERS[0]
    return int(buckets(hashed, CLASS_WORDS.bits)[0])


@given(PAGES, st.integers(0, 99))
@examples(2)
def test_class_words_are_counted_for_every_token_of_every_element(source: str, seed: int) -> None:
    page = Page.of(source)
    tokens = page.tokens
    inside = np.random.default_rng(seed).random(len(tokens)) < 0.5
    expected: Counter[tuple[int, bool]] = Counter()
    for at in range(len(tokens)):
        close = int(tokens.partner[at])
        if tokens.kind[at] == OPEN and close >= 0 and tag_of(tokens, at) in BLOCK_TAGS:
            for word in class_words(tokens.html(at, at + 1)):
                expected.update((bucket_of(word), is_in) for is_in in inside[at:close].tolist())
    bayes = NaiveBayes([CLASS_WORDS])

    bayes.learn(page, inside)

    counts = bayes.counts[CLASS_WORDS.name]
    found = {(int(b), bool(c)): int(counts[b, c]) for b, c in np.argwhere(counts)}
    assert found == dict(expected)


def shapes(*sizes: int, linked: int = 0) -> list[int]:
    """The shapes of paragraphs of so many words, the first *linked* of each in a link."""
    paragraphs = (f"<p><a>{'one ' * linked}</a>{'one ' * (n - linked)}</p>" for n in sizes)
    return list(SHAPE.values(Page.of("".join(paragraphs)), SHAPE.bits).bucket.tolist())


def test_blocks_of_one_length_between_blocks_of_one_length_have_one_shape() -> None:
    first, *middle, last = shapes(*[20] * 6)

    assert len({first, *middle, last}) == 3
    assert len(set(middle)) == 1


@pytest.mark.parametrize(
    "others",
    [shapes(40, 80, 40), shapes(20, 40, 40), shapes(40, 40, 20), shapes(40, 40, 40, linked=40)],
    ids=["longer", "after a shorter one", "before a shorter one", "linked"],
)
def test_the_shape_is_of_the_length_the_links_and_the_neighbours(others: list[int]) -> None:
    assert others[1] != shapes(40, 40, 40)[1]
