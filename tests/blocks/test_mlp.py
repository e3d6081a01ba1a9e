from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks.mlp import FARTHEST, PORTION, Network, forward
from tests.helpers.classifiers import random_network
from tests.helpers.effort import examples

N_INPUTS = 3
ROWS = st.lists(
    st.lists(st.floats(-1e6, 1e6, width=32), min_size=N_INPUTS, max_size=N_INPUTS), max_size=5
)


def log_odds_by_hand(network: Network, row: list[float]) -> float:
    """One row, one number after the other."""
    normal = [
        min(FARTHEST, max(-FARTHEST, (value - mean) * scale))
        for value, mean, scale in zip(row, network.mean, network.scale, strict=True)
    ]
    total = float(network.output[-1])
    for unit, weight in enumerate(network.output[:-1]):
        inner = float(network.hidden[-1, unit])
        for value, by in zip(normal, network.hidden[:-1, unit], strict=True):
            inner += value * float(by)
        total += float(weight) * max(0.0, inner)
    return total


@given(ROWS, st.integers(0, 20))
@examples(2)
def test_log_odds_are_those_of_loops_over_the_weights(rows: list[list[float]], seed: int) -> None:
    network = random_network(N_INPUTS, seed=seed)
    inputs = np.array(rows, np.float32).reshape(-1, N_INPUTS)

    found = network.log_odds(inputs)

    assert found.dtype == np.float32
    expected = [log_odds_by_hand(network, row) for row in inputs.tolist()]
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("n", [0, 1, PORTION - 1, PORTION, PORTION + 1, 3 * PORTION + 7])
def test_a_row_means_the_same_among_any_number_of_rows(n: int) -> None:
    network = random_network(N_INPUTS)
    inputs = np.random.default_rng(0).normal(size=(n, N_INPUTS)).astype(np.float32)

    found = network.log_odds(inputs)

    alone = [network.log_odds(inputs[i : i + 1])[0] for i in range(n)]
    np.testing.assert_allclose(found, np.array(alone, np.float32), rtol=1e-5, atol=1e-5)


def test_inputs_far_out_are_no_farther_than_the_farthest() -> None:
    network = random_network(N_INPUTS)
    far, farther = (np.full((1, N_INPUTS), by, np.float32) for by in (1e9, 1e30))

    assert network.normal(far).tolist() == [[FARTHEST] * N_INPUTS]
    assert network.normal(-farther).tolist() == [[-FARTHEST] * N_INPUTS]
    assert network.log_odds(far).tolist() == network.log_odds(farther).tolist()


def test_a_network_by_hand() -> None:
    one = np.ones(1, np.float32)
    network = Network(
        mean=2 * one,
        scale=np.full(1, 0.5, np.float32),
        hidden=np.array([[1, -1], [0.5, 0]], np.float32),
        output=np.array([3, 5, -1], np.float32),
    )

    # (4 - 2) / 2 = 1: the units say 1.5 and, below zero, nothing; 0 - 2 / 2 = -1: nothing and 1.
    assert network.log_odds(np.array([[4], [0]], np.float32)).tolist() == [3.5, 4]


def test_the_hidden_layer_says_nothing_below_zero() -> None:
    network = random_network(N_INPUTS)

    inner, odds = forward(np.zeros((2, N_INPUTS), np.float32), network.hidden, network.output)

    assert inner.shape == (2, 5)
    assert inner.min() >= 0
    assert odds.shape == (2,)
