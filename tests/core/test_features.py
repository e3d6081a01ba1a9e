from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from scrapy_mss.blocks.families import FAMILIES
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.features import TRIGRAM, UNCLOSED_TAG, UNIGRAM, Family
from tests.helpers.markup import SOUP

PAPER = (TRIGRAM, UNCLOSED_TAG, UNIGRAM)


def buckets(family: Family[Page], source: str) -> list[int]:
    found: list[int] = family.values(Page.of(source), family.bits).bucket.tolist()
    return found


@pytest.mark.parametrize("family", PAPER, ids=lambda family: family.name)
@given(source=SOUP)
def test_the_paper_s_families_have_one_value_a_token(family: Family[Page], source: str) -> None:
    page = Page.of(source)

    found = family.values(page, family.bits)

    n = len(page.tokens)
    assert found.start.tolist() == list(range(n))
    assert found.end.tolist() == list(range(1, n + 1))
    assert len(found.bucket) == n


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)
@given(source=SOUP)
def test_values_are_buckets_of_the_table_and_runs_of_tokens(
    family: Family[Page], source: str
) -> None:
    page = Page.of(source)

    found = family.values(page, family.bits)

    assert {array.dtype for array in found} == {np.dtype(np.int32)}
    assert all(0 <= bucket < 1 << family.bits for bucket in found.bucket.tolist())
    assert np.all((found.start >= 0) & (found.start < found.end))
    assert np.all(found.end <= len(page.tokens))


def test_words_of_one_stem_and_all_numbers_are_one_unigram() -> None:
    found = buckets(UNIGRAM, "Running runs 1984 7 <P CLASS=x> <p>")

    assert len(set(found)) == 3
