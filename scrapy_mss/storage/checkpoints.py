"""Checkpoints: one thread writes the unsaved state of all parts of a crawl in one transaction.

A part keeps what is unsaved in memory. A checkpoint takes it and has it written while the crawl
goes on, as that may have to wait for another crawl or for a server; what could not be written is
the parts' again, and is tried with the next checkpoint. All but the writing is done in the thread
of the crawl.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as done
from threading import get_ident
from typing import Any, ClassVar, Final, Generic, TypeVar

from scrapy_mss.storage.tables import DAY, Change, Store, minute_now

logger = logging.getLogger(__name__)

Q = TypeVar("Q")
T = TypeVar("T")
B = TypeVar("B", bound=Sized)

FORGOTTEN_EVERY: Final = DAY  # minutes


class CheckpointPart(ABC, Generic[B]):
    """A part of a crawl that collects what is unsaved in a batch, and goes on with an *empty* one.

    *change* gives the change that stores a batch.
    """

    FAILED: ClassVar[str]  # what has failed, in a log
    MEANWHILE: ClassVar[str] = ""  # what that means for the crawl, which goes on
    LOST: ClassVar[str]  # what is logged of what is lost, with room for how many

    def __init__(self, empty: Callable[[], B], change: Callable[[B], Change]) -> None:
        self.checkpoints: Checkpoints | None = None
        self.failures = 0
        self._empty, self._change = empty, change
        self._unsaved = empty()
        self._in_flight = empty()  # what is being written, or could not be
        self._n_dropped = 0
        self._n_written = 0  # of the last batch that was written

    @abstractmethod
    def _joined(self, batch: B, later: B) -> B:
        """What is unsaved after *batch* could not be written; beyond a bound, the oldest go."""

    def _written(self, batch: B) -> None:
        """Note that *batch* is stored."""

    @property
    def lost(self) -> int:
        """How much could not be stored, once all has ended."""
        return self._n_dropped + len(self._in_flight) + len(self._unsaved)

    @property
    def loss(self) -> str:
        return self.LOST % self.lost

    def take(self) -> Change | None:
        """The change that stores all that is unsaved; None if there is nothing."""
        self._take_back()
        if not len(self._unsaved):
            return None
        self._in_flight, self._unsaved = self._unsaved, self._empty()
        return self._change(self._in_flight)

    def settle(self, _result: object, error: Exception | None) -> None:
        """Note the outcome of the change taken; after an *error*, it is unsaved again."""
        if error is None:
            batch, self._in_flight = self._in_flight, self._empty()
            self._n_written = len(batch) or self._n_written
            self._written(batch)
            return
        self._n_written = 0
        self.store_failed(error)
        try:
            self._take_back()
        except MemoryError as caught:
            self.store_failed(caught)

    def _take_back(self) -> None:
        """Let what could not be written be unsaved again; where memory fails, the next time."""
        if len(self._in_flight):
            self._unsaved = self._joined(self._in_flight, self._unsaved)
            self._in_flight = self._empty()

    def take_last(self, *, finished: bool) -> Change | None:  # noqa: ARG002 - for parts that differ
        """The change to be stored at the end of a crawl that has *finished*, or was stopped."""
        return None

    def doubt(self) -> None:
        """Note that what was written last may not be stored."""
        self._n_dropped += self._n_written

    def checkpoint(self) -> None:
        if self.checkpoints is not None:
            self.checkpoints.begin()

    def asked(self, ask: Callable[[Q], T], of: Q) -> T | None:
        """What the store answers to *ask*; None where it fails."""
        try:
            return ask(of)
        except OSError as error:
            self.store_failed(error)
            return None

    def store_failed(self, error: BaseException) -> None:
        """Count a failure of the store, and log the first one."""
        self.failures += 1
        if self.failures == 1:
            logger.warning(
                "scrapy-mss: %s: %s. The crawl continues%s; further failures are only counted",
                self.FAILED,
                error,
                self.MEANWHILE,
            )


class Checkpoints:
    """Writes what is unsaved of all *parts* to their *store*."""

    def __init__(self, store: Store, parts: Sequence[CheckpointPart[Any]]) -> None:
        self.store = store
        self.parts = parts
        self._taken: list[CheckpointPart[Any]] = []
        self._write: Future[list[Any]] | None = None
        self._ending: Future[None] | None = None
        self._thread = _new_thread()
        self._forgotten = 0  # the minute in which old rows were last deleted
        for part in parts:
            part.checkpoints = self

    def begin(self) -> None:
        """Start to write what is unsaved, unless a write is in progress."""
        if self._ending is None and self.settle(0):
            self._begin(lambda part: part.take())

    def settle(self, seconds: float | None = None) -> bool:
        """Wait at most *seconds* for the write in progress; whether it is complete."""
        if self._write is None:
            return True
        if not done([self._write], seconds).done:
            return False
        write, self._write = self._write, None
        error = write.exception()
        if error is not None and not isinstance(error, Exception):
            raise error
        results = [None] * len(self._taken) if error is not None else write.result()
        self._settle(results, error)
        return True

    def run(self, work: Callable[[], T]) -> Future[T]:
        return self._thread.submit(work)

    async def written(self) -> None:
        """Write all that is unsaved while the event loop goes on."""
        await self._settled()
        self.begin()
        await self._settled()

    async def finish(self, *, finished: bool) -> None:
        """Write all, and what is stored only at the end, while the event loop goes on."""
        await self.written()
        if self._ending is None:
            self._begin(lambda part: part.take_last(finished=finished))
            await self._settled()
            await completed(self._begin_ending(), at_end=True)

    def close(self, *, finished: bool) -> None:
        """Write what `finish` has not written; what cannot be written is lost."""
        if self._ending is None:
            self.settle()
            self.begin()
            self.settle()
            self._begin(lambda part: part.take_last(finished=finished))
            self.settle()
        error = self._begin_ending().exception()
        self._thread.shutdown()
        if error is not None:
            logger.warning("scrapy-mss: the last checkpoint may not be stored: %s", error)
            for part in self.parts:
                part.doubt()

    def _begin(self, take: Callable[[CheckpointPart[Any]], Change | None]) -> None:
        """Start to write the change that *take* gives for each part."""
        self._taken, changes = [], list[Change]()
        try:
            for part in self.parts:
                self._taken.append(part)
                change = take(part)
                if change is None:
                    self._taken.pop()
                else:
                    changes.append(change)
            if changes:
                self._write = self._thread.submit(self._written, changes)
        except Exception as error:  # noqa: BLE001 - of memory, or no thread can be started
            self._thread = _new_thread()  # the old one would write later what it has queued
            self._settle([None] * len(self._taken), error)

    def _written(self, changes: Sequence[Change]) -> list[Any]:
        self.store.write(changes)
        self._forget()
        return [_outcome(change) for change in changes]

    def _forget(self) -> None:
        """Once a day, have the store delete old rows; after a failure, again the next day."""
        now = minute_now()
        if now - self._forgotten >= FORGOTTEN_EVERY:
            self._forgotten = now
            try:
                self.store.forget(now)
            except Exception as error:  # noqa: BLE001 - of memory: what was written stays written
                logger.warning("scrapy-mss: what is old cannot be deleted: %s", error)

    def _settle(self, results: Sequence[Any], error: Exception | None) -> None:
        taken, self._taken = self._taken, []
        for part, result in zip(taken, results, strict=True):
            part.settle(result, error)

    async def _settled(self) -> None:
        while self._write is not None:  # a timer may begin the next
            await completed(self._write, at_end=True)
            self.settle()

    def _begin_ending(self) -> Future[None]:
        if self._ending is None:
            self._ending = self._thread.submit(self.store.close)
        return self._ending


def _outcome(change: Change) -> Any:  # noqa: ANN401 - of the change
    """What `Change.after` returns, or its error, which does not undo the *change*."""
    try:
        return change.after()
    except Exception as error:  # noqa: BLE001 - of the store, of memory: the part gets the error
        return error


def _new_thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="scrapy-mss-store")


async def completed(future: Future[Any], *, at_end: bool = False) -> None:
    """Wait until *future* is done, with a result or not.

    Neither errors nor cancellation are propagated: asyncio logs the error of a future that nobody
    awaits, and a cancelled future is lost to all others that wait for it. A crawl that does not run
    on asyncio is blocked, but for the coroutines *at_end*, of which Scrapy makes Deferreds.
    """
    if future.done():
        return
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        reactor: Any = sys.modules.get("twisted.internet.reactor")
        if at_end and reactor is not None and reactor.running:
            await _completed_in(reactor, future)
        else:
            done([future])
        return
    # A chained future of asyncio would take four times as long, twice a page.
    waiting, thread = loop.create_future(), get_ident()

    def wake() -> None:
        if not waiting.done():
            waiting.set_result(None)

    def tell(_: Future[Any]) -> None:
        if get_ident() == thread:  # for which the loop need not be woken up
            wake()
        elif not waiting.done():
            loop.call_soon_threadsafe(wake)

    future.add_done_callback(tell)
    await waiting


async def _completed_in(reactor: Any, future: Future[Any]) -> None:  # noqa: ANN401 - untyped there
    from twisted.internet.defer import Deferred

    waiting: Deferred[None] = Deferred()
    future.add_done_callback(lambda _: reactor.callFromThread(waiting.callback, None))
    await waiting
