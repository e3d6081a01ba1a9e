"""Extraction in processes beside the crawl's own, so that a large page stalls nothing.

A worker is a Python of its own that runs `worker`, not a copy of this process: no script is run
twice, and nothing but bytes goes between them. The counts lie in memory that all share: the crawl
learns into them, workers read them, and nothing is sent round when the model changes. A page that
takes too long costs its worker, which is killed and replaced; the others go on.
"""

from __future__ import annotations

import asyncio
import mmap
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Timer
from typing import IO

from scrapy_mss.article import Found
from scrapy_mss.crawl import worker
from scrapy_mss.models.format import Model, to_bytes
from scrapy_mss.settings import OWN_EXTRACTOR

START_SECONDS = 60.0  # a worker imports for a second; on a machine that swaps, for many


class GivenUpError(RuntimeError):
    """A page that a worker failed at or was lost with; the message is a word for statistics."""


class SharedCounts:
    """Keeps a model's counts in memory that workers can read, until it is closed."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._file = _memory_file()
        os.ftruncate(self._file, worker.size_of(model))
        self.move(mmap.mmap(self._file, worker.size_of(model)))

    def fileno(self) -> int:
        """What a worker inherits to find the memory."""
        return self._file

    def move(self, buffer: mmap.mmap | bytearray) -> None:
        """Let the counts lie in *buffer*, as they are."""
        old = worker.arrays_of(self._model)
        worker.adopt(self._model, memoryview(buffer))
        for target, source in zip(worker.arrays_of(self._model), old, strict=True):
            target[...] = source

    def close(self) -> None:
        """Give the model memory of its own again."""
        self.move(bytearray(worker.size_of(self._model)))
        os.close(self._file)


def _memory_file() -> int:
    """A file without a name, in memory where the system has such files: no crash leaves it."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("scrapy-mss")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


@dataclass(slots=True)
class _Seat:
    """A place for one worker; the process in it may be replaced."""

    process: subprocess.Popen[bytes] | None = None
    late: bool = False  # whether the process was killed for taking too long


class Workers:
    """As many workers as asked for, each with one page at a time."""

    def __init__(self, count: int, model: Model, extractor: str = OWN_EXTRACTOR) -> None:
        self._bare = worker.framed(to_bytes(Model(model.profile, model.judge)))
        self._extractor = extractor
        self._shared = SharedCounts(model)
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="scrapy-mss-worker")
        self._seats = [_Seat() for _ in range(count)]
        self._free: SimpleQueue[_Seat] = SimpleQueue()
        self._closed = False
        for seat in self._seats:
            self._free.put(seat)

    async def read(self, seconds: float, page: worker.Page) -> Found:
        """The article in *page*; a `GivenUpError` after so many *seconds*."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._read, seconds, page)

    def close(self) -> None:
        """End the processes, whatever they are doing, and free what they share."""
        self._closed = True
        for seat in self._seats:
            _end(seat)
        self._threads.shutdown(cancel_futures=True)
        for seat in self._seats:
            _end(seat)  # one that a thread was just starting
        self._shared.close()

    def _read(self, seconds: float, page: worker.Page) -> Found:
        seat = self._free.get()
        try:
            process = self._process(seat)
            with _limited(seat, seconds):
                assert process.stdin is not None
                assert process.stdout is not None
                return _asked(process.stdin, process.stdout, page)
        except (OSError, EOFError, ValueError) as error:
            _end(seat)
            raise GivenUpError("timeout" if seat.late else "crash") from error
        finally:
            if seat.late:  # the answer was there already, the process is gone all the same
                _end(seat)
            self._free.put(seat)

    def _process(self, seat: _Seat) -> subprocess.Popen[bytes]:
        """The process in *seat*, started if there is none that runs."""
        if self._closed:
            raise EOFError("the crawl is over")
        if seat.process is not None and seat.process.poll() is not None:
            _end(seat)
        if seat.process is None:
            number = str(self._shared.fileno())
            seat.process = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-m", worker.__name__, number, self._extractor],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pass_fds=[self._shared.fileno()],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
            with _limited(seat, START_SECONDS):  # so that a page's time is the page's alone
                assert seat.process.stdin is not None
                assert seat.process.stdout is not None
                seat.process.stdin.write(self._bare)
                seat.process.stdin.flush()
                worker.frame(seat.process.stdout)
        return seat.process


def _asked(into: IO[bytes], out: IO[bytes], page: worker.Page) -> Found:
    into.write(worker.framed(page.to_bytes()))
    into.flush()
    found = worker.found_from(worker.frame(out))
    if found.reason == worker.ERROR:
        raise GivenUpError(worker.ERROR)
    return found


@contextmanager
def _limited(seat: _Seat, seconds: float) -> Iterator[None]:
    """Kill the process in *seat* after so many *seconds*, which ends what waits for it."""
    process = seat.process
    seat.late = False

    def kill() -> None:
        seat.late = True
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


def _end(seat: _Seat) -> None:
    process, seat.process = seat.process, None
    if process is None:
        return
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        with suppress(OSError):
            if stream is not None:
                stream.close()
