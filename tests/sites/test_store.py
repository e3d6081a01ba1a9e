"""The memories of sites add up, whichever crawl adds them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scrapy_mss.sites.memory import SiteMemory
from scrapy_mss.sites.store import SiteStore, to_bytes
from scrapy_mss.storage.tables import SITES, Store
from tests.helpers.memories import NOW, full_memory, page_memory
from tests.helpers.stores import new_store, put, redis_address, store, store_name

__all__ = ["new_store", "redis_address", "store", "store_name"]  # fixtures

PAGE = page_memory("<main><p>One two</p><p>Three</p></main>")
OTHER = page_memory("<main><p>Four</p></main>")
NAMES = ["a.example", "b.example", "\udcff.example"]
ADDITIONS = st.lists(
    st.tuples(
        st.dictionaries(st.sampled_from(NAMES), st.sampled_from([PAGE, OTHER])),
        st.sets(st.sampled_from(NAMES), max_size=1),
    ),
    max_size=6,
)


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(additions=ADDITIONS)
def test_memories_add_up_and_sites_may_begin_anew(
    new_store: Callable[[], Store], additions: list[tuple[dict[str, SiteMemory], set[str]]]
) -> None:
    store = new_store()
    expected: dict[str, SiteMemory] = {}
    for learned, anew in additions:
        store.write([SiteStore(store).adding(learned, NOW, anew)])
        for site, memory in learned.items():
            before = SiteMemory() if site in anew else expected.get(site, SiteMemory())
            expected[site] = before.plus(memory)

    sites = SiteStore(store)
    assert {site: sites.load(site) for site in NAMES} == {
        site: expected.get(site, SiteMemory()) for site in NAMES
    }
    found = [(each.name, each.used, each.size) for each in sites.sites()]
    assert sorted(found) == sorted(
        (site, NOW, len(to_bytes(memory))) for site, memory in expected.items()
    )


def test_a_full_site_takes_at_most_64_kilobytes(store: Store) -> None:
    store.write([SiteStore(store).adding({"a.example": full_memory()}, NOW)])

    (site,) = SiteStore(store).sites()
    assert site.size <= 2**16


@pytest.mark.parametrize("damaged", [b"\0", b"\xff" * 99])
def test_a_damaged_memory_is_replaced_and_costs_no_other_site_its_own(
    store: Store, damaged: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    sites = SiteStore(store)
    store.write([sites.adding({"a.example": PAGE, "b.example": PAGE}, NOW)])
    (row,) = (key for key in store.used_since(SITES, 0) if key.endswith(b"a.example"))
    put(store, (SITES, row), damaged, NOW)

    assert sites.load("a.example") == SiteMemory()
    store.write([sites.adding({"a.example": OTHER, "b.example": OTHER}, NOW)])

    assert sites.load("a.example") == OTHER
    assert sites.load("b.example") == PAGE.plus(OTHER)
    (message,) = caplog.messages
    assert "'a.example' is damaged: the checksum is wrong" in message
