"""Particle swarm optimisation in the unit cube (Kennedy and Eberhart, 1995).

Particles are points that fly towards the best place they have been at and towards the best
particle, each pulled with chance; what they look for is the highest fitness. The algorithm is as
Ziegler and Skubacz (2007) have it: it begins anywhere in the cube and at rest, chance is drawn
for each coordinate anew, and the leader is the best of the present generation, not of all.

They say nothing of bounds. With pulls of about 2 and an inertia near 1 speeds grow without end,
so a coordinate moves by the side of the cube at most, a limit as the method had from its beginning;
with less, whole swarms stayed in a corner. A particle that would leave the cube stops at its face,
and what it did not fly is no speed.
The paper's own best run favoured cognition over the swarm, in numbers it does not give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from scrapy_mss.markup.tokens import Floats

FASTEST: Final = 1.0  # a generation, in each coordinate

Fitness: TypeAlias = Callable[[Floats], Floats]  # float64[n, d] -> float64[n]


@dataclass(frozen=True, slots=True)
class Swarm:
    """How many particles fly how far, and what moves them."""

    particles: int = 100
    generations: int = 100
    inertia: float = 0.9
    cognitive: float = 2.5
    social: float = 1.5
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse a swarm that cannot fly."""
        if self.particles < 1 or self.generations < 0:
            raise ValueError(
                "a swarm has one particle at least and no fewer than 0 generations, "
                f"not {self.particles} and {self.generations}"
            )


DEFAULT: Final = Swarm()


class Generation(NamedTuple):
    """Where all particles are, float64[n, d], and how fit they are there, float64[n]."""

    positions: Floats
    scores: Floats

    @property
    def leader(self) -> Floats:
        """The position of the fittest particle, the first of equals."""
        best: Floats = self.positions[np.argmax(self.scores)]
        return best


class Pull(NamedTuple):
    """Where particles are drawn to, and how strongly this time (float64[2, n, d] in [0, 1))."""

    own: Floats
    leader: Floats
    chance: Floats


def fly(fitness: Fitness, dimensions: int, swarm: Swarm) -> Iterator[Generation]:
    """All generations, the random one at the beginning included."""
    random = np.random.default_rng(swarm.seed)
    shape = (swarm.particles, dimensions)
    positions = random.random(shape)
    velocities = np.zeros(shape)
    now = best = Generation(positions, fitness(positions))
    yield now
    for _ in range(swarm.generations):
        pull = Pull(best.positions, now.leader, random.random((2, *shape)))
        velocities = accelerated(now.positions, velocities, pull, swarm)
        positions = np.clip(now.positions + velocities, 0.0, 1.0)
        velocities = positions - now.positions
        now = Generation(positions, fitness(positions))
        best = improved(best, now)
        yield now


def fittest(generations: Iterator[Generation]) -> tuple[Floats, float]:
    """The best position of all generations, and its fitness."""
    best = max(generations, key=lambda generation: float(generation.scores.max()))
    return best.leader, float(best.scores.max())


def accelerated(positions: Floats, velocities: Floats, pull: Pull, swarm: Swarm) -> Floats:
    """float64[n, d]: the velocities of the next generation."""
    own, social = pull.chance
    faster: Floats = (
        swarm.inertia * velocities
        + swarm.cognitive * own * (pull.own - positions)
        + swarm.social * social * (pull.leader - positions)
    )
    return np.minimum(np.maximum(faster, -FASTEST), FASTEST)


def improved(best: Generation, now: Generation) -> Generation:
    """Each particle's best place so far; a place must be better to be it, not as good."""
    better = now.scores > best.scores
    return Generation(
        np.where(better[:, np.newaxis], now.positions, best.positions),
        np.where(better, now.scores, best.scores),
    )
