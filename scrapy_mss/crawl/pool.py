"""Page work in separate processes, so that no page can block the crawl.

Only a process can be killed in the middle of a page; a thread cannot, and would hold the
interpreter's lock. A worker is a child process that runs `worker`. Each has a copy of the model,
and gets what that has learned with its next page. A page that takes too long or too much memory
costs its worker, which is replaced; the others continue.

A thread waits for each worker: the limits of pages do not depend on what keeps the crawl's event
loop busy.

Pebble, which also kills and renews processes, is not suitable: it starts them through
multiprocessing, which reruns the user's script or forks a process with threads.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Event, Thread
from types import NoneType
from typing import NamedTuple, TypeVar

from scrapy_mss.crawl.processes import (
    CRASH,
    LOST,
    MEMORY,
    OUT_OF_MEMORY,
    TIMEOUT,
    Child,
    message,
    packed,
)
from scrapy_mss.crawl.wire import NOTHING, ModelChanges, PageAnswer, PageRequest
from scrapy_mss.settings import Options

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
# the crawl's event loop is busy. With pages ahead, its worker need not; small ones take 3 ms each.
PAGES_AHEAD = 2
# Bytes of them, for which there is room between the processes; most pages have less.
SENT_AHEAD = 2**18
# Of a long row of pages, for each worker: one is read, two are sent ahead, others end earlier.
PAGES_WAITING = 4
CHARACTERS_WAITING = 2**26  # of all of these; one page may have more


class NoWorkerError(Exception):
    """No worker can be started, and none has begun with the page."""

    def __init__(self, page: bytes) -> None:
        super().__init__("no worker can be started")
        self.page = page  # as it would have been sent


class _Job(NamedTuple):
    """A page, as it is sent, and what will come of it."""

    data: bytes  # the packed page
    answer: Future[PageAnswer]


class _Worker:
    """A place for one process, which may be replaced, and the pages that it is to answer."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.child = Child(WORKER, *arguments)
        self.jobs: deque[_Job] = deque()
        self.n_answered = 0  # pages
        self.sent: deque[int] = deque()  # the bytes of pages that are not answered
        self.generation = NOTHING  # of the model, as far as it was sent

    def end(self) -> int | None:
        """End the process, if there is one; its exit code."""
        self.n_answered = 0
        self.sent.clear()
        return self.child.end()


