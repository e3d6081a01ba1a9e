"""A model in shared memory that worker processes read while the crawl keeps learning into it.

    generation, 8 bytes | length of the name, 4 bytes | name of the state | changes | counts

A reader must not take a partial update for a state of the model (a seqlock). The writer makes the
generation odd, changes the counts and their name, and makes it even again. A reader copies both and
uses the copy only if the generation was the same even number before and after. The writer, which is
the crawl's event loop, never waits. A reader copies only what has changed since its last copy
(`table_changes`), and nothing if it has the latest state. Memory barriers separate the generation
from the rest, for processors that reorder writes, such as ARM.
"""

from __future__ import annotations

import mmap
import os
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from time import monotonic, sleep
from weakref import finalize

from scrapy_mss.article import ModelState
from scrapy_mss.core.naive_bayes import Observation
from scrapy_mss.crawl.table_changes import TableChanges, size_of_changes
from scrapy_mss.models.model import Model
from scrapy_mss.models.sharing import attach, move_into, size_of

_GENERATION = struct.Struct("<Q")
_LENGTH = struct.Struct("<I")
_NAME_AT = _GENERATION.size + _LENGTH.size
HEADER = 256  # bytes: a name is some fifty, and the counts after it stay aligned
LONGEST_CHANGE = 5.0  # seconds; learning a page takes milliseconds, if the machine does not swap
PAUSE = 0.0005  # seconds between looks at a model that is being changed


class _Barrier:
    """What comes before a call is seen by other processors before what comes after it.

    Python has no such thing but in its locks: to let one go publishes what was written, and nothing
    after taking it comes before that.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._lock.acquire()

    def __call__(self) -> None:
        self._lock.release()
        self._lock.acquire()


class SharedModel:
    """Keeps the counts of a model in memory that workers can read, until it is closed."""

    def __init__(self, model: Model) -> None:
        self._model = model
        counts_at = HEADER + size_of_changes(model.bayes)
        size = counts_at + size_of(model)
        self._file = _memory_file()
        # A crawl that never opens closes nothing.
        self._close_file = finalize(self, os.close, self._file)
        os.ftruncate(self._file, size)
        self._buffer = mmap.mmap(self._file, size)
        self._generation = 0
        self._barrier = _Barrier()
        self._changes = TableChanges(model.bayes, memoryview(self._buffer)[HEADER:])
        move_into(model, memoryview(self._buffer)[counts_at:])
        self._name()

    def fileno(self) -> int:
        """What a worker inherits to find the memory."""
        return self._file

    @contextmanager
    def changing(self, by: Observation | None = None) -> Iterator[None]:
        """Keep workers from reading while the counts change *by* what is added, or all may."""
        self._step()
        try:
            self._barrier()
            self._changes.note(by, self._generation)
            yield
        finally:  # or workers would wait for the end of a change that is over
            try:
                self._name()
            finally:
                self._barrier()
                self._step()

    def close(self) -> None:
        """Give the model memory of its own again."""
        move_into(self._model, memoryview(bytearray(size_of(self._model))))
        self._close_file()

    def _step(self) -> None:
        self._generation += 1
        _GENERATION.pack_into(self._buffer, 0, self._generation)

    def _name(self) -> None:
        name = self._model.identifier.encode()
        assert _NAME_AT + len(name) <= HEADER
        _LENGTH.pack_into(self._buffer, _GENERATION.size, len(name))
        self._buffer[_NAME_AT : _NAME_AT + len(name)] = name


class SharedModelReader:
    """A worker's view of that memory: a state of the model that nobody changes."""

    def __init__(self, model: Model, descriptor: int) -> None:
        """Read the counts for *model*, which comes without them, from the file *descriptor*."""
        counts_at = HEADER + size_of_changes(model.bayes)
        size = counts_at + size_of(model)
        self._buffer = memoryview(mmap.mmap(descriptor, size, access=mmap.ACCESS_READ))
        self._changes = TableChanges(model.bayes, self._buffer[HEADER:])
        self._shared = Model(model.profile)
        attach(self._shared, self._buffer[counts_at:])
        self.model = model
        self._state = ModelState(model, "")
        self._generation = -1  # of the last copy that was whole
        self._is_whole = False
        self._barrier = _Barrier()

    def state(self) -> ModelState:
        """The newest whole state; it does not change until the next call."""
        until = monotonic() + LONGEST_CHANGE
        while not self._copied():
            if monotonic() > until:  # the crawl was killed in the middle of a change
                raise TimeoutError(
                    f"the shared model was being changed for {LONGEST_CHANGE:.0f} seconds"
                )
            sleep(PAUSE)
        return self._state

    def _copied(self) -> bool:
        """Copy the state unless it is copied already; whether the copy is a whole one."""
        (generation,) = _GENERATION.unpack_from(self._buffer)
        if generation == self._generation and self._is_whole:
            return True
        if generation % 2:
            return False
        self._barrier()
        self._is_whole = False  # until the copy is known to be
        (length,) = _LENGTH.unpack_from(self._buffer, _GENERATION.size)
        name = bytes(self._buffer[_NAME_AT : _NAME_AT + min(length, HEADER - _NAME_AT)])
        self._changes.copy(self._generation, self._shared.bayes, self.model.bayes)
        self._barrier()
        if _GENERATION.unpack_from(self._buffer) != (generation,):
            return False  # what is copied by half has changed since the last whole copy
        self._is_whole = True
        self._generation, self._state = generation, ModelState(self.model, name.decode())
        return True


def _memory_file() -> int:
    """A file without a name, in memory where the system has such files: no crash leaves it."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("scrapy-mss")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
