from __future__ import annotations

import numpy as np
import pytest
from scrapy_mss.blocks.mlp import product

# Raises the flag of an invalid value for certain; what a library raises by accident it does not.
FLAGGED = (np.array([[np.inf, np.inf]]), np.array([[1.0], [-1.0]]))


def test_a_flag_is_no_warning() -> None:
    with pytest.warns(RuntimeWarning, match="invalid value"):
        FLAGGED[0] @ FLAGGED[1]

    assert np.isnan(product(*FLAGGED)).all()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_it_is_the_product_of_loops(kind: type[np.float32]) -> None:
    chance = np.random.default_rng(0)
    left, right = chance.normal(size=(7, 5)).astype(kind), chance.normal(size=(5, 3)).astype(kind)

    found = product(left, right)

    by_hand = [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in right.T.tolist()]
        for row in left.tolist()
    ]
    assert found.dtype == kind
    np.testing.assert_allclose(found, np.array(by_hand), rtol=1e-4, atol=1e-6)


def test_a_row_by_a_matrix_is_a_row() -> None:
    assert product(np.array([1.0, 2.0]), np.array([[3.0, 4.0], [5.0, 6.0]])).tolist() == [13, 16]
    assert product(np.array([1.0, 2.0]), np.array([3.0, 4.0])).tolist() == 11
