from __future__ import annotations

from collections import defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.sites.memory import QUANTUM, WIDTH, KeyedCounts

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


@given(st.lists(ROWS, max_size=4))
def test_tables_added_at_once_are_tables_added_one_by_one(tables: list[list[Row]]) -> None:
    at_once = KeyedCounts.total([table(rows) for rows in tables])

    assert at_once == table([row for rows in tables for row in rows])


@given(ROWS)
def test_halving_twice_is_a_quarter(rows: list[Row]) -> None:
    total = table(rows)

    assert total.scaled(1).scaled(1) == total.scaled(2)


def test_a_row_that_counts_nothing_is_dropped_when_it_is_halved() -> None:
    assert len(seen_times([1]).scaled(20)) == 0


@given(ROWS, st.lists(st.integers(0, 9)))
def test_a_key_that_is_not_in_the_table_has_no_counts(rows: list[Row], keys: list[int]) -> None:
    total = table(rows)
    known = dict(zip(total.keys.tolist(), total.rows.tolist(), strict=True))

    found = total.find(np.array(keys, np.uint64)).T

    assert found.tolist() == [known.get(key, [0.0] * WIDTH) for key in keys]


def test_a_table_within_its_bound_keeps_all_rows() -> None:
    total = seen_times([1, 2, 1])

    assert total.bounded(3) == total


def test_beyond_its_bound_a_table_drops_what_was_seen_once_and_longest_ago() -> None:
    total = seen_times([2, 1, 1, 2, 1])

    assert total.bounded(4).keys.tolist() == [0, 2, 3, 4]
    assert total.bounded(2).keys.tolist() == [0, 3]
    assert total.bounded(1).keys.tolist() == [3]


def test_a_negative_zero_stays_what_it_is() -> None:
    row = np.array([[1.0, 0.0, -0.0, 0.0]])
    new = KeyedCounts.of(np.array([7], np.uint64), row, 1)

    added = seen_times([1, 2]).plus(new)

    assert np.signbit(added.rows[-1]).tolist() == [False, False, True, False]
