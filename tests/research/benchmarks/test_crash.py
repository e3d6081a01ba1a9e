"""The crash campaign finds what is wrong with a file, and finds nothing wrong with ours."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from research.benchmarks.crash import (
    Outcome,
    Target,
    compare,
    counts_of_one_page,
    loaded,
    one_round,
)
from research.benchmarks.redis_server import program
from research.benchmarks.victims import KEY_SHIFT
from scrapy_mss.models import store as store_module
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import Addition, FileStore

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="writers are forked")
KEYS = [n << KEY_SHIFT | 1 for n in range(3)]


@pytest.fixture(scope="module")
def one() -> Model:
    return counts_of_one_page()


def model_of(one: Model, keys: list[int], n_pages: int) -> Model:
    """A model that knows *keys* and has counted *n_pages* pages."""
    model = Model(DEFAULT)
    for _ in range(n_pages):
        model.bayes.merge(one.bayes)
    for key in keys:
        model.learned_pages.add(key, 0)
    return model


@pytest.mark.parametrize(
    ("keys", "n_pages", "expected"),
    [
        (KEYS, 3, (0, 0, 0)),
        ([*KEYS, 77], 4, (0, 0, 0)),  # added, and killed before the report
        (KEYS[1:], 2, (1, 0, 0)),
        (KEYS, 5, (0, 2, 0)),
        (KEYS, 2, (0, 0, 1)),  # known, but not counted
    ],
)
def test_what_is_wrong_with_a_file_is_counted(
    one: Model, keys: list[int], n_pages: int, expected: tuple[int, int, int]
) -> None:
    outcome = Outcome(reported=set(KEYS))

    compare(model_of(one, keys, n_pages), one, outcome)

    assert (outcome.lost, max(0, outcome.twice), outcome.unloadable) == expected
    assert outcome.is_good == (expected == (0, 0, 0))


def test_counts_that_are_no_sum_of_pages_are_counted(one: Model) -> None:
    model, outcome = model_of(one, KEYS, 3), Outcome(reported=set(KEYS))
    model.bayes.counts["unigram"][5, 0] += 1

    compare(model, one, outcome)

    assert outcome.unloadable == 1


def test_a_file_that_cannot_be_read_is_counted(tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(b"half a model")
    outcome = Outcome()

    loaded(FileStore(tmp_path / "model", DEFAULT), outcome)

    assert (outcome.loads, outcome.unloadable) == (1, 1)


def unlocked(self: FileStore, learned: Model) -> Addition:
    model = self.load()
    n_twice = model.merge(learned)
    store_module.write_model(self.path, model)
    return Addition(model, n_twice)


def repeated(self: FileStore, learned: Model) -> Addition:
    """As a checkpoint that takes an error after the rename for a failure."""
    add(self, learned)
    return add(self, learned)


def early(_: FileStore, learned: Model) -> Addition:
    return Addition(learned, 0)


add = FileStore.add


@pytest.mark.parametrize("broken", [unlocked, repeated, early], ids=lambda call: call.__name__)
def test_a_store_that_is_broken_is_found_out(
    tmp_path: Path,
    one: Model,
    broken: Callable[[FileStore, Model], Addition],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(FileStore, "add", broken)
    store, outcome = FileStore(tmp_path / "model", DEFAULT), Outcome()

    seeds = iter(range(100))  # one may be enough, or a dozen where writers seldom meet
    while outcome.is_good and (seed := next(seeds, None)) is not None:
        one_round(Target(store, one), random.Random(seed), outcome)  # noqa: S311 - moments to kill at

    assert not outcome.is_good


def campaign(*options: str) -> list[int]:
    """The numbers that a campaign prints."""
    done = subprocess.run(
        [sys.executable, "-m", "research.benchmarks.crash", *options],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    _, row = done.stdout.splitlines()
    return list(map(int, row.split()))


def test_a_short_campaign_finds_nothing() -> None:
    kills, restarts, added, loads, *bounds = campaign("--kills", "8")

    assert kills >= 8
    assert restarts == 0
    assert added > 0
    assert loads > 0
    assert bounds == [0, 0, 0]


@pytest.mark.skipif(program() is None, reason="no redis-server or valkey-server is installed")
def test_a_short_campaign_against_a_server_that_is_killed_too_finds_nothing() -> None:
    kills, restarts, added, _, *bounds = campaign("--kills", "8", "--redis")

    assert kills >= 8
    assert restarts >= 2
    assert added > 0
    assert bounds == [0, 0, 0]
