"""Child processes: each a separate Python that runs a module of ours, and messages between them.

A child is not a copy of this process: no script is run twice. Its standard input is a socket, on
which both send messages: a length in four bytes, and a packed value of a type that the other end
expects. A child parses what strangers have written: nothing that it sends can run code here. It
exits when its parent ends or closes the socket.

A packed value is JSON, followed by the texts and arrays in it.

    length of the JSON | JSON | parts

Reading megabytes of JSON would keep the interpreter's lock, and block the event loop. So bytes,
arrays and all but short texts are parts; in the JSON, each is an object with the part's length,
and there are no other objects. Dataclasses and named tuples are lists of what they are made of, and
dicts lists of pairs. Lone surrogates, which pages can contain, survive.

Only the reader says which types it expects: no message names a class or calls anything. Whatever
another process sends becomes a value of these types, or is a `PackingError`.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import is_dataclass
from enum import Enum
from functools import cache, partial
from inspect import signature
from math import inf
from pathlib import Path
from time import monotonic
from types import NoneType, UnionType
from typing import (
    IO,
    Any,
    BinaryIO,
    Final,
    Protocol,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

T = TypeVar("T")

# Raised when the other end of a socket is gone, or sends what is not expected.
LOST: Final = (OSError, EOFError, ValueError)
# Why a child has no answer to a page or a list.
ERROR: Final = "error"  # an exception, whose traceback is logged
TIMEOUT: Final = "timeout"  # it took longer than it may, and its process was killed
MEMORY: Final = "memory"  # it took more memory than it may, which its process did not survive
CRASH: Final = "crash"  # its process was lost in another way
FAILURES: Final = (ERROR, TIMEOUT, MEMORY, CRASH)
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


# --- packed values --------------------------------------------------------------------------------

LENGTH: Final = struct.Struct("<I")
PART: Final = ""  # in the JSON the key of the length of a part
SHORT: Final = 256  # characters of ASCII that a text in the JSON has at most
AS_THEY_ARE: Final = (bool, int, float, NoneType)
SCALARS: Final = (*AS_THEY_ARE, bytes)
INTEGERS: Final = range(-(2**63), 2**64)
LONGEST_REASON: Final = 200  # characters of an error's message
# Why data that another process has sent cannot be read.
ERRORS: Final = (ArithmeticError, LookupError, RecursionError, TypeError, ValueError, struct.error)
# Types with forms of their own: the functions from values to bytes, and back.
FORMS: Final[dict[type, tuple[Callable[[Any], bytes], Callable[[bytes], Any]]]] = {}


Writer: TypeAlias = Callable[[Any, list[bytes]], Any]  # which adds parts
Reader: TypeAlias = Callable[[Any], Any]
_TO_JSON: Final = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


class PackingError(ValueError):
    """Bytes that are no value of the expected type."""


def packed(value: object) -> bytes:
    """*value* as `unpacked` reads it."""
    parts: list[bytes] = []
    text = _TO_JSON(_plain(value, parts)).encode()
    return b"".join((LENGTH.pack(len(text)), text, *parts))


def unpacked(data: bytes, expected: type[T]) -> T:
    """The value of the *expected* type in *data*; arrays are parts of it and cannot be changed."""
    kind: Any = expected
    try:
        value: T = _reader(kind)(_document(data))
    except ERRORS as error:
        why = f"{error}"[:LONGEST_REASON]  # which may quote what was sent
        raise PackingError(f"expected {expected}: {type(error).__name__}: {why}") from error
    return value


def _plain(value: Any, parts: list[bytes]) -> Any:  # noqa: ANN401 - what JSON can be
    """*value* as JSON; what is beside that is added to *parts*."""
    kind: Any = type(value)
    return value if kind in AS_THEY_ARE else _writer(kind)(value, parts)


@cache
def _writer(kind: Any) -> Writer:  # noqa: ANN401 - a class
    """What makes a value of this *kind* what JSON can be."""
    if kind in FORMS:
        to_bytes, _ = FORMS[kind]
        return lambda value, parts: _aside(to_bytes(value), parts)
    if is_dataclass(kind):
        return _attributes_writer(kind)
    found = next((writer for base, writer in _WRITERS if issubclass(kind, base)), None)
    if found is None:
        raise TypeError(f"cannot be sent to another process: {kind.__name__}")
    return found


def _attributes_writer(kind: Any) -> Writer:  # noqa: ANN401 - a class
    names = [*_hints(kind)]
    return lambda value, parts: [_plain(getattr(value, name), parts) for name in names]


def _each_written(values: Iterable[Any], parts: list[bytes]) -> Any:  # noqa: ANN401 - what JSON can be
    return [_plain(each, parts) for each in values]


def _text_written(text: str, parts: list[bytes]) -> Any:  # noqa: ANN401 - what JSON can be
    is_short = len(text) <= SHORT and text.isascii()
    return text if is_short else _aside(text.encode("utf-8", "surrogatepass"), parts)


def _array_written(array: np.ndarray[Any, Any], parts: list[bytes]) -> Any:  # noqa: ANN401 - what JSON can be
    if array.dtype.hasobject:
        raise TypeError("cannot be sent to another process: an array of objects")
    head = " ".join(map(str, (array.dtype.str, *array.shape)))
    return _aside(b"\n".join((head.encode(), array.tobytes())), parts)


def _aside(data: bytes, parts: list[bytes]) -> dict[str, int]:
    parts.append(data)
    return {PART: len(data)}


_WRITERS: Final[tuple[tuple[type | tuple[type, ...], Writer], ...]] = (
    (Enum, lambda value, parts: _plain(value.value, parts)),
    (str, _text_written),
    (bytes, _aside),
    (np.ndarray, _array_written),
    (AS_THEY_ARE, lambda value, _: value),
    (Mapping, lambda value, parts: _each_written(value.items(), parts)),
    ((list, tuple, set, frozenset), _each_written),
)


@cache
def _hints(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - a class
    """The types of what a dataclass or named tuple is made of."""
    hints = get_type_hints(kind)
    return {name: hints[name] for name in signature(kind).parameters}


def _document(data: bytes) -> Any:  # noqa: ANN401 - what JSON can be
    """The JSON in *data*, with its parts in the places of their lengths."""
    (length,) = LENGTH.unpack_from(data)
    at = LENGTH.size + length

    def part(found: dict[str, Any]) -> bytes:
        nonlocal at
        start, at = at, at + _size(found[PART])
        return data[start:at]

    document = json.loads(data[LENGTH.size : at], object_hook=part)
    if at != len(data):
        raise ValueError(f"expected {at} bytes, got {len(data)}")
    return document


@cache
def _reader(expected: Any) -> Reader:  # noqa: ANN401 - whatever is expected
    """What makes a value of the *expected* type of what JSON can be."""
    kind, arguments = get_origin(expected) or expected, get_args(expected)
    if kind in (Union, UnionType):
        return _first_of(arguments)
    if kind in (str, *SCALARS):
        return partial(_scalar, kind)
    if kind in FORMS:
        _, from_bytes = FORMS[kind]
        return lambda value: from_bytes(_exact(value, bytes))
    if kind is np.ndarray:
        return partial(_array, np.dtype(*get_args(arguments[1])))
    if issubclass(kind, Enum):
        return partial(kind)
    make = _collection_reader(kind, arguments)
    return lambda value: make(_exact(value, list))


def _collection_reader(kind: Any, arguments: tuple[Any, ...]) -> Reader:  # noqa: ANN401 - a class
    if kind in (dict, Mapping):
        pair = _each_of(arguments)
        return lambda values: dict(map(pair, values))
    if kind in (list, Sequence, frozenset) or Ellipsis in arguments:
        make, read = list if kind is Sequence else kind, _reader(arguments[0])
        return lambda values: make(map(read, values))
    if kind is tuple:
        return _each_of(arguments)
    fields = _each_of(_hints(kind).values())
    return lambda values: kind(*fields(values))


def _each_of(expected: Iterable[Any]) -> Reader:
    """What reads a list of values of the *expected* types, as a tuple."""
    readers = [*map(_reader, expected)]
    pairs = partial(zip, readers, strict=True)
    return lambda values: tuple([read(value) for read, value in pairs(_exact(values, list))])


def _first_of(expected: Sequence[Any]) -> Reader:
    """What reads a value as the first of the *expected* types that it fits."""
    *others, last = [_reader(each) for each in expected if each is not NoneType]

    def read(value: Any) -> Any:  # noqa: ANN401 - what JSON can be
        if value is None and NoneType in expected:
            return None
        for each in others:
            with suppress(*ERRORS):
                return each(value)
        return last(value)

    return read


def _array(dtype: np.dtype[Any], value: Any) -> np.ndarray[Any, Any]:  # noqa: ANN401 - what JSON can be
    head, _, data = _exact(value, bytes).partition(b"\n")
    name, *shape = head.decode().split()
    if name != dtype.str:
        raise TypeError(f"expected an array of {dtype.str}, got {name!r:.20}")
    return np.frombuffer(data, dtype).reshape([_size(int(each)) for each in shape])


def _scalar(kind: type, value: Any) -> Any:  # noqa: ANN401 - a scalar
    if kind is str and type(value) is bytes:
        return value.decode("utf-8", "surrogatepass")
    if type(value) is int and value not in INTEGERS:
        raise OverflowError("an integer of more than 64 bits")
    return _exact(value, *((float, int) if kind is float else (kind,)))


def _exact(value: T, *kinds: type) -> T:
    if type(value) not in kinds:
        raise TypeError(f"expected {kinds[0].__name__}, got {type(value).__name__}")
    return value


def _size(value: int) -> int:
    if _exact(value, int) < 0:
        raise ValueError(f"expected a length, got {value}")
    return value