class WorkerPool:
    """As many workers as *options* ask for, each with one page at a time and some ahead.

    They read by the model of *changes*, and follow these. The threads that wait for them are
    daemons, so that a crawl that is forced to end ends.
    """

    def __init__(self, changes: ModelChanges, options: Options) -> None:
        model, self._changes = changes.model, changes
        self._untaught = model.profile.name, model.classifier
        self._counts = None if model.learned is model else model.bayes.total()
        self._seconds = options.timeout
        self.cannot_start = False  # whether the crawl has to do without: nothing is to be submitted
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()  # None wakes a thread up at the end
        self._closing = Event()
        arguments = (str(options.timeout), ",".join(options.emit), *options.fields)
        self._workers = [_Worker(arguments) for _ in range(options.workers)]
        self._threads: list[Thread] = []
        try:
            for each in self._workers:
                thread = Thread(
                    target=self._serve, args=(each,), name="scrapy-mss-worker", daemon=True
                )
                thread.start()
                self._threads.append(thread)
        except BaseException:
            self.close()
            raise

    def submit(self, page: PageRequest) -> Future[PageAnswer]:
        """What will come of *page*; it waits for its turn and then has `MSS_TIMEOUT`.

        A `NoWorkerError` if no worker can be started by then, or why *page* cannot be sent.
        """
        answer: Future[PageAnswer] = Future()
        try:
            job = _Job(packed(page), answer)
        except Exception as error:  # noqa: BLE001 - raised for whoever waits for it
            answer.set_exception(error)
            return answer
        if self._closing.is_set():
            job.answer.cancel()
        else:
            self._queue.put(job)
        return job.answer

    def in_order(
        self, pages: Iterable[tuple[T, PageRequest | None]]
    ) -> Iterator[tuple[T, PageAnswer | None]]:
        """What is given with each of *pages*, in their order, and the answer to it, if it is one.

        They are taken as workers have room.
        """
        waiting: deque[tuple[T, Future[PageAnswer] | None, int]] = deque()
        characters, most = 0, PAGES_WAITING * len(self._workers)
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
        self._closing.set()
        for worker in self._workers:
            worker.child.close()
            self._queue.put(None)
        for thread in self._threads:
            thread.join()
        with suppress(Empty):
            while True:
                job = self._queue.get_nowait()
                if job is not None:
                    job.answer.cancel()

    def _serve(self, worker: _Worker) -> None:
        """Answer pages by *worker*, which is started at once, until the crawl is over."""
        try:
            with suppress(Exception):  # it is logged, and the first page will try again
                self._begin(worker)
            while self._take(worker.jobs):
                try:
                    answer = self._first_answer(worker)
                except Exception as error:  # noqa: BLE001 - raised for whoever waits for it
                    worker.jobs.popleft().answer.set_exception(error)
                else:
                    worker.jobs.popleft().answer.set_result(answer)
        finally:
            worker.end()
            for job in worker.jobs:
                job.answer.set_result(PageAnswer(failure=CRASH))

    def _take(self, jobs: deque[_Job]) -> bool:
        """Take a job, and some ahead unless another worker would have to wait for one.

        False if the crawl is over.
        """
        with suppress(Empty):
            while not jobs or (
                len(jobs) <= PAGES_AHEAD and self._queue.qsize() >= len(self._workers)
            ):
                job = self._queue.get(block=not jobs)
                if job is None or self._closing.is_set():
                    self._queue.put(job)
                    return False
                if job.answer.set_running_or_notify_cancel():
                    jobs.append(job)
        return not self._closing.is_set()

    def _first_answer(self, worker: _Worker) -> PageAnswer:
        """What comes of the first job of *worker*; the next one is sent meanwhile."""
        try:
            self._begin(worker)
        except LOST:
            if self.cannot_start:
                raise NoWorkerError(worker.jobs[0].data) from None
            return PageAnswer(failure=CRASH)
        try:
            self._send(worker)
            answer = worker.child.receive(PageAnswer, self._seconds)
        except LOST as error:
            exit_code = worker.end()
            if isinstance(error, TimeoutError):
                return PageAnswer(failure=TIMEOUT)
            return PageAnswer(failure=MEMORY if exit_code == OUT_OF_MEMORY else CRASH)
        except BaseException:
            worker.end()  # or the next page might get the answer to this one
            raise
        worker.n_answered += 1
        worker.sent.popleft()
        if answer.needs_restart or worker.n_answered >= PAGES_OF_A_WORKER:
            worker.end()
        return answer

    def _send(self, worker: _Worker) -> None:
        """Send the jobs of *worker* that it has not, but none ahead that would have to wait."""
        for job in islice(worker.jobs, len(worker.sent), None):
            changes, generation = self._changes.since(worker.generation)
            data = message((changes, job.data))
            if worker.sent and sum(worker.sent) - worker.sent[0] + len(data) > SENT_AHEAD:
                return
            worker.child.send(data)
            worker.generation = generation
            worker.sent.append(len(data))

    def _begin(self, worker: _Worker) -> None:
        """Start *worker* if it does not run; why it cannot be started is logged."""
        if worker.child.has_ended:
            worker.end()
        tried = 0
        while not self.cannot_start:
            tried += 1
            try:
                self._started(worker)
            except Exception as error:
                exit_code = worker.end()
                if self._closing.is_set():
                    raise
                if tried >= (LATE_TRIES if isinstance(error, TimeoutError) else TRIES):
                    self._give_up(tried, error, exit_code)
                    raise
            else:
                return
            self._closing.wait(FIRST_PAUSE * 2 ** (tried - 1))
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

    def _started(self, worker: _Worker) -> None:
        """Wait until the process of *worker* is ready: the time of a page is the page's alone."""
        if worker.child.begin():
            counts, worker.generation = self._changes.since(NOTHING)
            worker.child.send(message((*self._untaught, self._counts, counts)))
            worker.child.receive(NoneType, START_SECONDS)
