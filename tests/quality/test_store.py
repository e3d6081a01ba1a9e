"""The counts of sites by day add up, in whatever order crawls add them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.quality.store import QualityStore, SiteDay
from scrapy_mss.storage.tables import QUALITY, QUALITY_DAYS, Store
from tests.helpers.effort import examples_in_stores
from tests.helpers.stores import put

TODAY = 40_000  # in the year 2079
COUNTS = Counter({"pages": 3, "articles": 2, "selector/title: h1": 0})
ADDITIONS = st.lists(
    st.dictionaries(
        st.tuples(st.sampled_from(["a.example", "b.example"]), st.integers(TODAY - 3, TODAY)),
        st.dictionaries(st.sampled_from(["pages", "articles"]), st.integers(0, 9)).map(Counter),
    )
)


@examples_in_stores()
@given(additions=ADDITIONS, since=st.integers(TODAY - 4, TODAY + 1))
def test_counts_add_up_by_site_and_day(
    new_store: Callable[[], Store], additions: list[dict[SiteDay, Counter[str]]], since: int
) -> None:
    store = QualityStore(new_store())
    expected: dict[str, dict[int, Counter[str]]] = {}
    for addition in additions:
        store.add(addition)
        for (site, day), counts in addition.items():
            expected.setdefault(site, {}).setdefault(day, Counter()).update(counts)

    def recent(site: str) -> dict[int, Counter[str]]:
        return {day: each for day, each in expected.get(site, {}).items() if day >= since}

    assert store.sites(since) == {site: recent(site) for site in expected if recent(site)}
    asked = ["a.example", "b.example", "c.example"]
    assert dict(store.days(asked, since)) == {site: recent(site) for site in asked}


def test_days_of_more_than_a_year_ago_are_no_longer_listed(store: Store) -> None:
    counted = QualityStore(store)
    counted.add({("a.example", TODAY - QUALITY_DAYS.days): COUNTS})
    counted.add({("a.example", TODAY): COUNTS})

    assert counted.sites(0) == {"a.example": {TODAY: COUNTS}}


@pytest.mark.parametrize("text", ["", "[]", '{"pages": "x"}', '{"pages": Infinity}', "[" * 100_000])
def test_damaged_counts_cost_their_day_alone(
    store: Store, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    counted = QualityStore(store)
    counted.add({("a.example", day): COUNTS for day in (TODAY - 1, TODAY)})
    put(store, QUALITY_DAYS.key(f"{TODAY - 1}:a.example"), text.encode(), TODAY * 1440)

    assert counted.sites(0)["a.example"][TODAY] == COUNTS
    assert "the counts of 'a.example' on a day are damaged" in caplog.text
    counted.add({("a.example", TODAY - 1): COUNTS})
    assert counted.sites(0) == {"a.example": {TODAY - 1: COUNTS, TODAY: COUNTS}}


@pytest.mark.parametrize("text", ["", "[Infinity]", "[[1]]", "[" * 100_000])
def test_a_damaged_list_of_days_begins_anew(store: Store, text: str) -> None:
    counted = QualityStore(store)
    put(store, QUALITY.key("a.example"), text.encode(), TODAY * 1440)
    assert counted.sites(0) in ({}, {"a.example": {}})

    counted.add({("a.example", TODAY): COUNTS})

    assert counted.sites(0) == {"a.example": {TODAY: COUNTS}}
