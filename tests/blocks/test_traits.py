"""The regression of a site, learned page by page."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_mss.blocks import traits as module
from scrapy_mss.blocks.page import Page
from scrapy_mss.blocks.traits import MOST, TRAIT_BITS, Coefficients, traits
from scrapy_mss.core.naive_bayes import log_odds
from scrapy_mss.markup.tokens import Bools, Floats, TokenIds
from tests.helpers.layouts import PAGES

NONE = Coefficients(np.zeros(0, np.uint64), np.zeros(0), np.zeros(0))

N_TRAITS = 3
BLOCKS = st.lists(
    st.tuples(
        st.lists(st.integers(0, 5), min_size=N_TRAITS, max_size=N_TRAITS),
        st.booleans(),
        st.floats(0.01, 0.99),
        st.floats(0.1, 5),
    ),
    min_size=1,
    max_size=12,
)


def arrays(
    blocks: list[tuple[list[int], bool, float, float]],
) -> tuple[TokenIds, Bools, Floats, Floats]:
    trait, inside, probability, weight = zip(*blocks, strict=True)
    return np.array(trait, np.uint64).T, np.array(inside), np.array(probability), np.array(weight)


def plus(known: Coefficients, more: Coefficients) -> Coefficients:
    """Both added, by trait."""
    names, at = np.unique(np.concatenate((known.trait, more.trait)), return_inverse=True)
    curvature, moment = (
        np.bincount(at, np.concatenate(both), len(names)).astype(float)
        for both in ((known.curvature, more.curvature), (known.moment, more.moment))
    )
    return Coefficients(names, curvature, moment)


def loss(page: tuple[TokenIds, Bools, Floats, Floats], known: Coefficients) -> float:
    trait, inside, probability, weight = page
    odds = log_odds(probability) + known.of(trait)[1].sum(axis=0)
    return float(weight @ (np.logaddexp(0, odds) - inside * odds))


@given(BLOCKS, BLOCKS)
def test_a_learned_page_is_read_no_worse_than_before(
    first: list[tuple[list[int], bool, float, float]],
    second: list[tuple[list[int], bool, float, float]],
) -> None:
    known = NONE
    for page in map(arrays, (first, second)):
        before = loss(page, known)

        known = plus(known, known.learned(*page))

        # Coefficients that are not worth a row are left out.
        assert loss(page, known) <= before + module.LEAST * N_TRAITS * page[3].sum()


@given(BLOCKS, BLOCKS)
def test_pages_learned_at_once_give_the_mean_of_their_coefficients(
    first: list[tuple[list[int], bool, float, float]],
    second: list[tuple[list[int], bool, float, float]],
) -> None:
    one, other = (NONE.learned(*arrays(page)) for page in (first, second))

    both = plus(one, other)

    names = both.trait
    (curvature_a, a), (curvature_b, b) = one.of(names), other.of(names)
    total = curvature_a + curvature_b
    assert np.allclose(both.of(names)[1], (curvature_a * a + curvature_b * b) / total)


@given(BLOCKS)
def test_a_correction_is_bounded(blocks: list[tuple[list[int], bool, float, float]]) -> None:
    trait, *_ = arrays(blocks)
    known = Coefficients(np.arange(6, dtype=np.uint64), np.ones(6), np.array([9.0, -9] * 3))

    assert np.abs(known.correction(trait)).max() <= MOST
    assert not NONE.correction(trait).any()


@settings(max_examples=30)
@given(PAGES, st.integers(0, 99))
def test_every_block_has_its_traits(source: str, seed: int) -> None:
    page = Page.of(source, url="https://a.example/")
    n = len(page.blocks)
    if not n:
        return

    found = traits(page, np.random.default_rng(seed).random(n) < 0.5)

    assert found.shape[1] == n
    assert found.min() >= module.FIRST_TRAIT
    assert found.max() < 2**TRAIT_BITS


def test_blocks_alike_have_the_traits_in_common_in_which_they_are_alike() -> None:
    source = "<p>One line here.</p><p>One line here.</p><ul><li>Not like these two lines.</ul>"
    page = Page.of(source)

    one, same, other = traits(page, np.array([True, True, False])).T

    assert 0 < np.count_nonzero(one == same) < len(one)  # but not their places from either end
    assert np.count_nonzero(one == other) < np.count_nonzero(one == same)
