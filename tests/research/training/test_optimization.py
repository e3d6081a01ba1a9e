from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from research.training.optimization import (
    RIDGE,
    SIGNED_RIDGE,
    SMALL_DEVIATION,
    Config,
    _chances,
    _gradients,
    fit_logistic,
    fit_network,
    fit_signed,
)
from scrapy_mss.blocks.mlp import Matrix, Network
from scrapy_mss.core.naive_bayes import logistic
from scrapy_mss.markup.tokens import Floats
from tests.helpers.effort import examples

N_INPUTS, N_HIDDEN = 3, 4
QUICK = Config(hidden=8, epochs=40, batch=32, rate=1e-2, dropout=0.0)


def network_of(hidden: NDArray[Any], output: NDArray[Any]) -> Network:
    none, one = np.zeros(len(hidden) - 1, np.float32), np.ones(len(hidden) - 1, np.float32)
    return Network(none, one, hidden.astype(np.float32), output.astype(np.float32))


def loss(hidden: Floats, output: Floats, data: tuple[Floats, Floats, Floats]) -> float:
    """The mean cross entropy of rows, labels and shares, in double precision."""
    rows, labels, share = data
    activations = np.maximum(rows @ hidden[:-1] + hidden[-1], 0)
    odds = activations @ output[:-1] + output[-1]
    return float(np.mean(share * (np.logaddexp(0, odds) - labels * odds)))


@given(st.integers(0, 1000), st.integers(1, 9))
@examples(0.5)
def test_gradients_are_the_differences_of_the_loss(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    rows, hidden = rng.normal(size=(n, N_INPUTS)), rng.normal(size=(N_INPUTS + 1, N_HIDDEN))
    output, share = rng.normal(size=N_HIDDEN + 1), rng.random(n) + 0.5
    labels = (rng.random(n) < 0.5).astype(np.float64)
    weights = np.concatenate((hidden.ravel(), output))

    def at(values: Floats) -> float:
        first = values[: hidden.size].reshape(hidden.shape)
        return loss(first, values[hidden.size :], (rows, labels, share))

    step = 1e-6
    moves = step * np.eye(len(weights))
    expected = [(at(weights + move) - at(weights - move)) / (2 * step) for move in moves]
    small = (array.astype(np.float32) for array in (rows, labels, share))

    found = np.concatenate([one.ravel() for one in _gradients(network_of(hidden, output), *small)])

    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize("odds", [1e4, -1e4])
def test_gradients_of_a_network_that_is_far_too_certain_are_finite(odds: float) -> None:
    hidden, output = np.ones((2, 1)), np.array([odds, 0.0])
    one = np.ones(2, np.float32)

    gradients = _gradients(network_of(hidden, output), np.ones((2, 1), np.float32), one, one)

    assert all(np.isfinite(gradient).all() for gradient in gradients)
    assert gradients[1][-1] == pytest.approx(0.0 if odds > 0 else -1.0)


@given(st.integers(0, 1000), st.integers(2, 40))
@examples(2)
def test_the_gradient_of_a_logistic_regression_is_zero(seed: int, n: int) -> None:
    """At the least of the loss and the ridge, the gradient is 0 everywhere."""
    rng = np.random.default_rng(seed)
    inputs, weights = rng.normal(size=(N_INPUTS, n)), rng.random(n) + 0.1
    labels = (rng.permutation(n) % 2).astype(np.float64)

    found = fit_logistic(inputs, labels, weights)

    rows = np.vstack((inputs, np.ones(n)))
    error = weights / weights.sum() * (logistic(found @ rows) - labels)
    np.testing.assert_allclose(rows @ error + RIDGE * found, 0, atol=1e-9)


def test_an_example_of_twice_the_weight_counts_as_two() -> None:
    inputs, labels = np.array([[0.0, 1.0, 2.0, 3.0]]), np.array([0.0, 1.0, 0.0, 1.0])

    once = fit_logistic(inputs, labels, np.array([1.0, 2.0, 1.0, 1.0]))
    twice = fit_logistic(np.append(inputs, [[1.0]], axis=1), np.append(labels, 1.0), np.ones(5))

    np.testing.assert_allclose(once, twice)


def test_examples_that_are_parted_do_not_run_away() -> None:
    inputs, labels = np.array([[-2.0, -1.0, 1.0, 2.0]]), np.array([0.0, 0.0, 1.0, 1.0])

    found = fit_logistic(inputs, labels, np.ones(4))

    assert found[0] > 1
    assert found[1] == pytest.approx(0, abs=1e-9)
    assert np.isfinite(found).all()


@examples(0.5)
@given(st.integers(0, 1000), st.lists(st.sampled_from([-1, 0, 1]), min_size=3, max_size=3))
def test_no_coefficient_has_another_sign_than_it_may_have(seed: int, signs: list[int]) -> None:
    """And those that may be more, or are not 0, are where the loss has no slope."""
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(3, 40)) * [[0.1], [1.0], [30.0]]
    labels = (rng.random(40) < logistic(inputs[0] * 20 - inputs[1])).astype(float)

    found = fit_signed(inputs, labels, np.array(signs))

    scale = inputs.std(axis=1) + SMALL_DEVIATION
    ridge = SIGNED_RIDGE * np.append(found[:-1] * scale, 0.0)
    error = logistic(found[:-1] @ inputs + found[-1]) - labels
    slope = np.append((inputs @ error) / scale, error.sum()) / 40 + ridge
    for coefficient, sign, down in zip(found, (*signs, 0), slope, strict=True):
        assert sign * coefficient >= 0
        assert sign * down >= -1e-4 if sign and not coefficient else abs(down) < 1e-4


