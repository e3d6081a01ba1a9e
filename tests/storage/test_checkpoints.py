"""Checkpoints of parts that only count what they store."""

from __future__ import annotations

import asyncio
from threading import Event, Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.storage.checkpoints import Checkpoints, Part, Work


class Counter(Part):
    """Stores a number that it is told to grow by."""

    FAILED = "the number cannot be stored: %s"
    LOST = "%d of the number"

    def __init__(self) -> None:
        super().__init__()
        self.unsaved = self.in_flight = self.stored = 0
        self.fails, self.go_on, self.end = False, Event(), ""
        self.go_on.set()

    @property
    def lost(self) -> int:
        return self.unsaved

    def take(self) -> Work | None:
        if not self.unsaved:
            return None
        self.in_flight, self.unsaved = self.unsaved, 0
        return self._store

    def _store(self) -> int:
        assert self.go_on.wait(60)
        if self.fails:
            raise OSError("the disk is full")
        self.stored += self.in_flight
        return self.stored

    def settle(self, result: object, error: Exception | None) -> None:
        if error is None:
            assert result == self.stored
        else:
            self.store_failed(error)
            self.unsaved += self.in_flight
        self.in_flight = 0

    def ending(self, *, finished: bool) -> Work:
        def end() -> None:
            self.end = f"{finished} {self.stored}"

        return end


STEPS = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from(["add", "fail", "write"])), max_size=20
)


@given(STEPS)
def test_all_is_stored_once_whatever_fails_meanwhile(steps: list[tuple[int, str]]) -> None:
    parts = (Counter(), Counter())
    checkpoints, total = Checkpoints(parts), [0, 0]
    for at, step in steps:
        if step == "add":
            parts[at].unsaved += 1
            total[at] += 1
        elif step == "fail":
            parts[at].fails = not parts[at].fails
        else:
            checkpoints.begin()
    for part in parts:
        assert checkpoints.settle()
        part.fails = False
    checkpoints.close(finished=True)

    assert [part.stored for part in parts] == total
    assert [part.end for part in parts] == [f"True {number}" for number in total]


def test_what_comes_while_a_checkpoint_is_written_is_in_the_next() -> None:
    part = Counter()
    checkpoints = Checkpoints([part])
    part.unsaved = 1
    part.go_on.clear()
    part.checkpoint()
    part.unsaved = 2
    part.checkpoint()  # the first is still being written

    assert not checkpoints.settle(0)
    assert part.unsaved == 2
    part.go_on.set()
    checkpoints.close(finished=False)
    assert (part.stored, part.end) == (3, "False 3")


@pytest.mark.parametrize("fails", [False, True])
def test_what_needs_a_part_is_not_stored_before_it(*, fails: bool) -> None:
    model, seen = Counter(), Counter()
    seen.needs = model
    checkpoints = Checkpoints([model, seen])
    model.unsaved, seen.unsaved, model.fails = 1, 1, fails
    checkpoints.begin()
    assert checkpoints.settle()

    assert seen.unsaved == fails
    assert seen.stored == (not fails)


def test_the_event_loop_goes_on_while_a_crawl_ends() -> None:
    part = Counter()
    checkpoints = Checkpoints([part])
    part.unsaved = 1
    part.go_on.clear()

    async def ended() -> None:
        finishing = asyncio.create_task(checkpoints.finish(finished=True))
        await asyncio.sleep(0)
        part.go_on.set()
        await finishing

    asyncio.run(ended())
    part.unsaved = 1  # too late
    checkpoints.begin()
    checkpoints.close(finished=True)

    assert (part.stored, part.end, part.lost) == (1, "True 1", 1)


@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), MemoryError()])
def test_what_no_thread_can_write_is_not_written_later(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """An executor queues a call before it starts a thread, and the next thread would make it."""
    part = Counter()
    checkpoints = Checkpoints([part])
    part.unsaved = 1

    def failing(_: Thread) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(Thread, "start", failing)
        part.checkpoint()
    assert (part.failures, part.unsaved) == (1, 1)
    checkpoints.close(finished=True)

    assert part.stored == 1


def test_parts_that_fail_to_take_or_to_end_harm_no_other(caplog: pytest.LogCaptureFixture) -> None:
    class Failing(Counter):
        def take(self) -> Work | None:
            raise MemoryError("all is full")

        def ended(self, error: Exception | None) -> None:
            raise ZeroDivisionError

    failing, part = Failing(), Counter()
    checkpoints = Checkpoints([failing, part])
    part.unsaved = 1
    checkpoints.begin()

    with pytest.raises(ZeroDivisionError):
        checkpoints.close(finished=True)
    assert part.stored == 1
    assert failing.failures == 2
    assert caplog.messages == ["scrapy-mss: the number cannot be stored: all is full"]
