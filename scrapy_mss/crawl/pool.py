"""Page work in separate processes, so that no page can block the crawl.

Only a process can be killed in the middle of a page; a thread cannot, and would hold the
interpreter's lock. A worker is a child process that runs `worker`. Each has a copy of the model,
and gets what that has learned with its next page. A page that takes too long or too much memory
costs its worker, which is replaced; the others continue.

One thread waits for all workers, in an event loop of its own: the limits of pages do not depend on
what keeps the crawl's loop busy.

Pebble, which also kills and renews processes, is not suitable: it starts them through
multiprocessing, which reruns the user's script or forks a process with threads.
"""

from __future__ import annotations

import asyncio
import logging
import pickle
import socket
from asyncio import StreamReader, StreamWriter
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import islice
from subprocess import Popen
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from scrapy_mss.core.naive_bayes import Observation
from scrapy_mss.crawl.processes import LENGTH, LOST, OUT_OF_MEMORY, message, start
from scrapy_mss.crawl.wire import (
    CRASH,
    MEMORY,
    NOTHING,
    TIMEOUT,
    ModelChanges,
    PageAnswer,
    PageRequest,
)
from scrapy_mss.models.format import to_bytes
from scrapy_mss.models.model import Model
from scrapy_mss.settings import Options

if TYPE_CHECKING:
    from typing_extensions import Self

logger = logging.getLogger(__name__)

T = TypeVar("T")

WORKER = "scrapy_mss.crawl.worker"
INSTEAD = "From now on the crawl's own process reads its pages, as with MSS_WORKERS = 0"
START_SECONDS = 60.0  # a worker imports for a second; on a machine that swaps, for many
# To start a worker; the reason why it fails may pass: the system kills processes while memory is
# short. The pauses between tries double, and are 15 seconds in all.
TRIES = 6
FIRST_PAUSE = 0.5  # seconds
LATE_TRIES = 2  # of a worker that does not start within START_SECONDS, while all pages wait
# Native libraries leak a little now and then. A new worker takes about a second to start, its
# pages take minutes.
PAGES_OF_A_WORKER = 5_000
# The thread that waits for answers has to wait for the interpreter's lock, too, up to 5 ms while
# the crawl's event loop is busy. With a page ahead, its worker need not.
PAGES_AHEAD = 1
# Bytes that a worker need not have read; Linux allows 416 KB, most pages have less.
SENT_AHEAD = 2**20
# Of a long row of pages, for each worker: one is read, one is sent ahead, others end earlier.
PAGES_WAITING = 4
CHARACTERS_WAITING = 2**26  # of all of these; one page may have more


class NoWorkerError(Exception):
    """No worker can be started, and none has begun with the page."""

    def __init__(self, page: bytes) -> None:
        super().__init__("no worker can be started")
        self.page = page  # as it would have been sent


class _Job(NamedTuple):
    """A page, as it is sent, and what will come of it."""

    data: bytes  # which pickles the page
    answer: Future[PageAnswer]


