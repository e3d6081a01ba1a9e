"""Writes during a crawl, in a thread, because they may have to wait for another crawl."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, Generic, TypeVar

Batch = TypeVar("Batch")
_DONE: Future[None] = Future()
_DONE.set_result(None)


class Checkpoints(Generic[Batch]):
    """Writes one batch after the other; what is under way is at hand until it is stored."""

    def __init__(self, write: Callable[[Batch], None]) -> None:
        self._write = write
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="scrapy-mss-seen")
        self._future: Future[None] | None = None
        self.in_flight: Batch | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a batch is being written."""
        return self._future is not None and not self._future.done()

    def begin(self, batch: Batch, after: Future[Any] | None = None) -> None:
        """Begin to write *batch* *after* something else; the one before must have been settled."""
        self.in_flight = batch
        self._future = self._thread.submit(self._write_after, after or _DONE, batch)

    def _write_after(self, after: Future[Any], batch: Batch) -> None:
        wait([after])
        self._write(batch)

    @property
    def write(self) -> Future[None]:
        """The batch that is being written, or one that is done."""
        return _DONE if self._future is None else self._future

    def after(self, work: Callable[[], None]) -> Future[None]:
        """Have the thread do some other *work* next."""
        return self._thread.submit(work)

    def settle(self) -> tuple[Batch, Exception] | None:
        """Wait for the batch that is under way; if it was not stored, here it is, and why."""
        future, batch = self._future, self.in_flight
        if future is None or batch is None:
            return None
        try:
            future.result()
        except Exception as error:  # noqa: BLE001 - whatever it is of, the batch is not stored
            return batch, error
        finally:
            self._future = self.in_flight = None
        return None

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown()
