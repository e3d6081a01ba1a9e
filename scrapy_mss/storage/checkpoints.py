"""Checkpoints: one thread writes what the parts of a crawl have not stored yet.

A part keeps what is unsaved in memory. A checkpoint takes it and has it written while the crawl
goes on, as that may have to wait for another crawl or for a server; what could not be written is
the part's again, and is tried with the next checkpoint. All but the writing is done in the thread
of the crawl.
"""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as done
from contextlib import ExitStack
from typing import Any, ClassVar, TypeAlias, TypeVar

logger = logging.getLogger(__name__)

Work: TypeAlias = Callable[[], Any]  # what is done in the thread that writes
Outcome: TypeAlias = tuple[Any, Exception | None]  # what it returned, or why it failed
T = TypeVar("T")


class Part(ABC):
    """A part of a crawl that has something to store."""

    FAILED: ClassVar[str]  # what is logged of the first failure, with room for the error
    LOST: ClassVar[str]  # what is logged of what is lost, with room for how many

    def __init__(self) -> None:
        self.checkpoints: Checkpoints | None = None  # that write it
        self.needs: Part | None = None  # what must be written before
        self.failures = 0

    @property
    @abstractmethod
    def lost(self) -> int:
        """How much could not be stored, once all has ended."""

    @property
    def loss(self) -> str:
        """What is lost, as it is logged."""
        return self.LOST % self.lost

    @abstractmethod
    def take(self) -> Work | None:
        """What stores all that is unsaved; None if there is nothing."""

    @abstractmethod
    def settle(self, result: Any, error: Exception | None) -> None:  # noqa: ANN401 - of the work
        """Note what came of what was taken; after an *error*, it is unsaved again."""

    @abstractmethod
    def ending(self, *, finished: bool) -> Work:
        """What the thread does in the end, after a crawl that has *finished* or was ended."""

    def ended(self, error: Exception | None) -> None:
        """Note what came of that."""
        if error is not None:
            self.store_failed(error)

    def checkpoint(self) -> None:
        """Begin to store what is unsaved, with that of all other parts."""
        if self.checkpoints is not None:
            self.checkpoints.begin()

    def store_failed(self, error: BaseException) -> None:
        """Count a failure of the store, and log the first one."""
        self.failures += 1
        if self.failures == 1:
            logger.warning(f"scrapy-mss: {self.FAILED}", error)  # noqa: G004 - a constant


class Checkpoints:
    """Writes what is unsaved of all *parts*, in their order."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = parts
        self._taken: list[Part] = []
        self._write: Future[list[Outcome]] | None = None
        self._ending: Future[list[Outcome]] | None = None
        self._thread = _new_thread()
        for part in parts:
            part.checkpoints = self

    def begin(self) -> None:
        """Begin to write what is unsaved, unless a write is under way."""
        if self._ending is not None or not self.settle(0):
            return
        works = [(part, work) for part in self.parts if (work := _work(part.take)) is not None]
        if not works:
            return
        try:
            self._write = self._thread.submit(_outcomes, works)
            self._taken = [part for part, _ in works]
        except Exception as error:  # noqa: BLE001 - no thread can be started
            self._thread = _new_thread()  # the old one would write later what it has queued
            for part, _ in works:
                part.settle(None, error)

    def settle(self, seconds: float | None = None) -> bool:
        """Wait so many *seconds* for what is being written; whether it is."""
        if self._write is None:
            return True
        if not done([self._write], seconds).done:
            return False
        write, self._write = self._write, None
        taken, self._taken = self._taken, []
        for part, outcome in zip(taken, write.result(), strict=True):
            part.settle(*outcome)
        return True

    def run(self, work: Callable[[], T]) -> Future[T]:
        """Have the thread do some other *work* next."""
        return self._thread.submit(work)

    async def written(self) -> None:
        """Write all that is unsaved while the event loop, which must be asyncio's, goes on."""
        await self._settled()
        self.begin()
        await self._settled()

    async def finish(self, *, finished: bool) -> None:
        """Write all, and what is to be done in the end, while the event loop goes on."""
        await self.written()
        await completed(self._begin_ending(finished=finished))

    def close(self, *, finished: bool) -> None:
        """Write what `finish` has not; what cannot be written is lost."""
        if self._ending is None:
            self.settle()
            self.begin()
            self.settle()
        outcomes = self._begin_ending(finished=finished).result()
        self._thread.shutdown()
        with ExitStack() as steps:  # each, whatever the others raise
            for part, (_, error) in zip(self.parts, outcomes, strict=True):
                steps.callback(part.ended, error)

    async def _settled(self) -> None:
        while self._write is not None:  # a timer may begin the next
            await completed(self._write)
            self.settle()

    def _begin_ending(self, *, finished: bool) -> Future[list[Outcome]]:
        if self._ending is None:
            works = [(part, part.ending(finished=finished)) for part in self.parts]
            self._ending = self._thread.submit(_outcomes, works)
        return self._ending


def _new_thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="scrapy-mss-store")


def _work(take: Callable[[], Work | None]) -> Work | None:
    """What is taken; where that fails, as of memory, what fails in its place."""
    try:
        return take()
    except Exception as error:  # noqa: BLE001 - the part is told of it like of any other
        caught = error

    def fail() -> None:
        raise caught

    return fail


def _outcomes(works: Sequence[tuple[Part, Work]]) -> list[Outcome]:
    """What came of all *works*; what needs one that failed is not done."""
    errors: dict[Part, Exception] = {}
    outcomes: list[Outcome] = []
    for part, work in works:
        result, error = None, errors.get(part.needs) if part.needs is not None else None
        if error is None:
            try:
                result = work()
            except Exception as caught:  # noqa: BLE001 - of the store, of memory: others go on
                error = caught
        if error is not None:
            errors[part] = error
        outcomes.append((result, error))
    return outcomes


async def completed(future: Future[Any]) -> None:
    """Wait until *future* is done, which need not mean that it has a result.

    Neither errors nor cancellation are propagated: asyncio logs the error of a future that nobody
    awaits, and a cancelled future is lost to all others that wait for it.
    """
    if future.done():
        return
    ours = asyncio.wrap_future(future)
    ours.add_done_callback(lambda done: done.cancelled() or done.exception())
    await asyncio.wait([ours])
