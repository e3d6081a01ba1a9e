"""Extraction in processes next to the crawl's own, so that a large page stalls nothing.

A worker is a Python of its own that runs `worker`, not a copy of this process: no script is run
twice, and nothing but bytes goes between them. The model lies in memory that all share
(`shared_model`), so nothing is sent round when it learns. A page that takes too long costs its
worker, which is killed and replaced; the others go on.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Timer
from typing import IO

from scrapy_mss.article import ArticleResult
from scrapy_mss.crawl import wire, worker
from scrapy_mss.crawl.shared_model import SharedModel
from scrapy_mss.crawl.wire import PageRequest
from scrapy_mss.models.format import to_bytes
from scrapy_mss.models.model import Model

START_SECONDS = 60.0  # a worker imports for a second; on a machine that swaps, for many
TIMEOUT, CRASH = "timeout", "crash"


class ExtractionFailedError(RuntimeError):
    """A page that a worker failed on or was lost with; the message is its reason in the stats."""


@dataclass(slots=True)
class _WorkerSlot:
    """A place for one worker; the process in it may be replaced."""

    process: subprocess.Popen[bytes] | None = None
    timed_out: bool = False  # whether the process was killed for taking too long


class WorkerPool:
    """As many workers as asked for, each with one page at a time."""

    def __init__(
        self, count: int, model: Model, extractor_path: str = "", *, raw_html: bool = False
    ) -> None:
        self._without_counts = to_bytes(Model(model.profile, model.classifier))
        self._arguments = (extractor_path, "raw" if raw_html else "")
        self._shared = SharedModel(model)
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="scrapy-mss-worker")
        self._slots = [_WorkerSlot() for _ in range(count)]
        self._free: SimpleQueue[_WorkerSlot] = SimpleQueue()
        self._closed = False
        for slot in self._slots:
            self._free.put(slot)

    def changing(self) -> AbstractContextManager[None]:
        """To be entered while the model changes."""
        return self._shared.changing()

    async def read(self, seconds: float, page: PageRequest) -> ArticleResult:
        """What came of *page*; an `ExtractionFailedError` after so many *seconds*."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._read, seconds, page)

    def close(self) -> None:
        """End the processes, whatever they are doing, and free what they share."""
        self._closed = True
        for slot in self._slots:
            _end(slot)
        self._threads.shutdown(cancel_futures=True)
        for slot in self._slots:
            _end(slot)  # one that a thread was just starting
        self._shared.close()

    def _read(self, seconds: float, page: PageRequest) -> ArticleResult:
        slot = self._free.get()
        try:
            into, out = self._pipes(slot)
            with _limited(slot, seconds):
                wire.send(into, page.to_bytes())
                result = wire.result_from_bytes(wire.receive(out))
        except (OSError, EOFError, ValueError) as error:
            _end(slot)
            raise ExtractionFailedError(TIMEOUT if slot.timed_out else CRASH) from error
        finally:
            if slot.timed_out:  # the answer was there already, the process is gone all the same
                _end(slot)
            self._free.put(slot)
        if result.reason == worker.ERROR:
            raise ExtractionFailedError(worker.ERROR)
        return result

    def _pipes(self, slot: _WorkerSlot) -> tuple[IO[bytes], IO[bytes]]:
        """The pipes to and from the process in *slot*, started if there is none that runs."""
        if self._closed:
            raise EOFError("the crawl is over")
        if slot.process is not None and slot.process.poll() is not None:
            _end(slot)
        started = slot.process is None
        if slot.process is None:
            slot.process = self._started()
        into, out = slot.process.stdin, slot.process.stdout
        assert into is not None
        assert out is not None
        if started:
            with _limited(slot, START_SECONDS):  # so that a page's time is the page's alone
                wire.send(into, self._without_counts)
                wire.receive(out)
        return into, out

    def _started(self) -> subprocess.Popen[bytes]:
        number = str(self._shared.fileno())
        return subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", worker.__name__, number, *self._arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[self._shared.fileno()],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )


@contextmanager
def _limited(slot: _WorkerSlot, seconds: float) -> Iterator[None]:
    """Kill the process in *slot* after so many *seconds*, which ends what waits for it."""
    process = slot.process
    slot.timed_out = False

    def kill() -> None:
        slot.timed_out = True
        if process is not None:
            process.kill()

    timer = Timer(seconds, kill)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # or it might kill a process that is at the next page


def _end(slot: _WorkerSlot) -> None:
    process, slot.process = slot.process, None
    if process is None:
        return
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        with suppress(OSError):
            if stream is not None:
                stream.close()
