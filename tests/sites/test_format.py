from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.sites.format import (
    DamagedMemoryError,
    from_bytes,
    packed,
    to_bytes,
    unpacked,
)
from scrapy_mss.sites.memory import SiteMemory
from tests.helpers.layouts import PAGES
from tests.helpers.memories import full_memory, page_memory

MOST_BYTES = 64 * 1024


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
    whole = to_bytes(page_memory("<main><p>One two</p><p>Three</p></main>"))
    place = data.draw(st.integers(0, len(whole) - 1))
    changed = bytearray(whole)
    changed[place] ^= data.draw(st.integers(1, 255))

    for damaged in (bytes(changed), whole[:place], whole + b"\0"):
        with pytest.raises(DamagedMemoryError, match="checksum"):
            from_bytes(damaged)
