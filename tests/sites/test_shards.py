"""Each site is of one shard, on every machine and in every version."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.sites.shards import Shard, shard_of

SITES = [f"paper-{number}.example" for number in range(2000)]


@given(site=st.text(min_size=1), count=st.integers(1, 40))
def test_every_site_is_of_exactly_one_shard(site: str, count: int) -> None:
    takers = [n for n in range(1, count + 1) if Shard(n, count).takes(site)]

    assert takers == [shard_of(site, count)]


@given(site=st.text(min_size=1), count=st.integers(1, 40))
def test_one_shard_more_takes_sites_and_moves_nothing_else(site: str, count: int) -> None:
    assert shard_of(site, count + 1) in (shard_of(site, count), count + 1)


def test_shards_are_of_about_one_size() -> None:
    sizes = Counter(shard_of(site, 8) for site in SITES)

    assert sizes.keys() == set(range(1, 9))
    assert all(0.8 < size / (len(SITES) / 8) < 1.2 for size in sizes.values())


def test_the_shard_of_a_site_is_the_same_in_every_version() -> None:
    """Another hash would have each crawl read what others have read."""
    found = [shard_of(site, 8) for site in ("bbc.co.uk", "lemonde.fr", "xn--fiq.example")]

    assert found == GOLDEN


GOLDEN = [8, 5, 7]


def test_what_has_no_site_is_of_every_shard() -> None:
    assert all(Shard(n, 3).takes("") for n in range(1, 4))


@pytest.mark.parametrize("text", ["1/1", "3/8", "1000/1000"])
def test_a_shard_is_written_as_it_is_read(text: str) -> None:
    assert str(Shard.of(text)) == text


@pytest.mark.parametrize("text", ["", "3", "0/8", "9/8", "-1/8", "1/0", "1/1001", "a/b", "1/2/3"])
def test_other_texts_are_no_shards(text: str) -> None:
    with pytest.raises(ValueError, match="expected a shard such as"):
        Shard.of(text)
