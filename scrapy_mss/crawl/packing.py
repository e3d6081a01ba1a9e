"""Values as bytes, for another process: JSON, followed by the texts and arrays in it.

    length of the JSON | JSON | parts

Reading megabytes of JSON would keep the interpreter's lock, and block the event loop. So bytes,
arrays and all but short texts are parts; in the JSON, each is an object with the part's length,
and there are no other objects. Dataclasses and named tuples are lists of their values, without
private ones, and dicts lists of pairs. Lone surrogates, which pages can contain, survive.

Only the reader says which types it expects: no message names a class or calls anything. Whatever
another process sends becomes a value of these types, or is a `PackingError`.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

T = TypeVar("T")

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


class PackingError(ValueError):
    """Bytes that are no value of the expected type."""


def packed(value: object) -> bytes:
    """*value* as `unpacked` reads it."""
    parts: list[bytes] = []
    text = json.dumps(_plain(value, parts), separators=(",", ":")).encode()
    return b"".join((LENGTH.pack(len(text)), text, *parts))


def unpacked(data: bytes, expected: type[T]) -> T:
    """The value of the *expected* type in *data*; arrays are parts of it and cannot be changed."""
    try:
        value: T = _read(_document(data), expected)
    except ERRORS as error:
        why = f"{error}"[:LONGEST_REASON]  # which may quote what was sent
        raise PackingError(f"expected {expected}: {type(error).__name__}: {why}") from error
    return value


def _plain(value: Any, parts: list[bytes]) -> Any:  # noqa: ANN401 - what JSON can be
    """*value* as JSON; what is beside that is added to *parts*."""
    if type(value) in AS_THEY_ARE:
        return value
    if isinstance(value, Enum):
        value = value.value
    aside = _aside(value)
    if aside is not None:
        parts.append(aside)
        return {PART: len(aside)}
    if isinstance(value, (str, *SCALARS)):
        return value
    return [_plain(each, parts) for each in _values(value)]


def _aside(value: Any) -> bytes | None:  # noqa: ANN401 - whatever is sent
    if isinstance(value, str) and not (len(value) <= SHORT and value.isascii()):
        return value.encode("utf-8", "surrogatepass")
    if type(value) in FORMS:
        to_bytes, _ = FORMS[type(value)]
        return to_bytes(value)
    return value if isinstance(value, bytes) else None


def _values(value: Any) -> Iterable[Any]:  # noqa: ANN401 - whatever is sent
    kind: Any = type(value)
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return value.dtype.str, value.shape, value.tobytes()
    if is_dataclass(value):
        return (getattr(value, name) for name in _hints(kind))
    if isinstance(value, Mapping):
        return value.items()
    if isinstance(value, list | tuple | set | frozenset):
        return value
    raise TypeError(f"cannot be sent to another process: {kind.__name__}")


@cache
def _hints(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - a class
    """The types of the public fields of a dataclass or named tuple."""
    return {name: each for name, each in get_type_hints(kind).items() if not name.startswith("_")}


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


def _read(value: Any, expected: Any) -> Any:  # noqa: ANN401 - whatever is expected
    kind, arguments = get_origin(expected) or expected, get_args(expected)
    if kind in (Union, UnionType):
        return _first(value, arguments)
    if kind in (str, *SCALARS):
        return _scalar(value, kind)
    if kind in FORMS:
        _, from_bytes = FORMS[kind]
        return from_bytes(_exact(value, bytes))
    if issubclass(kind, Enum):
        return kind(value)
    return _collection(_exact(value, list), kind, arguments)


def _collection(values: list[Any], kind: Any, arguments: tuple[Any, ...]) -> Any:  # noqa: ANN401
    if kind is np.ndarray:
        return _array(values, np.dtype(*get_args(arguments[1])))
    if kind in (dict, Mapping):
        return dict(_each(pair, arguments) for pair in values)
    if kind in (list, Sequence, frozenset) or Ellipsis in arguments:
        make = list if kind is Sequence else kind
        return make(_read(each, arguments[0]) for each in values)
    if kind is tuple:
        return tuple(_each(values, arguments))
    hints = _hints(kind)
    return kind(**dict(zip(hints, _each(values, hints.values()), strict=True)))


def _each(values: list[Any], expected: Iterable[Any]) -> list[Any]:
    pairs = zip(_exact(values, list), expected, strict=True)
    return [_read(value, each) for value, each in pairs]


def _first(value: Any, expected: tuple[Any, ...]) -> Any:  # noqa: ANN401 - whatever is expected
    """*value* as one of the first of the *expected* types that it fits."""
    if value is None and NoneType in expected:
        return None
    *others, last = (each for each in expected if each is not NoneType)
    for each in others:
        with suppress(*ERRORS):
            return _read(value, each)
    return _read(value, last)


def _array(values: list[Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    name, shape, data = values
    if name != dtype.str:
        raise TypeError(f"expected an array of {dtype.str}, got {name!r:.20}")
    return np.frombuffer(_exact(data, bytes), dtype).reshape([*map(_size, _exact(shape, list))])


def _scalar(value: Any, kind: type) -> Any:  # noqa: ANN401 - a scalar
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
