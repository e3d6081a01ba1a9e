from __future__ import annotations

from itertools import pairwise
from zlib import crc32

import numpy as np
import pytest

from research.datasets.pages import Example
from research.training.examples import (
    COPIED,
    FEWEST_WORDS,
    MOST_WORDS,
    SYNTHETIC_WEIGHT,
    TrainingExample,
    training_examples,
)
from scrapy_mss.blocks.page import Page
from tests.helpers.news_pages import news_page

N = 30


def examples(n: int = N, site: str = "one") -> list[Example]:
    pages = (news_page(number, site=site) for number in range(n))
    return [Example(page.html, page.text, site) for page in pages]


@pytest.fixture(scope="module")
def learned() -> list[TrainingExample]:
    """What the training takes from the pages of one site."""
    return list(training_examples(examples()))


def test_a_third_of_the_pages_gives_a_stripped_copy_with_the_same_words_inside(
    learned: list[TrainingExample],
) -> None:
    copied = [(page, copy) for page, copy in pairwise(learned) if copy.synthetic]

    chosen = {one.html for one in examples() if crc32(one.text.encode()) % COPIED == 1}
    assert 0 < len(copied) == len(chosen) < N
    for page, copy in copied:
        assert page.page.tokens.source in chosen
        assert copy.page.tokens.words() == page.page.tokens.words()
        assert copy.site == page.site
        inside = [each.page.tokens.is_word & each.token_labels for each in (page, copy)]
        assert inside[0].sum() == inside[1].sum()


def test_all_pages_weigh_the_same_and_their_blocks_by_words(learned: list[TrainingExample]) -> None:
    for each in learned:
        assert each.weights.sum() == pytest.approx(SYNTHETIC_WEIGHT if each.synthetic else 1.0)
    page = Page.of(f"<p>{'one ' * (MOST_WORDS + 50)}<p>{'one ' * MOST_WORDS}<p>one")

    weights = TrainingExample(page, np.ones(3, np.bool_), "").weights

    assert weights[0] == weights[1]
    assert weights[2] / weights[0] == pytest.approx(
        (1 + FEWEST_WORDS) / (MOST_WORDS + FEWEST_WORDS)
    )