def test_an_input_counts_the_same_in_any_unit() -> None:
    inputs, labels = np.array([[0.0, 1.0, 2.0, 3.0]]), np.array([0.0, 1.0, 0.0, 1.0])

    metres, millimetres = (fit_signed(inputs * unit, labels, np.ones(1)) for unit in (1, 1000))

    assert metres[0] == pytest.approx(1000 * millimetres[0], rel=0.01)


def ring(n: int, seed: int) -> tuple[Matrix, Matrix]:
    """Points inside of a circle and outside of it, which no straight line parts."""
    points = np.random.default_rng(seed).uniform(-2, 2, (n, 2)).astype(np.float32)
    return points, (np.hypot(*points.T) < 1).astype(np.float32)


def test_a_network_learns_what_no_straight_line_parts() -> None:
    points, labels = ring(600, 0)
    weights = np.ones(len(labels), np.float32)

    network = fit_network(points, labels, weights, QUICK)

    unseen, inside = ring(400, 1)
    straight = fit_logistic(
        points.T.astype(np.float64), labels.astype(np.float64), np.ones(len(labels))
    )
    by_line = straight[:-1] @ unseen.T + straight[-1] > 0
    assert np.mean((network.log_odds(unseen) > 0) == inside) > 0.9
    assert np.mean(by_line == inside) < 0.85


def test_the_same_examples_give_the_same_network_and_another_seed_another() -> None:
    points, labels = ring(100, 0)
    weights = np.ones(100, np.float32)

    one, same, other = (
        fit_network(points, labels, weights, replace(QUICK, epochs=3, dropout=0.1, seed=seed))
        for seed in (1, 1, 2)
    )

    assert one.hidden.tobytes() == same.hidden.tobytes()
    assert one.output.tobytes() == same.output.tobytes()
    assert one.hidden.tobytes() != other.hidden.tobytes()


def test_masked_inputs_do_not_make_a_network_too_certain() -> None:
    rng = np.random.default_rng(0)
    shared = rng.random(4000) < 0.5
    inputs = (shared[:, np.newaxis] + rng.normal(0, 0.1, (4000, 12))).astype(np.float32)
    labels = (rng.random(4000) < np.where(shared, 0.8, 0.2)).astype(np.float32)

    network = fit_network(
        inputs, labels, np.ones(4000, np.float32), replace(QUICK, epochs=10, dropout=0.5)
    )

    probability = logistic(network.log_odds(inputs).astype(np.float64))
    assert probability[shared].mean() == pytest.approx(0.8, abs=0.04)
    assert probability[~shared].mean() == pytest.approx(0.2, abs=0.04)


@given(st.lists(st.integers(0, 50), min_size=2, max_size=40), st.integers(1, 30))
@examples(1)
def test_chances_go_by_the_weight_and_add_up_to_the_sample(some: list[int], sample: int) -> None:
    weights = np.array(some, np.float32)
    n_weighing = int((weights > 0).sum())

    chance = _chances(weights, sample)

    assert ((chance >= 0) & (chance <= 1)).all()
    assert chance.sum() == pytest.approx(min(sample, n_weighing), rel=1e-4)
    below = chance[(chance < 1) & (weights > 0)] / weights[(chance < 1) & (weights > 0)]
    assert below.max(initial=0) == pytest.approx(below.min(initial=below.max(initial=0)), rel=1e-4)


def test_a_sample_teaches_what_all_examples_teach() -> None:
    points, labels = ring(4000, 0)
    weights = np.random.default_rng(2).uniform(0.1, 2, 4000).astype(np.float32)

    network = fit_network(points, labels, weights, replace(QUICK, sample=800))

    unseen, inside = ring(400, 1)
    assert np.mean((network.log_odds(unseen) > 0) == inside) > 0.9


def test_examples_without_weight_teach_nothing() -> None:
    points, labels = ring(600, 0)
    lies = np.concatenate((labels, 1 - labels))
    weights = np.repeat([1, 0], 600).astype(np.float32)

    network = fit_network(np.concatenate((points, points)), lies, weights, QUICK)

    assert np.mean((network.log_odds(points) > 0) == labels) > 0.9


def test_inputs_are_brought_to_one_scale() -> None:
    points, labels = ring(300, 0)
    weights, by = np.ones(300, np.float32), np.array([1000, 0.1], np.float32)

    network = fit_network(points * by + 7, labels, weights, QUICK)

    normal = network.standardized(points * by + 7)
    np.testing.assert_allclose(normal.mean(axis=0), 0, atol=1e-3)
    np.testing.assert_allclose(normal.std(axis=0), 1, atol=0.05)


@pytest.mark.parametrize("n", [1, 32, 33])
def test_few_examples_and_inputs_that_are_all_the_same_give_finite_numbers(n: int) -> None:
    inputs = np.full((n, 2), 5, np.float32)
    labels, weights = np.ones(n, np.float32), np.ones(n, np.float32)

    network = fit_network(inputs, labels, weights, replace(QUICK, epochs=2))

    assert np.isfinite(network.log_odds(inputs)).all()
    assert all(array.dtype == np.float32 for array in (network.hidden, network.output))
