"""Time limits: one thread ends work that takes too long, for all callers.

A `threading.Timer` per page means starting and joining a thread per page, which takes as much CPU
time as everything else that the crawl's process does to have a short page read. Here a limit
costs one lock. No limit is shorter than the shortest one, so a limit that begins while the thread
sleeps cannot be due before that: the thread sleeps until the first known limit, or for the shortest
one, and never needs to be woken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import inf
from threading import Event, Lock, Thread
from time import monotonic


class TimeLimit:
    """The limit in a place where one thing is done at a time; *end* is called when it is over."""

    def __init__(self, end: Callable[[], None]) -> None:
        self._end = end
        self._until = inf
        self._lock = Lock()
        self.passed = False  # whether what was done last, or is, was ended

    @contextmanager
    def of(self, seconds: float) -> Iterator[None]:
        """Limit what is done in this context; once it is left, it is not ended any more."""
        with self._lock:
            self._until, self.passed = monotonic() + seconds, False
        try:
            yield
        finally:
            with self._lock:
                self._until = inf

    def check(self) -> float:
        """End what has reached its limit; the moment until which nothing else will."""
        with self._lock:
            if self._until <= monotonic():
                self._until, self.passed = inf, True
                self._end()
            return self._until


class TimeKeeper:
    """The thread that looks after *limits*, none of which is ever of less than *shortest*."""

    def __init__(self, limits: Sequence[TimeLimit], shortest: float) -> None:
        self._limits = limits
        self._shortest = shortest
        self._over = Event()
        self._thread = Thread(target=self._keep, name="scrapy-mss-limits", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread, if it was started."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _keep(self) -> None:
        pause = 0.0
        while not self._over.wait(pause):
            looked = monotonic()
            first = min((limit.check() for limit in self._limits), default=inf)
            pause = max(min(first, looked + self._shortest) - monotonic(), 0.0)
