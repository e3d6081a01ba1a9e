"""Child processes: each a separate Python that runs a module of ours, and messages between them.

A child is not a copy of this process: no script is run twice. Its standard input is a socket, on
which both send messages: a length in four bytes, and a packed value of a type that the other end
expects. A child parses what strangers have written: nothing that it sends can run code here. It
exits when its parent ends or closes the socket.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from math import inf
from pathlib import Path
from time import monotonic
from typing import IO, BinaryIO, Final, Protocol, TypeVar

from scrapy_mss.crawl.packing import LENGTH, packed, unpacked

T = TypeVar("T")

# Raised when the other end of a socket is gone, or sends what is not expected.
LOST: Final = (OSError, EOFError, ValueError)
MOST_BYTES: Final = 2**28  # of a message; a page for which a worker has memory takes less
OUT_OF_MEMORY: Final = 12  # the exit code of a child that took too much memory: that of ENOMEM
# Bytes that the other end need not have read, as asked for; Linux allows 416 KB.
SENDING: Final = 2**20
# Of numpy's linear algebra: there is a process for each core, and threads of several processes wait
# for one another, a hundred times as long as a small system of equations takes.
ONE_THREAD: Final = {"OMP_NUM_THREADS": "1"}
# Without the current folder in the path, where a file may be called as a module that a child needs:
# a crawl that is begun by `scrapy` has not that folder in its path, either.
RUN: Final = (
    "import sys; sys.path = [each for each in sys.path if each]; from importlib import "
    "import_module; import_module(sys.argv[1]).main(*sys.argv[2:])"
)


# What there has to be, for messages.
NEEDS: Final = "a POSIX system, such as Linux or macOS, and a Python executable that is not frozen"


def can_have_workers() -> bool:
    """Whether processes can be started here whose time and memory can be limited.

    The executable of a frozen program is that program: it would start itself, over and over.
    """
    return os.name == "posix" and bool(sys.executable) and not getattr(sys, "frozen", False)


def start(module: str, arguments: Sequence[str], stdin: int) -> subprocess.Popen[bytes]:
    """Start a process that calls ``main`` of *module*, and imports what this process does."""
    path = os.pathsep.join(each or os.curdir for each in sys.path)
    return subprocess.Popen(  # noqa: S603 - our own module
        [sys.executable, "-c", RUN, module, *arguments],
        stdin=stdin,
        stdout=2,  # what a library prints is for the log
        env={**ONE_THREAD, **os.environ, "PYTHONPATH": path},
        start_new_session=True,  # Ctrl-C is for this process, which says when its children stop
    )


def message(value: object) -> bytes:
    """*value* as it is sent."""
    data = packed(value)
    return LENGTH.pack(len(data)) + data


def send(stream: IO[bytes], value: object) -> None:
    """Send *value* to the other end of *stream*."""
    stream.write(message(value))
    stream.flush()


class Readable(Protocol):
    """What messages are read from."""

    def read(self, length: int, /) -> bytes:
        """So many bytes, or fewer where there are no more."""


def receive(stream: Readable, expected: type[T]) -> T:
    """The next value from *stream*, of the *expected* type; EOFError where there is none."""
    (length,) = LENGTH.unpack(_exactly(stream, LENGTH.size))
    if length > MOST_BYTES:
        raise ValueError(f"expected a message of at most {MOST_BYTES:,} bytes, got {length:,}")
    return unpacked(_exactly(stream, length), expected)


def _exactly(stream: Readable, length: int) -> bytes:
    data = stream.read(length)
    if len(data) != length:
        raise EOFError(f"{len(data)} of {length} bytes")
    return data


class Child:
    """A process that is sent values and sends others, started whenever it is needed.

    One thread uses it; another one may close it.
    """

    def __init__(self, module: str, *arguments: str) -> None:
        self._module, self._arguments = module, arguments
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket
        self._seconds: float | None = None  # that the last answer had
        self._until = inf
        self._closed = False

    def begin(self) -> bool:
        """Start the process, which calls ``main`` of the module, unless it runs; whether it is new.

        Once this is closed, an EOFError, which is one of `LOST`.
        """
        is_new = self._process is None and not self._closed
        if is_new:
            ours, theirs = socket.socketpair()
            with theirs:
                try:
                    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SENDING)
                    self._process = start(self._module, self._arguments, theirs.fileno())
                except BaseException:
                    ours.close()
                    raise
            self._socket, self._seconds = ours, None
        if self._closed:  # meanwhile, by another thread, which may have found no process
            raise EOFError("it is closed")
        return is_new

    def send(self, data: bytes) -> None:
        """Send a `message`, in the time that the last answer had; else one of `LOST`."""
        self._socket.settimeout(self._seconds)
        self._socket.sendall(data)

    def receive(self, expected: type[T], seconds: float | None = None) -> T:
        """Wait for the next value, of the *expected* type; one of `LOST` if none comes.

        A TimeoutError, which is one of these, if it is not complete after so many *seconds*; the
        process is to be ended.
        """
        self._seconds = seconds
        self._until = inf if seconds is None else monotonic() + seconds
        return receive(self, expected)

    def read(self, length: int) -> bytes:
        """So many bytes of a message, or fewer if the process is gone; in the time that it has."""
        data = bytearray()
        while len(data) < length:
            left = self._until - monotonic()
            if left <= 0:
                raise TimeoutError(f"no answer within {self._seconds} seconds")
            self._socket.settimeout(None if left == inf else left)
            more = self._socket.recv(min(length - len(data), SENDING))
            if not more:
                break
            data += more
        return bytes(data)

    @property
    def has_ended(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    def close(self) -> None:
        """Kill the process, whatever waits for it in another thread, and start no more."""
        self._closed = True
        process = self._process
        if process is not None:
            process.kill()

    def end(self) -> int | None:
        """End the process, if there is one; its exit code, its own if it had ended by itself."""
        process, self._process = self._process, None
        if process is None:
            return None
        process.kill()
        self._socket.close()
        return process.wait()


# --- in the child ---------------------------------------------------------------------------------


def parent() -> tuple[BinaryIO, BinaryIO]:
    """What the parent sends, and what it receives, for the caller alone.

    What a library reads, or a process that it starts, is no message.
    """
    sent, received = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(0), "wb")
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    return sent, received


def limit_memory(limit: int) -> None:
    """Let allocations fail beyond *limit* bytes of data.

    RLIMIT_DATA, which counts what the process allocates for itself. RLIMIT_AS would also count what
    it maps and never touches, which libraries do by the gigabyte.
    """
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
