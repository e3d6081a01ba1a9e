"""The memories of sites add up, whichever crawl adds them."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_mss.sites.memory import SiteMemory
from scrapy_mss.sites.store import (
    DamagedMemoryError,
    SiteStore,
    from_bytes,
    to_bytes,
)
from scrapy_mss.storage.tables import SITES, Store
from tests.helpers.effort import examples_in_stores
from tests.helpers.layouts import PAGES
from tests.helpers.memories import NOW, full_memory, page_memory
from tests.helpers.stores import put

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


@examples_in_stores()
@given(additions=ADDITIONS)
def test_memories_add_up_and_sites_may_start_from_zero(
    new_store: Callable[[], Store], additions: list[tuple[dict[str, SiteMemory], set[str]]]
) -> None:
    store = new_store()
    expected: dict[str, SiteMemory] = {}
    for learned, forgotten in additions:
        store.write([SiteStore(store).adding(learned, NOW, forgotten)])
        for site, memory in learned.items():
            before = SiteMemory() if site in forgotten else expected.get(site, SiteMemory())
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
    assert row == b"1:a.example"  # as every release has stored it
    put(store, (SITES, row), damaged, NOW)

    assert sites.load("a.example") == SiteMemory()
    store.write([sites.adding({"a.example": OTHER, "b.example": OTHER}, NOW)])

    assert sites.load("a.example") == OTHER
    assert sites.load("b.example") == PAGE.plus(OTHER)
    (message,) = caplog.messages
    assert "'a.example' is damaged: the checksum is wrong" in message


MOST_BYTES = 64 * 1024


@given(st.lists(PAGES, max_size=4))
def test_a_memory_survives_its_bytes(pages: list[str]) -> None:
    memory = SiteMemory()
    for html in pages:
        memory = memory.plus(page_memory(html))

    assert from_bytes(to_bytes(memory)) == memory


@given(st.data())
def test_bytes_that_were_changed_or_cut_off_are_rejected(data: st.DataObject) -> None:
    whole = to_bytes(PAGE)
    place = data.draw(st.integers(0, len(whole) - 1))
    changed = bytearray(whole)
    changed[place] ^= data.draw(st.integers(1, 255))

    for damaged in (bytes(changed), whole[:place], whole + b"\0"):
        with pytest.raises(DamagedMemoryError, match=r"checksum|header"):
            from_bytes(damaged)


PLACES = st.integers(0, len(to_bytes(PAGE)) - 12)
WORDS = st.one_of(
    st.binary(min_size=8, max_size=8),
    st.integers(-(2**63), 2**63 - 1).map(struct.Struct("<q").pack),
    st.floats().map(struct.Struct("<d").pack),
)


@example([(0, struct.pack("<d", 1e308))])
@example([(0, struct.pack("<d", -1.0))])
@example([(16, struct.pack("<q", 2**62))])
@example([(16, struct.pack("<q", -(2**62)))])
@given(st.lists(st.tuples(PLACES, WORDS), max_size=3))
def test_whatever_is_read_can_be_added_to(changes: list[tuple[int, bytes]]) -> None:
    """A file or a server may hold anything, with the right checksum, too."""
    data = bytearray(to_bytes(PAGE)[:-4])
    for place, word in changes:
        data[place : place + 8] = word
    try:
        memory = from_bytes(bytes(data) + struct.pack("<I", zlib.crc32(data)))
    except DamagedMemoryError:
        return

    later = SiteMemory.total([memory.plus(PAGE), memory.at(PAGE.period + 1), PAGE])

    assert len(to_bytes(from_bytes(to_bytes(later)))) <= MOST_BYTES
