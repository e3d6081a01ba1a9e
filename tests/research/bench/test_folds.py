from __future__ import annotations

from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from research.bench.folds import assign

SITES = st.lists(st.sampled_from([f"{name}.example" for name in "abcdefgh"]), min_size=1)


@given(SITES, st.integers(2, 5), st.randoms(use_true_random=False))
def test_folds_are_about_as_large_and_no_site_is_in_two(
    sites: list[str], folds: int, shuffler: Random
) -> None:
    found = assign(sites, folds)
    fold_of = dict(zip(sites, found, strict=True))
    counts = [found.count(fold) for fold in range(folds)]

    assert found == [fold_of[site] for site in sites]
    assert sum(counts) == len(sites)
    assert max(counts) - min(counts) <= max(Counter(sites).values())
    assert len(fold_of) < folds or min(counts) > 0
    shuffler.shuffle(sites)
    assert dict(zip(sites, assign(sites, folds), strict=True)) == fold_of
