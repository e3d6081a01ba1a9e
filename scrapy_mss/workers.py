"""Extraction in processes beside the crawl's own, so that a large page stalls nothing.

The counts lie in memory that all processes share: the crawl's process learns into them, the
workers read them, and nothing is sent round when the model changes. A page that takes too long
costs its worker: all are ended and new ones started, and pages that were with them fail.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing.shared_memory import SharedMemory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.core.model import Model
from scrapy_mss.core.profiles import PROFILES


class GivenUpError(RuntimeError):
    """A page whose worker was ended; the message is a word for statistics."""


class SharedCounts:
    """Moves a model's counts into shared memory for as long as workers read them."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._memory = SharedMemory(create=True, size=sum(a.nbytes for a in _arrays(model)))
        self._move(memoryview(self._memory.buf or b""))

    @property
    def name(self) -> str:
        """What another process finds the memory by."""
        return self._memory.name

    def close(self) -> None:
        """Give the model arrays of its own again and free the memory."""
        private = bytearray(self._memory.size)
        self._move(memoryview(private))
        self._memory.close()
        self._memory.unlink()

    def _move(self, buffer: memoryview) -> None:
        old = _arrays(self._model)
        adopt(self._model, buffer)
        for target, source in zip(_arrays(self._model), old, strict=True):
            target[...] = source


def adopt(model: Model, buffer: memoryview) -> None:
    """Let the counts of *model* be what lies in *buffer*."""
    bayes, position = model.bayes, 0

    def view(like: NDArray[Any]) -> NDArray[Any]:
        nonlocal position
        array = np.ndarray(like.shape, like.dtype, buffer, position)
        position += like.nbytes
        return array

    bayes.tokens = view(bayes.tokens)
    for name, counts in bayes.counts.items():
        bayes.counts[name] = view(counts)


def _arrays(model: Model) -> list[NDArray[Any]]:
    return [model.bayes.tokens, *model.bayes.counts.values()]


class Workers:
    """A pool of processes that call one function with the shared model and a page."""

    def __init__(self, count: int, model: Model, call: Callable[..., Any]) -> None:
        """Start *count* processes for ``call(model, *arguments)``, a function of a module."""
        self._count = count
        self._call = call
        self._profile = model.profile.name
        self._shared = SharedCounts(model)
        self._pool = self._start()

    async def run(self, seconds: float, *arguments: object) -> Any:  # noqa: ANN401 - of the call
        """What the call makes of *arguments*; a `GivenUpError` after so many *seconds*."""
        pool = self._pool
        try:
            future = pool.submit(_perform, self._call, arguments)
            return await asyncio.wait_for(asyncio.wrap_future(future), seconds)
        except asyncio.TimeoutError as error:
            self._replace(pool)
            raise GivenUpError("timeout") from error
        except (BrokenProcessPool, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and pool is self._pool:
                raise
            self._replace(pool)
            raise GivenUpError("crash") from error

    def close(self) -> None:
        """End the processes and free what they share."""
        _end(self._pool)
        self._shared.close()

    def _start(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self._count,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin,
            initargs=(self._profile, self._shared.name),
        )

    def _replace(self, pool: ProcessPoolExecutor) -> None:
        """Start a new pool, unless another page has already done so."""
        if pool is self._pool:
            self._pool = self._start()
            _end(pool)


def _end(pool: ProcessPoolExecutor) -> None:
    """End the processes of *pool* at once, whatever they are doing."""
    processes = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        with suppress(OSError, ValueError):
            process.kill()
    for process in processes:
        with suppress(OSError, ValueError, AssertionError):
            process.join()


# What a worker process works with; it belongs to one crawl from start to end.
_adopted: list[tuple[Model, SharedMemory]] = []


def _begin(profile: str, name: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the crawl's process says when to stop
    memory = SharedMemory(name)
    model = Model(PROFILES[profile])
    adopt(model, memoryview(memory.buf or b""))
    _adopted[:] = [(model, memory)]


def _perform(call: Callable[..., Any], arguments: tuple[object, ...]) -> Any:  # noqa: ANN401
    return call(_adopted[0][0], *arguments)
