"""Page work in separate processes, so that no page can block the crawl.

Only a process can be killed in the middle of a page; a thread cannot, and would hold the
interpreter's lock. A worker is a separate Python that runs `worker`, not a copy of this process:
no script is run twice, and only bytes are exchanged. Each has a copy of the model, and is sent what
that has learned with its next page (`model_changes`). A page that takes too long or too much memory
costs its worker, which is replaced; the others continue.

Pebble, which also kills and renews processes, is not suitable: it starts them through
multiprocessing, which reruns the user's script or forks a process with threads, and it pickles
results.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections import deque
from concurrent.futures import Future
from contextlib import AbstractContextManager, suppress
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import IO, NamedTuple

from scrapy_mss.core.naive_bayes import Observation
from scrapy_mss.crawl import wire
from scrapy_mss.crawl.model_changes import NOTHING, ModelChanges
from scrapy_mss.crawl.time_limits import TimeKeeper, TimeLimit
from scrapy_mss.crawl.wire import CRASH, MEMORY, OUT_OF_MEMORY, TIMEOUT, PageAnswer, PageRequest
from scrapy_mss.models.format import to_bytes
from scrapy_mss.models.model import Model
from scrapy_mss.settings import Options

logger = logging.getLogger(__name__)

LOST = (OSError, EOFError, ValueError)  # what a pipe raises when the other end, or it, is gone
WORKER = "scrapy_mss.crawl.worker"
# As `python -m` does, but without the current folder, where a file may be called as a module that
# a worker needs: a crawl that is begun by `scrapy` has not that folder in its path, either.
RUN = (
    "import runpy, sys; sys.path = [each for each in sys.path if each]; "
    "runpy.run_module(sys.argv.pop(1), run_name='__main__')"
)
INSTEAD = "From now on the crawl's own process reads its pages, as with MSS_WORKERS = 0"
START_SECONDS = 60.0  # a worker imports for a second; on a machine that swaps, for many
TRIES = 2  # to start a worker where none has been ready yet: there may be a reason that stays
# Where workers could be started before, or are killed, the reason may go: the system kills them
# while memory is short. The pauses between these tries double, and are 15 seconds in all.
TRIES_LATER = 6
FIRST_PAUSE = 0.5  # seconds
# Native libraries leak a little now and then. A new worker takes about a second to start, its
# pages take minutes.
PAGES_OF_A_WORKER = 5_000
# A thread that waits for an answer has to wait for the interpreter's lock, too, up to 5 ms while
# the event loop is busy. With a page ahead, its worker need not.
PAGES_AHEAD = 1
LARGE_PIPE = 2**20  # bytes, which Linux allows every user; most pages are shorter


def can_have_workers() -> bool:
    """Whether processes can be started here whose time and memory can be limited.

    The executable of a frozen program is that program: it would start itself, over and over.
    """
    return os.name == "posix" and bool(sys.executable) and not getattr(sys, "frozen", False)


class NoWorkerError(Exception):
    """No worker can be started, and none has begun with the page."""

    def __init__(self, page: bytes) -> None:
        super().__init__("no worker can be started")
        self.page = page  # as it would have been sent


def child_environment() -> dict[str, str]:
    """What a child process is given, so that it imports what this one does."""
    path = os.pathsep.join(each or os.curdir for each in sys.path)
    return {**os.environ, "PYTHONPATH": path}


class _Job(NamedTuple):
    """A page, as it is sent, and what will come of it."""

    data: bytes
    answer: Future[PageAnswer]


class _WorkerSlot:
    """A place for one worker, which one thread serves; the process in it may be replaced.

    One that takes too long is killed, which ends what waits for it. A worker answers pages in the
    order in which it was sent them, so it is at the first of ``jobs``.
    """

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.n_pages = 0  # that this process has answered
        self.jobs: deque[_Job] = deque()  # not answered
        self.n_sent = 0  # of them, to this process
        self.generation = NOTHING  # of the model, as far as it was sent to this process
        self.room = 0  # bytes that can be sent to this process before it takes them
        self.limit = TimeLimit(self._kill)

    def _kill(self) -> None:
        process = self.process
        if process is not None:
            process.kill()


class WorkerPool:
    """As many workers as *options* ask for, each with one page at a time and one ahead.

    Threads wait for them, daemons, so that a crawl that is forced to end ends.
    """

    def __init__(self, model: Model, options: Options) -> None:
        """Start nothing yet."""
        self._without_counts = to_bytes(Model(model.profile, model.classifier))
        self._arguments = (str(options.timeout), *options.fields)
        self._seconds = options.timeout
        self._changes = ModelChanges(model)
        self._closed = Event()
        self._has_started = False  # any worker, so that others can be started, too
        self.cannot_start = False  # whether the crawl has to do without: nothing is to be submitted
        self._queue: SimpleQueue[tuple[PageRequest, Future[PageAnswer]] | None] = SimpleQueue()
        self._slots = [_WorkerSlot() for _ in range(options.workers)]
        shortest = min(options.timeout, START_SECONDS)
        self._time_keeper = TimeKeeper([slot.limit for slot in self._slots], shortest)
        self._threads: list[Thread] = []

    def start(self) -> None:
        """Start the workers, in the background; where that fails, none is left."""
        try:
            self._time_keeper.start()
            for slot in self._slots:
                serve = Thread(
                    target=self._serve, args=(slot,), name="scrapy-mss-worker", daemon=True
                )
                serve.start()
                self._threads.append(serve)
        except BaseException:
            self.close()
            raise

    def changing(self, by: Observation | None = None) -> AbstractContextManager[None]:
        """To be entered while the model changes *by* what is added to it, or by anything."""
        return self._changes.changing(by)

    def submit(self, page: PageRequest) -> Future[PageAnswer]:
        """What will come of *page*; it waits for its turn and then has `MSS_TIMEOUT`.

        A `NoWorkerError` if no worker can be started by then.
        """
        job: Future[PageAnswer] = Future()
        if self._closed.is_set():
            job.cancel()
        else:
            self._queue.put((page, job))
        return job

    def close(self) -> None:
        """End the processes, whatever they are doing, and free what they share."""
        self._closed.set()
        for slot in self._slots:
            _end(slot)
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()
        self._time_keeper.stop()

    def _serve(self, slot: _WorkerSlot) -> None:
        """Answer pages by the worker in *slot* until the crawl is over; it is started at once."""
        with suppress(Exception):  # it is logged, and the first page will try again
            self._pipes(slot)
        while self._taken(slot):
            try:
                answer = self._first_answer(slot)
            except Exception as error:  # noqa: BLE001 - whoever waits for it is told
                slot.jobs.popleft().answer.set_exception(error)
            else:
                slot.jobs.popleft().answer.set_result(answer)
        _end(slot)

    def _taken(self, slot: _WorkerSlot) -> bool:
        """Take a job for *slot*, and one ahead; False where the crawl is over.

        Nothing is taken ahead that another worker would have to wait for.
        """
        while len(slot.jobs) <= PAGES_AHEAD:
            if slot.jobs and self._queue.qsize() < len(self._slots):
                break
            try:  # others may have taken what was there
                asked = self._queue.get(block=not slot.jobs)
            except Empty:
                break
            if asked is None:
                if slot.jobs:
                    self._queue.put(None)  # for when these are done
                break
            page, answer = asked
            if self._closed.is_set():
                answer.cancel()
            elif answer.set_running_or_notify_cancel():
                try:
                    slot.jobs.append(_Job(page.to_bytes(), answer))
                except Exception as error:  # noqa: BLE001 - whoever waits for it is told
                    answer.set_exception(error)
        return bool(slot.jobs)

    def _first_answer(self, slot: _WorkerSlot) -> PageAnswer:
        """What comes of the first job in *slot*; the next one is sent meanwhile."""
        is_read = False
        try:
            into, out = self._pipes(slot)
            with slot.limit.of(self._seconds):
                is_read = True
                for job in islice(slot.jobs, slot.n_sent, None):
                    changes, generation = self._changes.since(slot.generation)
                    if slot.n_sent and len(changes) + len(job.data) > slot.room:
                        break  # it and the answer might wait for one another
                    wire.send(into, changes)
                    slot.generation = generation
                    wire.send(into, job.data)
                    slot.n_sent += 1
                answer = PageAnswer.from_bytes(wire.receive(out))
        except LOST:
            exit_code = _end(slot)
            if is_read and slot.limit.passed:  # and not the time that a worker had to start
                return PageAnswer(failure=TIMEOUT)
            if self.cannot_start and not is_read:
                raise NoWorkerError(slot.jobs[0].data) from None
            return PageAnswer(failure=MEMORY if exit_code == OUT_OF_MEMORY else CRASH)
        except BaseException:
            _end(slot)  # or the next page might get the answer to this one
            raise
        slot.n_pages += 1
        slot.n_sent -= 1
        # Killed when the answer was there already, the process is gone all the same.
        if slot.limit.passed or answer.worn or slot.n_pages >= PAGES_OF_A_WORKER:
            _end(slot)
        return answer

    def _pipes(self, slot: _WorkerSlot) -> tuple[IO[bytes], IO[bytes]]:
        """The pipes to and from the process in *slot*, started if there is none that runs."""
        if self._closed.is_set():
            raise EOFError("the crawl is over")
        process = slot.process
        if process is not None and process.poll() is not None:
            _end(slot)
            process = None
        return _pipes_of(process or self._begun(slot))

    def _begun(self, slot: _WorkerSlot) -> subprocess.Popen[bytes]:
        """A process in *slot*, once it is ready; that none can be started is logged once."""
        tried = 0
        while not self.cannot_start:
            tried += 1
            try:
                return self._ready(slot)
            except Exception as error:
                exit_code = _end(slot)
                if self._closed.is_set():
                    raise
                was_killed = exit_code == -signal.SIGKILL and not slot.limit.passed
                may_pass = self._has_started or was_killed
                if tried >= (TRIES_LATER if may_pass else TRIES):
                    self._give_up(error, exit_code, tried)
                    raise
            if may_pass:
                self._closed.wait(FIRST_PAUSE * 2 ** (tried - 1))
        raise EOFError("no worker can be started")

    def _give_up(self, error: Exception, exit_code: int | None, tried: int) -> None:
        """Start no more workers; a traceback of the pipe would not say why."""
        if not self.cannot_start:
            self.cannot_start = True
            logger.error(
                "scrapy-mss: a worker cannot be started, after %d tries: %s: %s; exit code %s. %s",
                tried,
                type(error).__name__,
                error,
                exit_code,
                INSTEAD,
            )

    def _ready(self, slot: _WorkerSlot) -> subprocess.Popen[bytes]:
        """Start a process in *slot* and wait for it: the time of a page is the page's alone."""
        if self._closed.is_set():
            raise EOFError("the crawl is over")
        process = self._started()
        slot.process, slot.n_pages, slot.n_sent = process, 0, 0
        if self._closed.is_set():  # meanwhile, by `close`, which may have found no process here
            raise EOFError("the crawl is over")
        into, out = _pipes_of(process)
        slot.room = _room_of(into) // 2  # it takes pages of memory, full or not
        with slot.limit.of(START_SECONDS):
            wire.send(into, self._without_counts)
            counts, slot.generation = self._changes.since(NOTHING)
            wire.send(into, counts)
            wire.receive(out)
        self._has_started = True
        return process

    def _started(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-c", RUN, WORKER, *self._arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=child_environment(),
            start_new_session=True,  # Ctrl-C is for the crawl, which says when workers stop
        )


def _pipes_of(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


def _room_of(pipe: IO[bytes]) -> int:
    """How many bytes *pipe* takes before anybody reads them, made larger where that is possible."""
    import fcntl

    with suppress(AttributeError, OSError):  # not on Linux; no more for this user
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, LARGE_PIPE)
    with suppress(AttributeError, OSError):
        return fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ)
    return 0


def _end(slot: _WorkerSlot) -> int | None:
    """End the process in *slot*, if there is one; its exit code if it had ended by itself."""
    process, slot.process = slot.process, None
    slot.n_sent = 0
    if process is None:
        return None
    process.kill()
    exit_code = process.wait()
    for stream in (process.stdin, process.stdout):
        with suppress(OSError):
            if stream is not None:
                stream.close()
    return exit_code
