from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from research.training.optimization import (
    RIDGE,
    SIGNED_RIDGE,
    SMALL_DEVIATION,
    _gradients,
    fit_logistic,
    fit_signed,
)
from scrapy_mss.blocks.classifier import Network
from scrapy_mss.core.naive_bayes import logistic
from scrapy_mss.markup.tokens import Floats
from tests.helpers.effort import examples

N_INPUTS, N_HIDDEN = 3, 4


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
