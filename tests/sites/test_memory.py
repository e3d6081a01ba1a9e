from __future__ import annotations

from collections import defaultdict
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.page import Page
from scrapy_mss.markup.tokens import Floats
from scrapy_mss.sites.address_counts import MAX_SHAPES, QUANTUM
from scrapy_mss.sites.memory import (
    MAX_CONTAINERS,
    MAX_PAGE_TEXTS,
    MAX_TEXTS,
    MINUTES_A_DAY,
    PERIOD_DAYS,
    WIDTH,
    BlockKeys,
    KeyedCounts,
    SiteMemory,
    period_of,
)
from tests.helpers.layouts import PAGES
from tests.helpers.memories import NOW, full_memory, numbered, page_memory

PERIOD = PERIOD_DAYS * MINUTES_A_DAY


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


LONG = "word " * 30


def observed(page: Page, inside: Floats, *, labelled: bool = False) -> SiteMemory:
    return SiteMemory.of_page(BlockKeys.of(page), inside, 1, labelled=labelled)


def text_counts(html: str, inside: list[float]) -> dict[int, list[float]]:
    """The counts of the text of each block, by the block's number."""
    page = Page.of(html)
    texts = observed(page, np.array(inside)).texts
    rows = texts.find(BlockKeys.of(page).texts).T
    return dict(enumerate(rows.tolist()))


@given(PAGES)
def test_a_page_counts_each_text_and_each_container_once(html: str) -> None:
    page = Page.of(html)
    keys = BlockKeys.of(page)

    seen = observed(page, np.ones(len(page.blocks)))

    assert seen.texts.keys.tolist() == sorted(set(keys.texts.tolist()))
    assert seen.containers.keys.tolist() == sorted(set(keys.containers.tolist()))
    assert set(seen.texts.rows[:, 0].tolist()) <= {1.0}
    assert set(seen.containers.rows[:, 0].tolist()) <= {1.0}


def test_shares_of_the_article_are_before_and_after_a_text() -> None:
    html = f"<p>{LONG}</p><p>Advertisement</p><p>{LONG}more</p>"

    counts = text_counts(html, [1.0, 0.0, 1.0])

    _, once, before, after = counts[1]
    assert once == 1.0
    assert (round(before, 1), round(after, 1)) == (0.5, 0.5)
    assert counts[0][2] == 0.0
    assert counts[2][3] == 0.0


@pytest.mark.parametrize(
    ("html", "inside"),
    [
        (f"<p>Share</p><p>{LONG}</p><p>Share</p>", [0.0, 1.0, 0.0]),
        ("<p>Share</p><p>One line</p>", [0.0, 1.0]),
    ],
    ids=["a text that occurs twice", "no article"],
)
def test_what_says_nothing_of_the_place_of_a_text(html: str, inside: list[float]) -> None:
    assert text_counts(html, inside)[0] == [1.0, 0.0, 0.0, 0.0]


def test_the_vote_of_a_container_is_the_mean_of_its_blocks_whatever_their_length() -> None:
    page = Page.of(f"<div class=story><p>{LONG}</p><p>Ad</p></div>")

    containers = observed(page, np.array([1.0, 0.0])).containers

    assert containers.rows.tolist() == [[1.0, 0.5, 0.0, 0.0]]


def test_labels_vote_in_columns_of_their_own_too() -> None:
    page = Page.of(f"<div class=story><p>{LONG}</p></div><div class=menu>Home</div>")

    containers = observed(page, np.array([1.0, 0.0]), labelled=True).containers

    assert sorted(containers.rows.tolist()) == [[1.0, 0.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0]]


Row = tuple[int, list[int], int]  # a key, counts in units of 1/QUANTUM, a minute

ROWS = st.lists(
    st.tuples(
        st.integers(0, 7),
        st.lists(st.integers(0, QUANTUM), min_size=WIDTH, max_size=WIDTH),
        st.integers(0, 5),
    ),
    max_size=12,
)


def table(rows: list[Row]) -> KeyedCounts:
    """The rows added one by one."""
    total = KeyedCounts.none()
    for key, counts, minute in rows:
        row = np.array([counts]) / QUANTUM
        total = total.plus(KeyedCounts.of(np.array([key], np.uint64), row, minute))
    return total


def seen_times(times: list[int]) -> KeyedCounts:
    """Key k was seen on so many pages, in minute k."""
    return table([(k, [QUANTUM] * WIDTH, k) for k, n in enumerate(times) for _ in range(n)])


@given(ROWS)
def test_counts_are_the_sums_by_key_and_the_latest_minute(rows: list[Row]) -> None:
    sums: dict[int, list[int]] = defaultdict(lambda: [0] * WIDTH)
    latest: dict[int, int] = defaultdict(int)
    for key, counts, minute in rows:
        sums[key] = [a + b for a, b in zip(sums[key], counts, strict=True)]
        latest[key] = max(latest[key], minute)

    total = table(rows)

    assert total.keys.tolist() == sorted(sums)
    assert (total.rows * QUANTUM).tolist() == [sums[key] for key in sorted(sums)]
    assert total.seen.tolist() == [latest[key] for key in sorted(sums)]


@given(ROWS, st.lists(st.integers(0, 9)))
def test_a_key_that_is_not_in_the_table_has_no_counts(rows: list[Row], keys: list[int]) -> None:
    total = table(rows)
    known = dict(zip(total.keys.tolist(), total.rows.tolist(), strict=True))

    found = total.find(np.array(keys, np.uint64)).T

    assert found.tolist() == [known.get(key, [0.0] * WIDTH) for key in keys]


def test_beyond_its_bound_a_table_drops_what_was_seen_once_and_longest_ago() -> None:
    total = seen_times([2, 1, 1, 2, 1])

    assert total.bounded(5) == total
    assert total.bounded(4).keys.tolist() == [0, 2, 3, 4]
    assert total.bounded(2).keys.tolist() == [0, 3]
    assert total.bounded(1).keys.tolist() == [3]
