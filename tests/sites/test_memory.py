from __future__ import annotations

from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.sites.address_counts import MAX_SHAPES
from scrapy_mss.sites.memory import (
    MAX_CONTAINERS,
    MAX_PAGE_TEXTS,
    MAX_TEXTS,
    MINUTES_A_DAY,
    PERIOD_DAYS,
    SiteMemory,
    period_of,
)
from tests.helpers.layouts import PAGES
from tests.helpers.memories import NOW, full_memory, numbered, page_memory

PERIOD = PERIOD_DAYS * MINUTES_A_DAY
MOST_BYTES = 64 * 1024


def total(pages: list[SiteMemory]) -> SiteMemory:
    return reduce(SiteMemory.plus, pages, SiteMemory())


@given(st.lists(st.tuples(PAGES, st.integers(0, 3)), max_size=6), st.data())
def test_the_same_pages_in_another_order_give_the_same_memory(
    pages: list[tuple[str, int]], data: st.DataObject
) -> None:
    memories = [page_memory(html, NOW + age * PERIOD // 2) for html, age in pages]

    assert total(memories) == total(data.draw(st.permutations(memories)))


@given(st.lists(PAGES, max_size=5), st.integers(0, 5))
def test_the_memories_of_two_crawls_add_up_to_that_of_one(pages: list[str], cut: int) -> None:
    memories = [page_memory(html) for html in pages]

    assert total(memories[:cut]).plus(total(memories[cut:])) == total(memories)


def test_what_was_learned_a_period_ago_counts_half() -> None:
    old, new = page_memory("<p>Read more</p>", NOW), page_memory("<p>Read more</p>", NOW + PERIOD)

    memory = old.plus(new)

    assert memory.pages == 1.5
    assert memory.texts.rows[:, 0].tolist() == [1.5]


def test_a_memory_of_long_ago_is_forgotten() -> None:
    memory = page_memory("<p>Read more</p>").at(period_of(NOW) + 100)

    assert len(memory.texts) == 0
    assert memory.pages == pytest.approx(0.0)


def test_a_memory_does_not_grow_beyond_its_bounds() -> None:
    memory = full_memory()

    assert MAX_TEXTS / 2 < len(memory.texts) <= MAX_TEXTS
    assert MAX_CONTAINERS / 2 < len(memory.containers) <= MAX_CONTAINERS
    assert MAX_SHAPES / 2 < len(memory.addresses) <= MAX_SHAPES
    assert size_of(memory) <= MOST_BYTES


def test_one_page_cannot_push_out_all_that_is_known() -> None:
    page = page_memory("".join(f"<p>{numbered(k)}</p>" for k in range(1000)))

    assert len(page.texts) == MAX_PAGE_TEXTS < MAX_TEXTS / 2


def test_a_text_that_is_repeated_outlives_many_that_are_not() -> None:
    repeated = [page_memory("<p>Read more</p>")] * 2
    others = [
        page_memory("".join(f"<p>{numbered(1000 * n + k)}</p>" for k in range(400)), NOW + 1)
        for n in range(9)
    ]

    memory = total(repeated + others)

    key = repeated[0].texts.keys
    assert memory.texts.find(key)[0].tolist() == [2.0]


def size_of(memory: SiteMemory) -> int:
    """The bytes that the tables take."""
    tables = (memory.texts, memory.containers)
    return sum(t.keys.nbytes + t.rows.nbytes + t.seen.nbytes for t in tables)
