"""Rows by their names: whatever the groups, each is filled once and found by its name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.features import Columns, Group, columns_of, names_of
from scrapy_mss.markup.tokens import Floats


def group(names: tuple[str, ...]) -> Group[float]:
    def fill(source: float, rows: Floats) -> None:
        for number, row in enumerate(rows):
            row[:] = source * len(names) + number

    return Group(names, fill)


@given(st.lists(st.integers(0, 3)), st.integers(0, 3))
def test_each_row_is_that_of_its_group(sizes: list[int], n: int) -> None:
    groups = [
        group(tuple(f"{number}.{row}" for row in range(size))) for number, size in enumerate(sizes)
    ]

    columns = columns_of(groups, 10.0, n)

    assert tuple(columns) == names_of(groups)
    assert columns.rows.shape == (len(columns), n)
    for number, size in enumerate(sizes):
        for row in range(size):
            assert columns[f"{number}.{row}"].tolist() == [10.0 * size + row] * n


def test_some_rows_come_in_the_order_that_they_are_asked_for_in_and_are_a_copy() -> None:
    columns = Columns(("one", "two", "three"), np.arange(6.0).reshape(3, 2))

    some = columns.some(("three", "one"))
    some[:] = 7.0

    assert columns["three"].tolist() == [4.0, 5.0]
    assert columns["one"].tolist() == [0.0, 1.0]


def test_a_name_that_is_not_there_is_named() -> None:
    with pytest.raises(KeyError, match="four"):
        Columns(("one",), np.zeros((1, 2)))["four"]
