from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.blocks import classifier
from scrapy_mss.blocks.classifier import CLIP, MOST_WORK, UNITS, Network
from scrapy_mss.blocks.features import product
from scrapy_mss.models.files import bundled_model
from tests.helpers.classifiers import random_network
from tests.helpers.effort import examples

N_INPUTS = 3
ROWS = st.lists(
    st.lists(st.floats(-1e6, 1e6, width=32), min_size=N_INPUTS, max_size=N_INPUTS), max_size=5
)


def log_odds_by_loops(network: Network, row: list[float]) -> float:
    standardized = [
        min(CLIP, max(-CLIP, (value - mean) * scale))
        for value, mean, scale in zip(row, network.mean, network.scale, strict=True)
    ]
    total = float(network.output[-1])
    for unit, weight in enumerate(network.output[:-1]):
        activation = float(network.hidden[-1, unit])
        for value, by in zip(standardized, network.hidden[:-1, unit], strict=True):
            activation += value * float(by)
        total += float(weight) * max(0.0, activation)
    return total


@given(ROWS, st.integers(0, 20))
@examples(2)
def test_log_odds_are_those_of_loops_over_the_weights(rows: list[list[float]], seed: int) -> None:
    network = random_network(N_INPUTS, seed=seed)
    inputs = np.array(rows, np.float32).reshape(-1, N_INPUTS)

    found = network.log_odds(inputs)

    assert found.dtype == np.float32
    expected = [log_odds_by_loops(network, row) for row in inputs.tolist()]
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)


@given(
    st.lists(st.lists(st.floats(width=32), min_size=N_INPUTS, max_size=N_INPUTS), max_size=5),
    st.integers(0, 20),
)
@examples(5)
def test_inputs_are_standardized_alike_however_they_lie(rows: list[list[float]], seed: int) -> None:
    network = random_network(N_INPUTS, seed=seed)
    # As a page's inputs are: each is contiguous.
    inputs = np.array(rows, np.float32).reshape(-1, N_INPUTS).T.copy().T

    with np.errstate(all="ignore"):
        one, other = network.standardized(inputs), network.standardized(inputs.copy())

    assert one.dtype == np.float32
    assert one.flags.f_contiguous
    assert other.flags.f_contiguous
    # As numbers: one that is none has no bits of its own.
    assert np.array_equal(one, other, equal_nan=True)


@given(
    st.lists(st.lists(st.floats(-1e30, 1e30), min_size=N_INPUTS, max_size=N_INPUTS), max_size=5),
    st.integers(0, 20),
)
@examples(2)
def test_long_numbers_are_standardized_as_short_ones(rows: list[list[float]], seed: int) -> None:
    network = random_network(N_INPUTS, seed=seed)
    inputs = np.array(rows, np.float64).reshape(-1, N_INPUTS).T.copy().T
    expected = network.standardized(inputs.astype(np.float32)).tolist()

    assert network.standardized(inputs).tolist() == expected


@pytest.mark.parametrize(("tiles", "more"), [(0, 0), (0, 1), (1, -1), (1, 0), (1, 1), (3, 2)])
@pytest.mark.parametrize("tile", [1, 3, 4, 5, 16])
def test_log_odds_do_not_depend_on_the_number_of_rows(
    tiles: int, more: int, tile: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = random_network(N_INPUTS)
    monkeypatch.setattr(classifier, "MOST_WORK", tile**2 * N_INPUTS)
    monkeypatch.setattr(classifier, "UNITS", tile)
    assert network.tile == (tile, tile)
    n = tiles * tile + more
    inputs = np.random.default_rng(0).normal(size=(n, N_INPUTS)).astype(np.float32)

    found = network.log_odds(inputs)

    alone = [network.log_odds(inputs[i : i + 1])[0] for i in range(n)]
    np.testing.assert_allclose(found, np.array(alone, np.float32), rtol=1e-5, atol=1e-5)


def test_no_product_of_the_bundled_network_wakes_the_threads_of_blas() -> None:
    classifier = bundled_model().classifier
    assert classifier is not None

    for network in classifier.networks:
        rows, units = network.tile
        assert units == UNITS
        assert 1 < rows * units * (len(network.hidden) - 1) <= MOST_WORK < 2**19


def test_a_network_of_any_size_has_tiles() -> None:
    assert random_network(MOST_WORK).tile == random_network(MOST_WORK + 1).tile == (1, 1)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_product_is_that_of_loops(kind: type[np.float32]) -> None:
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(7, 5)).astype(kind), rng.normal(size=(5, 3)).astype(kind)

    found = product(left, right)

    by_loops = [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in right.T.tolist()]
        for row in left.tolist()
    ]
    assert found.dtype == kind
    np.testing.assert_allclose(found, np.array(by_loops), rtol=1e-4, atol=1e-6)


def test_a_flag_of_the_processor_is_no_warning() -> None:
    # Raises the flag of an invalid value for certain; libraries raise it by accident.
    left, right = np.array([[np.inf, np.inf]]), np.array([[1.0], [-1.0]])

    with pytest.warns(RuntimeWarning, match="invalid value"):
        left @ right

    assert np.isnan(product(left, right)).all()
