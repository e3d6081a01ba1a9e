from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.core.hashing import MULTIPLIERS, buckets, buckets_of_ids, mix
from scrapy_mss.markup.tokens import TokenIds

IDS = st.integers(0, 2**64 - 1)


def ids(*values: int) -> TokenIds:
    return np.array(values, np.uint64)


@given(st.lists(st.tuples(IDS, IDS, IDS), min_size=1, max_size=9))
def test_a_row_s_hash_does_not_depend_on_other_rows(rows: list[tuple[int, int, int]]) -> None:
    together = mix([ids(*column) for column in zip(*rows, strict=True)])

    assert together.tolist() == [int(mix([ids(value) for value in row])[0]) for row in rows]


@pytest.mark.parametrize("values", [(1, 2, 3), (0, 0, 1), (5, 5, 9)])
def test_the_order_of_columns_matters(values: tuple[int, int, int]) -> None:
    orders = sorted(set(permutations(values)))

    hashes = {int(mix([ids(value) for value in order])[0]) for order in orders}

    assert len(hashes) == len(orders)


@pytest.mark.parametrize("bits", [12, 16, 20])
def test_rows_that_differ_in_few_bits_are_spread_as_if_by_chance(bits: int) -> None:
    """Of n rows in b buckets about n²/2b share one."""
    side = 1 << (bits - 4) // 2
    first, second = np.array(list(product(range(side), repeat=2)), np.uint64).T << np.uint64(12)

    found = buckets(mix([first, second]), bits)

    shared = len(found) - len(np.unique(found))
    assert shared <= 1.5 * len(found) ** 2 / 2 / 2**bits


@given(st.lists(st.integers(0, 2**64 - 1)), st.integers(1, 31))
def test_buckets_are_as_many_as_asked_for(ids: list[int], bits: int) -> None:
    values, short = np.array(ids, np.uint64), np.array([each >> 32 for each in ids], np.uint32)

    for found in (buckets(values, bits), buckets_of_ids(values, bits), buckets_of_ids(short, bits)):
        assert found.dtype == np.int32
        assert all(0 <= bucket < 1 << bits for bucket in found.tolist())
    assert buckets_of_ids(values, bits).tolist() == buckets(values * MULTIPLIERS[0], bits).tolist()
