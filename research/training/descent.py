"""Fitting: weights of a logistic regression, and of a small network by Adam.

Everything is seeded and in one order, so the same pages give the same weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from scrapy_mss.blocks.algebra import product
from scrapy_mss.blocks.mlp import Matrix, Network, forward
from scrapy_mss.core.naive_bayes import logistic
from scrapy_mss.markup.tokens import Floats

NEWTON_STEPS = 12
RIDGE = 1e-3
SUREST = 80.0  # log-odds beyond which float32 has no exponential


@dataclass(frozen=True, slots=True)
class Descent:
    """How a network is fitted."""

    networks: int = 3  # that are fitted apart; their mean is less of an accident than any of them
    hidden: int = 64
    epochs: int = 14
    batch: int = 1024
    rate: float = 3e-3
    decay: float = 3e-4  # of the weights, so that none grows that nothing asks for
    dropped: float = 0.3  # share of inputs that a step does not see
    seed: int = 1


def fit_logistic(inputs: Floats, labels: Floats, weights: Floats) -> Floats:
    """Coefficients for *inputs* (float64[n_inputs, n]) and a constant, by Newton's method."""
    rows = np.vstack((inputs, np.ones(inputs.shape[1])))
    share = weights / weights.sum()
    found = np.zeros(len(rows))
    for _ in range(NEWTON_STEPS):
        probability = logistic(product(found, rows))
        slope = product(rows, share * (probability - labels)) + RIDGE * found
        bent = product(rows * (share * probability * (1 - probability)), rows.T)
        found = found - np.linalg.solve(bent + RIDGE * np.eye(len(rows)), slope)
    return found


def fit_network(
    inputs: Matrix, labels: Matrix, weights: Matrix, how: Descent | None = None
) -> Network:
    """A network for *inputs* (float32[n, n_inputs]); an example counts by its *weights*."""
    how = how or Descent()
    each = [replace(how, seed=how.seed + number) for number in range(how.networks)]
    return _mean([_fitted(inputs, labels, weights, one) for one in each])


def _mean(networks: Sequence[Network]) -> Network:
    """The one network whose log-odds are the mean of theirs: they stand side by side in it."""
    share = np.float32(1 / len(networks))
    constant = np.sum([network.output[-1:] for network in networks], axis=0)
    return Network(
        mean=networks[0].mean,
        scale=networks[0].scale,
        hidden=np.concatenate([network.hidden for network in networks], axis=1),
        output=np.concatenate([*(network.output[:-1] for network in networks), constant]) * share,
    )


def _fitted(inputs: Matrix, labels: Matrix, weights: Matrix, how: Descent) -> Network:
    chance = np.random.default_rng(how.seed)
    network = _begin(inputs, how, chance)
    normal = network.normal(inputs)
    share = weights / weights.mean()
    adam = _Adam(how.rate, [network.hidden, network.output])
    batches = max(1, len(inputs) // how.batch)
    for epoch in range(how.epochs):
        order = chance.permutation(len(inputs))
        for batch in range(batches):
            rows = order[batch * how.batch : (batch + 1) * how.batch]
            seen = chance.random((len(rows), normal.shape[1]), dtype=np.float32) > how.dropped
            hidden, output = _slopes(network, normal[rows] * seen, labels[rows], share[rows])
            decayed = [hidden + how.decay * network.hidden, output + how.decay * network.output]
            adam.step(decayed, 1.0 - (epoch * batches + batch) / (how.epochs * batches))
    return network


def _begin(inputs: Matrix, how: Descent, chance: np.random.Generator) -> Network:
    n_inputs = inputs.shape[1]
    hidden = chance.normal(0, np.sqrt(2 / n_inputs), (n_inputs + 1, how.hidden))
    output = chance.normal(0, np.sqrt(2 / how.hidden), how.hidden + 1)
    hidden[-1], output[-1] = 0.0, 0.0
    deviation = inputs.std(axis=0, dtype=np.float64)
    return Network(
        mean=inputs.mean(axis=0, dtype=np.float64).astype(np.float32),
        scale=(1 / (deviation + 1e-3)).astype(np.float32),
        hidden=hidden.astype(np.float32),
        output=output.astype(np.float32),
    )


def _slopes(network: Network, rows: Matrix, labels: Matrix, share: Matrix) -> tuple[Matrix, Matrix]:
    """The slopes of the mean loss by each weight: back through the two layers."""
    inner, odds = forward(rows, network.hidden, network.output)
    sure = np.clip(odds, -SUREST, SUREST)
    wrong = ((1 / (1 + np.exp(-sure)) - labels) * share / len(rows)).astype(np.float32)
    back = np.outer(wrong, network.output[:-1]) * (inner > 0)
    hidden = np.vstack((product(rows.T, back), back.sum(axis=0)))
    output = np.append(product(inner.T, wrong), wrong.sum())
    return hidden.astype(np.float32), output.astype(np.float32)


class _Adam:
    """Steps of a size that fits each weight (Kingma and Ba, 2015); changes *arrays* in place."""

    FIRST, SECOND = 0.9, 0.999

    def __init__(self, rate: float, arrays: list[Matrix]) -> None:
        self.rate, self.arrays, self.count = rate, arrays, 0
        self.first = [np.zeros_like(array) for array in arrays]
        self.second = [np.zeros_like(array) for array in arrays]

    def step(self, slopes: list[Matrix], share: float) -> None:
        """One step down the *slopes*, of a *share* of the full rate."""
        self.count += 1
        for i, slope in enumerate(slopes):
            self.first[i] += (1 - self.FIRST) * (slope - self.first[i])
            self.second[i] += (1 - self.SECOND) * (slope * slope - self.second[i])
            mean = self.first[i] / (1 - self.FIRST**self.count)
            spread = np.sqrt(self.second[i] / (1 - self.SECOND**self.count))
            self.arrays[i] -= np.float32(self.rate * share) * mean / (spread + np.float32(1e-8))
