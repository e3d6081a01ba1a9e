"""A store in memory, which can be broken, or slow; and a clock that tests set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Event
from time import time

import pytest

from scrapy_mss.storage.tables import Change, Key, Row, StoreError, Table, writes_of


class Shelf:
    """What a store is, in few lines."""

    name = "the shelf"

    def __init__(self) -> None:
        self.rows: dict[Key, Row] = {}
        self.is_broken = False  # whether each question fails
        self.failing: list[Exception] = []  # what the next writes fail with
        self.go_on = Event()  # which writes wait for
        self.go_on.set()
        self.n_asked = self.n_writes = self.n_forgotten = 0
        self.is_closed = False

    def check(self) -> None:
        self._ask()

    def get(self, keys: Iterable[Key], *, patient: bool = True) -> dict[Key, bytes]:
        self._ask()
        return {key: self.rows[key].value for key in keys if key in self.rows}

    def used_since(self, table: Table, minute: int) -> dict[bytes, int]:
        self._ask()
        uses = {key: row.used for (of, key), row in self.rows.items() if of == table}
        latest = sorted(uses, key=lambda key: -uses[key])
        return {key: uses[key] for key in latest if uses[key] >= minute}

    def write(self, changes: Sequence[Change]) -> None:
        assert self.go_on.wait(60)
        self.n_writes += 1
        if self.failing:
            raise self.failing.pop(0)
        found = self.get(key for change in changes for key in change.reads)
        for key, row in writes_of(changes, found).items():
            if row is None:
                self.rows.pop(key, None)
            else:
                self.rows[key] = row

    def forget(self, now: int) -> None:
        self.n_forgotten += 1
        self._ask()

    def end(self) -> None:
        """Nobody waits for it."""

    def close(self) -> None:
        self.is_closed = True
        self._ask()

    def _ask(self) -> None:
        self.n_asked += 1
        if self.is_broken:
            raise StoreError("the shelf is broken")


@dataclass(slots=True)
class Clock:
    """Says which *minute* it is, now at first."""

    minute: int = int(time() // 60)

    def __call__(self) -> int:
        return self.minute


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()
