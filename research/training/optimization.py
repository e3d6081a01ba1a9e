"""Fitting: coefficients of a logistic regression, and a small network by Adam.

The network is fitted here and not by scikit-learn's MLPClassifier since that has no dropout of
inputs, by which no single feature is relied upon. Everything is seeded and in one order, so the
same pages give the same weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from research.errors import require
from scrapy_mss.blocks.classifier import Matrix, Network
from scrapy_mss.blocks.features import product
from scrapy_mss.core.naive_bayes import logistic
from scrapy_mss.markup.tokens import Floats, Indices

RIDGE = 1e-3  # on the mean loss; keeps the step finite where examples can be parted
TOLERANCE = 1e-10  # of the gradient
SIGNED_RIDGE = 3e-3  # .001 loses more old articles, .006 takes more of the other pages for some
SMALL_DEVIATION = 1e-3  # is added: an input that hardly ever differs gets no great coefficient
MAX_STEPS = 1000
MAX_LOG_ODDS = 80.0  # beyond it float32 has no exponential


@dataclass(frozen=True, slots=True)
class Config:
    """How a network is fitted."""

    networks: int = 3  # that are fitted apart; their mean is less of an accident than any of them
    hidden: int = 32
    epochs: int = 14
    batch: int = 1024
    sample: int = 160_000  # examples that an epoch sees, of half a million; all gain nothing more
    rate: float = 3e-3
    decay: float = 3e-4  # of the weights, so that none grows that nothing asks for
    dropout: float = 0.3  # share of inputs that a step does not see
    seed: int = 18  # of 0 to 19: by page cases, and by pages of all kinds without an address


def fit_logistic(inputs: Floats, labels: Floats, weights: Floats) -> Floats:
    """Coefficients for *inputs* (float64[n_inputs, n]) and, as the last one, a constant.

    The constant is a coefficient like the others, and shrunk like them, so that examples that can
    be parted do not let it run away. Newton's method has the optimum to fourteen digits.
    """
    linear_model = require("sklearn.linear_model", "training")
    regression = linear_model.LogisticRegression(
        C=1 / RIDGE, fit_intercept=False, solver="newton-cholesky", tol=TOLERANCE
    )
    rows = np.vstack((inputs, np.ones(inputs.shape[1]))).T
    regression.fit(rows, labels, weights / weights.sum())
    coefficients: Floats = regression.coef_[0]
    return coefficients


def fit_signed(inputs: Floats, labels: Floats, signs: Floats) -> Floats:
    """As `fit_logistic`, but that no coefficient has a sign other than *signs* has for its input.

    Where that is 0, either may be. Inputs are compared by their deviations, so that it does not
    matter in which unit one is given, and the constant is not shrunk.
    """
    optimize = require("scipy.optimize", "training")
    scale = inputs.std(axis=1) + SMALL_DEVIATION
    rows = np.vstack((inputs / scale[:, np.newaxis], np.ones(inputs.shape[1])))

    def loss(coefficients: Floats) -> tuple[float, Floats]:
        shrunk = np.append(coefficients[:-1], 0.0)
        log_odds = product(coefficients, rows)
        error = (logistic(log_odds) - labels) / len(labels)
        mean = float((np.logaddexp(0.0, log_odds) - labels * log_odds).mean())
        slope = product(rows, error) + SIGNED_RIDGE * shrunk
        return mean + SIGNED_RIDGE / 2 * float((shrunk**2).sum()), slope

    bounds = [(None if sign < 1 else 0.0, None if sign > -1 else 0.0) for sign in (*signs, 0)]
    start, steps = np.zeros(len(rows)), {"maxiter": MAX_STEPS, "ftol": TOLERANCE}
    found = optimize.minimize(
        loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=steps
    )
    coefficients: Floats = found.x / np.append(scale, 1.0)
    return coefficients


def fit_network(
    inputs: Matrix, labels: Matrix, weights: Matrix, config: Config | None = None
) -> Network:
    """A network for *inputs* (float32[n, n_inputs]); an example counts by its *weights*."""
    config = config or Config()
    configs = [replace(config, seed=config.seed + number) for number in range(config.networks)]
    return _mean([_fitted(inputs, labels, weights, each) for each in configs])


def _mean(networks: Sequence[Network]) -> Network:
    """The one network whose log-odds are the mean of theirs: it has all their hidden units."""
    share = np.float32(1 / len(networks))
    bias = np.sum([network.output[-1:] for network in networks], axis=0)
    return Network(
        mean=networks[0].mean,
        scale=networks[0].scale,
        hidden=np.concatenate([network.hidden for network in networks], axis=1),
        output=np.concatenate([*(network.output[:-1] for network in networks), bias]) * share,
    )


def _fitted(inputs: Matrix, labels: Matrix, weights: Matrix, config: Config) -> Network:
    rng = np.random.default_rng(config.seed)
    network = _initial(inputs, config, rng)
    standardized = network.standardized(inputs)
    chance = _chances(weights, config.sample)
    share = np.divide(
        weights, chance * weights.mean(), out=np.zeros_like(weights), where=chance > 0
    )
    adam = _Adam(config.rate, [network.hidden, network.output])
    batches = max(1, int(chance.sum()) // config.batch)
    for epoch in range(config.epochs):
        order = _drawn(chance, rng)
        for batch in range(batches):
            rows = order[batch * len(order) // batches : (batch + 1) * len(order) // batches]
            shape = len(rows), standardized.shape[1]
            seen = rng.random(shape, dtype=np.float32) > config.dropout
            hidden, output = _gradients(
                network, standardized[rows] * seen, labels[rows], share[rows]
            )
            decayed = [
                hidden + config.decay * network.hidden,
                output + config.decay * network.output,
            ]
            adam.step(decayed, 1.0 - (epoch * batches + batch) / (config.epochs * batches))
    network.hidden[:-1] *= np.float32(1.0 - config.dropout)  # in use every input is seen
    return network


def _chances(weights: Matrix, sample: int) -> Matrix:
    """float32[n]: how likely an epoch sees each example, so that it sees about *sample* of them.

    Most blocks are entries of menus, which weigh next to nothing: an example that is seen with a
    chance of one in ten, and weighs ten times as much then, teaches the same. The chance is
    proportional to the weight, and 1 for those that weigh most.
    """
    if sample >= np.count_nonzero(weights):
        return np.greater(weights, 0).astype(np.float32)
    heaviest = np.sort(weights.astype(np.float64))[::-1]
    heaviest = heaviest[heaviest > 0]
    rest = np.cumsum(heaviest[::-1])[::-1]  # of each and all that weigh less
    factor = (sample - np.arange(len(heaviest))) / rest
    certain = int(np.argmax(factor * heaviest <= 1))  # so many of the heaviest
    chances: Matrix = np.minimum(weights * np.float32(factor[certain]), np.float32(1))
    return chances


def _drawn(chance: Matrix, rng: np.random.Generator) -> Indices:
    """intp[m]: the examples that an epoch sees, in its order."""
    return rng.permutation(np.flatnonzero(rng.random(len(chance), dtype=np.float32) < chance))


def _initial(inputs: Matrix, config: Config, rng: np.random.Generator) -> Network:
    n_inputs = inputs.shape[1]
    hidden = rng.normal(0, np.sqrt(2 / n_inputs), (n_inputs + 1, config.hidden))
    output = rng.normal(0, np.sqrt(2 / config.hidden), config.hidden + 1)
    hidden[-1], output[-1] = 0.0, 0.0
    deviation = inputs.std(axis=0, dtype=np.float64)
    return Network(
        mean=inputs.mean(axis=0, dtype=np.float64).astype(np.float32),
        scale=(1 / (deviation + 1e-3)).astype(np.float32),
        hidden=hidden.astype(np.float32),
        output=output.astype(np.float32),
    )


def _gradients(
    network: Network, rows: Matrix, labels: Matrix, share: Matrix
) -> tuple[Matrix, Matrix]:
    """The gradients of the mean loss by each weight: back through the two layers."""
    sums = product(rows, network.hidden[:-1]) + network.hidden[-1]
    activations = np.maximum(sums, 0.0)
    log_odds = product(activations, network.output[:-1]) + network.output[-1]
    clipped = np.clip(log_odds, -MAX_LOG_ODDS, MAX_LOG_ODDS)
    error = ((1 / (1 + np.exp(-clipped)) - labels) * share / len(rows)).astype(np.float32)
    delta = np.outer(error, network.output[:-1]) * (activations > 0)
    hidden = np.vstack((product(rows.T, delta), delta.sum(axis=0)))
    output = np.append(product(activations.T, error), error.sum())
    return hidden.astype(np.float32), output.astype(np.float32)


class _Adam:
    """Steps of a size that fits each weight (Kingma and Ba, 2015); changes *arrays* in place."""

    FIRST, SECOND = 0.9, 0.999

    def __init__(self, rate: float, arrays: list[Matrix]) -> None:
        self.rate, self.arrays, self.count = rate, arrays, 0
        self.first = [np.zeros_like(array) for array in arrays]
        self.second = [np.zeros_like(array) for array in arrays]

    def step(self, gradients: list[Matrix], share: float) -> None:
        """One step down the *gradients*, of a *share* of the full rate."""
        self.count += 1
        for i, gradient in enumerate(gradients):
            self.first[i] += (1 - self.FIRST) * (gradient - self.first[i])
            self.second[i] += (1 - self.SECOND) * (gradient * gradient - self.second[i])
            mean = self.first[i] / (1 - self.FIRST**self.count)
            deviation = np.sqrt(self.second[i] / (1 - self.SECOND**self.count))
            self.arrays[i] -= np.float32(self.rate * share) * mean / (deviation + np.float32(1e-8))
