"""Time limits that one thread keeps: what is over is ended, once, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

import pytest

from scrapy_mss.crawl import time_limits
from scrapy_mss.crawl.time_limits import TimeKeeper, TimeLimit

pytestmark = pytest.mark.any_scrapy("a thread; there is no crawl")

LIMIT = 60.0  # seconds; no test waits that long unless something is wrong
SHORT = 0.02
LONG = 1_000.0


class Place:
    """Where something is done that can be ended."""

    def __init__(self) -> None:
        self.ended = Event()
        self.n_ended = 0
        self.limit = TimeLimit(self._end)

    def _end(self) -> None:
        self.n_ended += 1
        self.ended.set()


@contextmanager
def kept(*places: Place) -> Iterator[None]:
    keeper = TimeKeeper([place.limit for place in places], SHORT)
    keeper.start()
    try:
        yield
    finally:
        keeper.stop()


def test_what_is_over_is_ended_and_what_is_not_goes_on() -> None:
    over, other = Place(), Place()

    with kept(over, other), other.limit.of(LONG), over.limit.of(SHORT):
        assert over.ended.wait(LIMIT)

    assert (over.n_ended, over.limit.passed) == (1, True)
    assert (other.n_ended, other.limit.passed) == (0, False)


def test_what_begins_while_the_thread_sleeps_is_ended_too() -> None:
    first, later = Place(), Place()

    with kept(first, later):
        with first.limit.of(SHORT):
            assert first.ended.wait(LIMIT)
        with later.limit.of(2 * SHORT):
            assert later.ended.wait(LIMIT)
        with first.limit.of(LONG):
            passed_again = first.limit.passed

    assert (first.n_ended, later.n_ended, passed_again) == (1, 1, False)


def test_what_is_done_is_not_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    place = Place()
    with place.limit.of(SHORT):
        pass
    monkeypatch.setattr(time_limits, "monotonic", lambda: float("1e12"))

    place.limit.check()

    assert (place.n_ended, place.limit.passed) == (0, False)


def test_a_keeper_that_was_not_started_can_be_stopped() -> None:
    TimeKeeper([], SHORT).stop()