class _Worker:
    """A process that answers pages in the order in which it was sent them."""

    def __init__(self, process: Popen[bytes], reader: StreamReader, writer: StreamWriter) -> None:
        self.process = process
        self._reader = reader
        self._writer = writer
        self.n_answered = 0  # pages
        self.n_sent = 0  # pages that are not answered
        self.generation = NOTHING  # of the model, as far as it was sent
        self.is_late = False  # it was killed because it took too long

    @classmethod
    async def start(cls, arguments: Sequence[str]) -> Self:
        """Start a process whose standard input is a socket for what both send."""
        ours, theirs = socket.socketpair()
        process = None
        try:
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SENT_AHEAD)
            with theirs:
                process = start(WORKER, arguments, theirs.fileno())
            return cls(process, *await asyncio.open_connection(sock=ours))
        except BaseException:
            ours.close()
            if process is not None:
                process.kill()
                process.wait()
            raise

    def send(self, value: object) -> None:
        """Send *value*, without waiting until the process has read it."""
        self._writer.write(message(value))

    async def receive(self) -> Any:  # noqa: ANN401 - what the process sends
        """The next value that the process sends."""
        (length,) = LENGTH.unpack(await self._reader.readexactly(LENGTH.size))
        return pickle.loads(await self._reader.readexactly(length))  # noqa: S301 - our own process

    @contextmanager
    def limited(self, seconds: float) -> Iterator[None]:
        """Kill the process if what is done in this context takes longer."""
        timer = asyncio.get_running_loop().call_later(seconds, self._give_up)
        try:
            yield
        finally:
            timer.cancel()

    def _give_up(self) -> None:
        self.is_late = True
        self.process.kill()

    def end(self) -> int:
        """End the process; its exit code, its own one if it had ended by itself."""
        self._writer.transport.abort()
        self.process.kill()
        return self.process.wait()


class _Slot:
    """A place for one worker, which may be replaced, and the pages that it is to answer."""

    def __init__(self) -> None:
        self.worker: _Worker | None = None
        self.jobs: deque[_Job] = deque()

    def end(self) -> int | None:
        """End the worker, if there is one; its exit code."""
        worker, self.worker = self.worker, None
        return None if worker is None else worker.end()


