"""The crash campaign finds what is wrong with a store, and finds nothing wrong with ours."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from time import sleep

import pytest

from research.benchmarks.crash import ALL, Found, Outcome, checkpoint, compared, one_round, shown
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import StoredModel
from scrapy_mss.storage.opening import store_at
from scrapy_mss.storage.sqlite_store import SQLiteStore
from scrapy_mss.storage.tables import Change

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="writers are forked")
PARTS = ("model", "seen", "lists", "stories", "sites", "quality", "unsure")


@pytest.mark.parametrize(
    ("model", "seen", "expected"),
    [
        ({1: 1, 2: 1, ALL: 2}, {1: 1, 2: 1}, Found()),
        ({1: 1, 2: 1, 3: 1, ALL: 3}, {1: 1, 2: 1, 3: 1}, Found()),  # killed before the report
        ({1: 1, ALL: 1}, {1: 1}, Found(lost=1)),
        ({1: 1, 2: 1, ALL: 4}, {1: 1, 2: 1}, Found(twice=2)),
        ({1: 1, 2: 2, ALL: 2}, {1: 1, 2: 1}, Found(twice=1)),
        ({1: 1, 2: 1, 3: 1, ALL: 3}, {1: 1, 2: 1}, Found(apart=1)),
        ({1: 1, 2: 1, ALL: 1}, {1: 1, 2: 1}, Found(apart=1)),  # it is there, but not counted
    ],
)
def test_what_is_wrong_is_counted(
    model: dict[int, int], seen: dict[int, int], expected: Found
) -> None:
    assert compared({"model": Counter(model), "seen": Counter(seen)}, {1, 2}) == expected


def written(folder: Path, *parts: str) -> Found:
    """What is found where a checkpoint was written, and then these *parts* of the next."""
    with closing(store_at(str(folder))) as store:
        model = StoredModel(store, DEFAULT)
        store.write(list(checkpoint(model, store, 1).values()))
        following = checkpoint(model, store, 2)
        store.write([following[part] for part in parts])
        return compared(shown(store, [1, 2]), {1})


@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_is_not_written_or_alone_is_found_out(part: str, tmp_path: Path) -> None:
    others = [each for each in PARTS if each != part]

    assert written(tmp_path / "all", *PARTS) == Found()
    assert written(tmp_path / "others", *others).apart
    assert written(tmp_path / "alone", part).apart


def one_by_one(self: SQLiteStore, changes: Sequence[Change]) -> None:
    for change in changes:
        write(self, [change])
        sleep(0.01)


def unlocked(self: SQLiteStore, changes: Sequence[Change]) -> None:
    """As where another crawl may come between reading and writing."""
    found = self.get({key for change in changes for key in change.reads})
    writes = {key: row for change in changes for key, row in change.writes(found).items()}
    sleep(0.01)
    write(self, [Change((), lambda _: writes)])


def repeated(self: SQLiteStore, changes: Sequence[Change]) -> None:
    """As a checkpoint that takes an error after the write for a failure."""
    write(self, changes)
    write(self, changes)


def forgotten(_self: SQLiteStore, _changes: Sequence[Change]) -> None:
    """As one that is reported before it is written."""


write = SQLiteStore.write


@pytest.mark.slow("campaigns that kill processes")
@pytest.mark.parametrize("broken", [one_by_one, unlocked, repeated, forgotten])
def test_a_store_that_is_broken_is_found_out(
    broken: Callable[[SQLiteStore, Sequence[Change]], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(SQLiteStore, "write", broken)
    outcome = Outcome()

    seeds = iter(range(100))  # one may be enough, or a dozen where writers seldom meet
    while not any(outcome.found) and (seed := next(seeds, None)) is not None:
        one_round(str(tmp_path), random.Random(seed), outcome)  # noqa: S311 - moments to kill at

    assert any(outcome.found)
