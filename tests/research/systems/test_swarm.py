from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from research.systems.swarm import (
    Swarm,
    fittest,
    fly,
)
from scrapy_mss.markup.tokens import Floats


def peak(positions: Floats) -> Floats:
    """Highest, 0, at a point inside the cube."""
    height: Floats = -np.square(positions - [0.3, 0.7, 0.45]).sum(axis=1)
    return height


def test_a_swarm_finds_a_peak() -> None:
    position, score = fittest(fly(peak, 3, Swarm()))

    assert position.tolist() == pytest.approx([0.3, 0.7, 0.45], abs=0.02)
    assert score == peak(position[np.newaxis])[0]


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.floats(0.1, 1.0))
def test_a_swarm_flies_as_its_definition_does_particle_by_particle(
    seed: int, inertia: float
) -> None:
    swarm = Swarm(4, 6, inertia, seed=seed)

    found = list(fly(peak, 3, swarm))

    random = np.random.default_rng(seed)
    now = random.random((4, 3)).tolist()
    before = own = now
    for generation in found:
        assert generation.positions.tolist() == [pytest.approx(particle) for particle in now]
        own = [max(pair, key=height) for pair in zip(own, now, strict=True)]
        leader = max(now, key=height)
        chance = random.random((2, 4, 3)).tolist()
        moved = []
        for i, j in product(range(4), range(3)):
            speed = inertia * (now[i][j] - before[i][j])
            speed += swarm.cognitive * chance[0][i][j] * (own[i][j] - now[i][j])
            speed += swarm.social * chance[1][i][j] * (leader[j] - now[i][j])
            moved.append(min(1, max(0, now[i][j] + min(1, max(-1, speed)))))
        before, now = now, [moved[3 * i : 3 * i + 3] for i in range(4)]


def height(particle: list[float]) -> float:
    return float(peak(np.array([particle]))[0])
