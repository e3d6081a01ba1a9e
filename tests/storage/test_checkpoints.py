"""Checkpoints of parts that only count what they store."""

from __future__ import annotations

import asyncio
from functools import partial
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.storage import checkpoints as module
from scrapy_mss.storage.checkpoints import CheckpointPart, Checkpoints
from scrapy_mss.storage.tables import MODEL, Change, Key, Row, Rows, StoreError
from tests.helpers.shelves import Shelf


class Counter(CheckpointPart[range]):
    """Adds to a number in the store."""

    FAILED = "the number cannot be stored"
    LOST = "%d of the number"

    def __init__(self, name: str = "a") -> None:
        super().__init__(lambda: range(0), self._adding)
        self.key = MODEL.key(name)
        self.outcomes: list[object] = []
        self.taking: Exception | None = None  # what taking fails with

    def add(self, number: int = 1) -> None:
        self._unsaved = range(len(self._unsaved) + number)

    def take(self) -> Change | None:
        if self.taking is not None:
            raise self.taking
        return super().take()

    def _adding(self, batch: range) -> Change:
        def more(found: Rows) -> dict[Key, Row | None]:
            return {self.key: Row(b"%d" % (int(found.get(self.key, b"0")) + len(batch)), 0)}

        return Change([self.key], more, partial(self._after, len(batch)))

    def _after(self, number: int) -> int:
        return number

    def _joined(self, batch: range, later: range) -> range:
        return range(len(batch) + len(later))

    def settle(self, result: object, error: Exception | None) -> None:
        self.outcomes.append(error or result)
        super().settle(result, error)

    def take_last(self, *, finished: bool) -> Change | None:
        rows = {MODEL.key("end"): Row(str(finished).encode(), 0)}
        return Change((), lambda _found: rows)


def stored(shelf: Shelf, *names: str) -> list[int]:
    return [int(shelf.get([MODEL.key(name)]).get(MODEL.key(name), 0)) for name in names or ("a",)]


def end(shelf: Shelf) -> bytes:
    return shelf.rows[MODEL.key("end")].value


STEPS = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from(["add", "write", "store", "take"])),
    max_size=20,
)


@given(STEPS)
def test_all_is_stored_once_whatever_fails_meanwhile(steps: list[tuple[str, str]]) -> None:
    """And where one part has failed, no other is stored without it."""
    shelf, parts = Shelf(), {name: Counter(name) for name in "ab"}
    checkpoints, total = Checkpoints(shelf, list(parts.values())), dict.fromkeys("ab", 0)
    at_last_write = (0, 0)
    for name, step in steps:
        if step == "add":
            parts[name].add()
            total[name] += 1
        elif step == "store":
            shelf.failing = [OSError("full") if name == "a" else MemoryError("full")]
        elif step == "take":
            parts[name].taking = None if parts[name].taking else MemoryError("full")
        else:
            fails = bool(shelf.failing) or any(part.taking for part in parts.values())
            checkpoints.begin()
            assert checkpoints.settle()
            at_last_write = at_last_write if fails else (total["a"], total["b"])
            assert tuple(stored(shelf, "a", "b")) == at_last_write
    for part in parts.values():
        part.taking = None
    shelf.failing = []
    checkpoints.close(finished=True)

    assert stored(shelf, "a", "b") == list(total.values())
    assert end(shelf) == b"True"
    assert shelf.is_closed


def test_what_comes_while_a_checkpoint_is_written_is_in_the_next() -> None:
    shelf, part = Shelf(), Counter()
    checkpoints = Checkpoints(shelf, [part])
    part.add(1)
    shelf.go_on.clear()
    part.checkpoint()
    part.add(2)
    part.checkpoint()  # the first is still being written

    assert not checkpoints.settle(0)
    shelf.go_on.set()
    checkpoints.close(finished=False)
    assert (stored(shelf), end(shelf)) == ([3], b"False")


def test_the_event_loop_goes_on_while_a_crawl_ends() -> None:
    shelf, part = Shelf(), Counter()
    checkpoints = Checkpoints(shelf, [part])
    part.add()
    shelf.go_on.clear()

    async def ended() -> None:
        finishing = asyncio.create_task(checkpoints.finish(finished=True))
        await asyncio.sleep(0)
        shelf.go_on.set()
        await finishing

    asyncio.run(ended())
    part.add()  # too late
    checkpoints.begin()
    checkpoints.close(finished=True)

    assert (stored(shelf), end(shelf), part.lost) == ([1], b"True", 1)


@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), MemoryError()])
def test_what_no_thread_can_write_is_not_written_later(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """An executor queues a call before it starts a thread, and the next thread would make it."""
    shelf, part = Shelf(), Counter()
    checkpoints = Checkpoints(shelf, [part])
    part.add()

    def failing(_: Thread) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(Thread, "start", failing)
        part.checkpoint()
    assert (part.failures, part.lost) == (1, 1)
    checkpoints.close(finished=True)

    assert stored(shelf) == [1]


def test_a_part_that_always_fails_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    failing, part = Counter("a"), Counter("b")
    failing.taking = MemoryError("all is full")
    checkpoints = Checkpoints(shelf := Shelf(), [part, failing])
    part.add()
    checkpoints.begin()
    checkpoints.close(finished=True)

    assert (failing.failures, part.failures, part.lost) == (2, 2, 1)
    (message,) = set(caplog.messages)
    assert message.startswith("scrapy-mss: the number cannot be stored: all is full. The crawl")
    assert end(shelf) == b"True"


def test_an_error_after_a_change_was_written_is_its_outcome() -> None:
    """It is stored: nobody may store it again."""

    class Failing(Counter):
        def _after(self, number: int) -> int:
            raise MemoryError("all is full")

    shelf, parts = Shelf(), [Failing("a"), Counter("b")]
    checkpoints = Checkpoints(shelf, parts)
    for part in parts:
        part.add()
    checkpoints.begin()
    checkpoints.close(finished=True)

    assert stored(shelf, "a", "b") == [1, 1]
    assert isinstance(parts[0].outcomes[0], MemoryError)
    assert parts[1].outcomes[0] == 1
    assert [part.failures for part in parts] == [0, 0]


@pytest.mark.parametrize("error", [StoreError("the disk is full"), MemoryError("all is full")])
def test_what_is_old_is_forgotten_once_a_day_and_a_failure_of_that_is_none_of_what_is_written(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    asked: list[int] = []
    seconds = 10.0**9

    class Full(Shelf):
        def forget(self, now: int) -> None:
            asked.append(now)
            raise error

    part = Counter()
    checkpoints = Checkpoints(shelf := Full(), [part])
    monkeypatch.setattr(module, "minute_now", lambda: int(seconds // 60))
    for _ in range(5):
        part.add()
        checkpoints.begin()
        assert checkpoints.settle()
        seconds += 10 * 3600
    checkpoints.close(finished=True)

    first = 10**9 // 60
    assert asked == [first, first + 30 * 60]
    assert (stored(shelf), part.failures) == ([5], 0)
    assert set(caplog.messages) == {f"scrapy-mss: what is old cannot be deleted: {error}"}


def test_a_store_that_cannot_be_closed_may_have_lost_the_last_checkpoint(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Unclosed(Shelf):
        def close(self) -> None:
            raise StoreError("the shelf is broken")

    parts = [Counter("a"), Counter("b")]
    checkpoints = Checkpoints(Unclosed(), parts)
    for part in parts:
        part.add(2)
    checkpoints.begin()
    checkpoints.close(finished=True)

    assert [part.lost for part in parts] == [2, 2]
    assert "the last checkpoint may not be stored: the shelf is broken" in caplog.text