class WorkerPool:
    """As many workers as *options* ask for, each with one page at a time and one ahead.

    The thread that waits for them is a daemon, so that a crawl that is forced to end ends.
    """

    def __init__(self, model: Model, options: Options) -> None:
        """Start the workers, in the background."""
        self._without_counts = to_bytes(Model(model.profile, model.classifier))
        self._arguments = (str(options.timeout), *options.fields)
        self._seconds = options.timeout
        self._n_workers = options.workers
        self._changes = ModelChanges(model)
        self.cannot_start = False  # whether the crawl has to do without: nothing is to be submitted
        self._queue: asyncio.Queue[_Job] = asyncio.Queue()
        self._closing = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._run, name="scrapy-mss-workers", daemon=True)
        try:
            self._thread.start()
        except BaseException:
            self._loop.close()
            raise

    def changing(self, by: Observation | None = None) -> AbstractContextManager[None]:
        """To be entered while the model changes *by* what is added to it, or by anything."""
        return self._changes.changing(by)

    def submit(self, page: PageRequest) -> Future[PageAnswer]:
        """What will come of *page*; it waits for its turn and then has `MSS_TIMEOUT`.

        A `NoWorkerError` if no worker can be started by then, or why *page* cannot be sent.
        """
        answer: Future[PageAnswer] = Future()
        try:
            job = _Job(pickle.dumps(page, pickle.HIGHEST_PROTOCOL), answer)
        except Exception as error:  # noqa: BLE001 - raised for whoever waits for it
            answer.set_exception(error)
            return answer
        if self._loop.is_closed():
            job.answer.cancel()
        else:
            self._loop.call_soon_threadsafe(self._queue.put_nowait, job)
        return job.answer

    def in_order(
        self, pages: Iterable[tuple[T, PageRequest | None]]
    ) -> Iterator[tuple[T, PageAnswer | None]]:
        """What is given with each of *pages*, in their order, and the answer to it, if it is one.

        They are taken as workers have room.
        """
        waiting: deque[tuple[T, Future[PageAnswer] | None, int]] = deque()
        characters, most = 0, PAGES_WAITING * self._n_workers
        for given, page in pages:
            size = len(page.html) if page else 0
            while waiting and (len(waiting) >= most or characters + size > CHARACTERS_WAITING):
                earlier, answer, n_characters = waiting.popleft()
                characters -= n_characters
                yield earlier, answer.result() if answer else None
            waiting.append((given, self.submit(page) if page else None, size))
            characters += size
        for given, answer, _ in waiting:
            yield given, answer.result() if answer else None

    def close(self) -> None:
        """End the processes, whatever they are doing."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._closing.set)
            self._thread.join()

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve_all())
        self._loop.close()

    async def _serve_all(self) -> None:
        """Answer pages until the crawl is over."""
        serving = [asyncio.create_task(self._serve(_Slot())) for _ in range(self._n_workers)]
        await self._closing.wait()
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
        while not self._queue.empty():
            self._queue.get_nowait().answer.cancel()

    async def _serve(self, slot: _Slot) -> None:
        """Answer pages by the worker in *slot*, which is started at once."""
        try:
            with suppress(Exception):  # it is logged, and the first page will try again
                await self._worker_of(slot)
            while True:
                await self._take(slot.jobs)
                try:
                    answer = await self._first_answer(slot)
                except Exception as error:  # noqa: BLE001 - raised for whoever waits for it
                    slot.jobs.popleft().answer.set_exception(error)
                else:
                    slot.jobs.popleft().answer.set_result(answer)
        finally:
            slot.end()
            for job in slot.jobs:
                job.answer.set_result(PageAnswer(failure=CRASH))

    async def _take(self, jobs: deque[_Job]) -> None:
        """Take a job, and one ahead unless another worker would have to wait for one."""
        while len(jobs) <= PAGES_AHEAD and (not jobs or self._queue.qsize() >= self._n_workers):
            job = await self._queue.get()
            if job.answer.set_running_or_notify_cancel():
                jobs.append(job)

    async def _first_answer(self, slot: _Slot) -> PageAnswer:
        """What comes of the first job in *slot*; the next one is sent meanwhile."""
        worker = None
        try:
            worker = await self._worker_of(slot)
            with worker.limited(self._seconds):
                for job in islice(slot.jobs, worker.n_sent, None):
                    changes, worker.generation = self._changes.since(worker.generation)
                    worker.send((changes, job.data))
                    worker.n_sent += 1
                answer: PageAnswer = await worker.receive()
        except LOST:
            exit_code = slot.end()
            if worker is None and self.cannot_start:
                raise NoWorkerError(slot.jobs[0].data) from None
            if worker is not None and worker.is_late:
                return PageAnswer(failure=TIMEOUT)
            return PageAnswer(failure=MEMORY if exit_code == OUT_OF_MEMORY else CRASH)
        except BaseException:
            slot.end()  # or the next page might get the answer to this one
            raise
        worker.n_answered += 1
        worker.n_sent -= 1
        # Killed when the answer was there already, the process is gone all the same.
        if worker.is_late or answer.needs_restart or worker.n_answered >= PAGES_OF_A_WORKER:
            slot.end()
        return answer

    async def _worker_of(self, slot: _Slot) -> _Worker:
        """The worker in *slot*, started if there is none that runs; why none can be is logged."""
        if slot.worker is not None and slot.worker.process.poll() is None:
            return slot.worker
        slot.end()
        tried = 0
        while not self.cannot_start:
            tried += 1
            try:
                return await self._ready(slot)
            except Exception as error:
                is_late = slot.worker is not None and slot.worker.is_late
                exit_code = slot.end()
                if tried >= (LATE_TRIES if is_late else TRIES):
                    self._give_up(tried, error, exit_code)
                    raise
            await asyncio.sleep(FIRST_PAUSE * 2 ** (tried - 1))
        raise EOFError("no worker can be started")

    def _give_up(self, tried: int, error: Exception, exit_code: int | None) -> None:
        """Start no more workers; a traceback of the socket would not say why."""
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

    async def _ready(self, slot: _Slot) -> _Worker:
        """Start a process in *slot* and wait for it: the time of a page is the page's alone."""
        slot.worker = worker = await _Worker.start(self._arguments)
        with worker.limited(START_SECONDS):
            counts, worker.generation = self._changes.since(NOTHING)
            worker.send((self._without_counts, counts))
            await worker.receive()
        return worker
