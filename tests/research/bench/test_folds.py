from __future__ import annotations

from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from research.bench.folds import assign

SITES = st.lists(st.sampled_from([f"{name}.example" for name in "abcdefgh"]), min_size=1)


@given(SITES, st.integers(2, 5))
def test_pages_of_a_site_share_a_fold(sites: list[str], folds: int) -> None:
    found = assign(sites, folds)

    assert all(0 <= fold < folds for fold in found)
    assert len(set(zip(sites, found, strict=True))) == len(set(sites))


@given(SITES, st.integers(2, 5), st.randoms(use_true_random=False))
def test_the_order_of_the_pages_changes_nothing(
    sites: list[str], folds: int, shuffler: Random
) -> None:
    before = dict(zip(sites, assign(sites, folds), strict=True))

    shuffler.shuffle(sites)

    assert dict(zip(sites, assign(sites, folds), strict=True)) == before


@given(SITES, st.integers(2, 5))
def test_folds_differ_by_no_more_than_the_largest_site(sites: list[str], folds: int) -> None:
    sizes = Counter(assign(sites, folds))

    counts = [sizes[fold] for fold in range(folds)]

    assert max(counts) - min(counts) <= max(Counter(sites).values())


@given(SITES, st.integers(2, 5))
def test_no_fold_is_empty_where_there_are_sites_enough(sites: list[str], folds: int) -> None:
    if len(set(sites)) >= folds:
        assert set(assign(sites, folds)) == set(range(folds))
