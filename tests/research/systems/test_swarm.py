from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from research.systems.swarm import (
    FASTEST,
    Generation,
    Pull,
    Swarm,
    accelerated,
    fittest,
    fly,
    improved,
)
from scrapy_mss.markup.tokens import Floats


def peak(positions: Floats) -> Floats:
    """Highest, 0, at a point inside the cube."""
    height: Floats = -np.square(positions - [0.3, 0.7, 0.45]).sum(axis=1)
    return height


def test_one_step_is_inertia_and_two_pulls() -> None:
    swarm = Swarm(inertia=0.5, cognitive=2.0, social=1.0)
    positions, velocities = np.array([[0.5, 0.2]]), np.array([[0.1, -0.1]])
    pull = Pull(
        own=np.array([[0.7, 0.2]]),
        leader=np.array([0.6, 0.9]),
        chance=np.array([[[0.5, 0.9]], [[0.25, 1.0]]]),
    )

    found = accelerated(positions, velocities, pull, swarm)

    # 0.5 · 0.1 + 2 · 0.5 · 0.2 + 0.25 · 0.1  and  -0.5 · 0.1 + 2 · 0.9 · 0 + 1 · 0.7
    assert found.tolist() == [pytest.approx([0.275, 0.65])]


def test_no_coordinate_moves_faster_than_the_limit() -> None:
    swarm = Swarm(inertia=1.0)
    here = np.array([[0.5, 0.5]])
    pull = Pull(here, here[0], np.ones((2, 1, 2)))

    found = accelerated(here, np.array([[9.0, -9.0]]), pull, swarm)

    assert found.tolist() == [[FASTEST, -FASTEST]]


def test_a_place_is_remembered_where_it_is_better_and_not_where_it_is_as_good() -> None:
    best = Generation(np.array([[0.1], [0.2], [0.3]]), np.array([1.0, 1.0, 1.0]))
    now = Generation(np.array([[0.4], [0.5], [0.6]]), np.array([2.0, 1.0, 0.0]))

    found = improved(best, now)

    assert found.positions.tolist() == [[0.4], [0.2], [0.3]]
    assert found.scores.tolist() == [2, 1, 1]


def test_the_fittest_is_the_first_of_the_best_in_any_generation() -> None:
    generations = [
        Generation(np.array([[0.1], [0.2]]), np.array([0.0, 1.0])),
        Generation(np.array([[0.3], [0.4]]), np.array([5.0, 5.0])),
        Generation(np.array([[0.5], [0.6]]), np.array([5.0, 2.0])),
    ]

    position, score = fittest(iter(generations))

    assert (position.tolist(), score) == ([0.3], 5.0)


def test_a_swarm_finds_a_peak() -> None:
    position, score = fittest(fly(peak, 3, Swarm()))

    assert position.tolist() == pytest.approx([0.3, 0.7, 0.45], abs=0.02)
    assert score == peak(position[np.newaxis])[0]


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.integers(1, 8), st.integers(0, 6))
def test_a_swarm_stays_in_the_cube_and_repeats_itself(
    seed: int, particles: int, generations: int
) -> None:
    swarm = Swarm(particles, generations, inertia=1.0, cognitive=3.0, seed=seed)

    flights = [list(fly(peak, 3, swarm)) for _ in range(2)]

    first, second = flights
    assert len(first) == generations + 1
    for one, other in zip(first, second, strict=True):
        assert one.positions.shape == (particles, 3)
        assert ((one.positions >= 0) & (one.positions <= 1)).all()
        assert one.scores.tolist() == peak(one.positions).tolist()
        assert one.positions.tolist() == other.positions.tolist()


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


def test_another_seed_is_another_flight() -> None:
    one, other = (next(fly(peak, 3, Swarm(seed=seed))) for seed in (0, 1))

    assert one.positions.tolist() != other.positions.tolist()


@pytest.mark.parametrize("swarm", [{"particles": 0}, {"generations": -1}])
def test_a_swarm_that_cannot_fly_is_refused(swarm: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="one particle at least"):
        Swarm(**swarm)
