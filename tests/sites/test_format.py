from __future__ import annotations

import struct
import zlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scrapy_mss.sites.memory import SiteMemory
from scrapy_mss.sites.store import DamagedMemoryError, from_bytes, packed, to_bytes, unpacked
from tests.helpers.layouts import PAGES
from tests.helpers.memories import full_memory, page_memory

MOST_BYTES = 64 * 1024
PAGE = page_memory("<main><p>One two</p><p>Three</p></main>")


@given(st.lists(PAGES, max_size=4))
def test_a_memory_survives_its_bytes(pages: list[str]) -> None:
    memory = SiteMemory()
    for html in pages:
        memory = memory.plus(page_memory(html))

    assert from_bytes(to_bytes(memory)) == memory
    assert unpacked(packed(memory)) == memory


def test_a_full_memory_takes_at_most_64_kilobytes() -> None:
    assert len(to_bytes(full_memory())) <= MOST_BYTES


@given(st.data())
def test_bytes_that_were_changed_or_cut_off_are_rejected(data: st.DataObject) -> None:
    whole = to_bytes(PAGE)
    place = data.draw(st.integers(0, len(whole) - 1))
    changed = bytearray(whole)
    changed[place] ^= data.draw(st.integers(1, 255))

    for damaged in (bytes(changed), whole[:place], whole + b"\0"):
        with pytest.raises(DamagedMemoryError, match="checksum"):
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
