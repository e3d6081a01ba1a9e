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
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import is_dataclass
from enum import Enum
from functools import cache, partial
from types import NoneType, UnionType
from typing import (
    Any,
    Final,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

T = TypeVar("T")
Reader: TypeAlias = Callable[[Any], Any]

LENGTH: Final = struct.Struct("<I")
PART: Final = ""  # in the JSON the key of the length of a part
SHORT: Final = 256  # characters of ASCII that a text in the JSON has at most
SCALARS: Final = (bool, int, float, bytes, NoneType)
IN_JSON: Final = frozenset((bool, int, float, NoneType))  # as they are
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
        reader = _reader(cast("Hashable", expected))
        value: T = reader(_document(data))
    except ERRORS as error:
        why = f"{error}"[:LONGEST_REASON]  # which may quote what was sent
        raise PackingError(f"expected {expected}: {type(error).__name__}: {why}") from error
    return value


def _plain(value: Any, parts: list[bytes]) -> Any:  # noqa: ANN401 - what JSON can be
    """*value* as JSON; what is beside that is added to *parts*."""
    kind = type(value)
    if kind in IN_JSON or (kind is str and len(value) <= SHORT and value.isascii()):
        return value
    if isinstance(value, Enum):
        return _plain(value.value, parts)
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
    if isinstance(value, list | tuple | set | frozenset):
        return value
    if is_dataclass(value):
        return [getattr(value, name) for name in _hints(kind)]
    if isinstance(value, Mapping):
        return value.items()
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return value.dtype.str, value.shape, value.tobytes()
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


@cache
def _reader(expected: Any) -> Reader:  # noqa: ANN401 - a type
    """What gives the value of the *expected* type for what is in the JSON.

    An article has forty fields: their types are taken apart once.
    """
    kind, arguments = get_origin(expected) or expected, get_args(expected)
    if kind in (Union, UnionType):
        return _reader_of_one(arguments)
    if kind is str:
        return _text
    if kind in SCALARS:
        return partial(_scalar, kinds=(float, int) if kind is float else (kind,))
    if kind in FORMS:
        _, from_bytes = FORMS[kind]
        return lambda value: from_bytes(_exact(value, bytes))
    if issubclass(kind, Enum):
        return cast("Reader", kind)
    return _reader_of_several(kind, arguments)


def _reader_of_several(kind: Any, arguments: tuple[Any, ...]) -> Reader:  # noqa: ANN401 - a type
    if kind is np.ndarray:
        dtype = np.dtype(*get_args(arguments[1]))
        return lambda value: _array(_exact(value, list), dtype)
    if kind in (dict, Mapping):
        pair = _reader_of_all(arguments)
        return lambda value: dict(pair(each) for each in _exact(value, list))
    if kind in (list, Sequence, frozenset) or Ellipsis in arguments:
        make, read = list if kind is Sequence else kind, _reader(arguments[0])
        return lambda value: make(map(read, _exact(value, list)))
    if kind is tuple:
        of_tuple = _reader_of_all(arguments)
        return lambda value: tuple(of_tuple(value))
    names, of_fields = tuple(_hints(kind)), _reader_of_all(_hints(kind).values())
    return lambda value: kind(**dict(zip(names, of_fields(value), strict=True)))


def _reader_of_all(expected: Iterable[Any]) -> Callable[[Any], list[Any]]:
    """What reads a list whose values have these types."""
    readers = [*map(_reader, expected)]

    def read(values: Any) -> list[Any]:  # noqa: ANN401 - whatever was sent
        pairs = zip(readers, _exact(values, list), strict=True)
        return [reader(value) for reader, value in pairs]

    return read


def _reader_of_one(expected: tuple[Any, ...]) -> Reader:
    """What reads a value as the first of some types that it fits."""
    *others, last = (_reader(each) for each in expected if each is not NoneType)
    has_none = NoneType in expected

    def read(value: Any) -> Any:  # noqa: ANN401 - whatever was sent
        if has_none and value is None:
            return None
        for each in others:
            with suppress(*ERRORS):
                return each(value)
        return last(value)

    return read


def _array(values: list[Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    name, shape, data = values
    if name != dtype.str:
        raise TypeError(f"expected an array of {dtype.str}, got {name!r:.20}")
    return np.frombuffer(_exact(data, bytes), dtype).reshape([*map(_size, _exact(shape, list))])


def _text(value: Any) -> str:  # noqa: ANN401 - whatever was sent
    return value.decode("utf-8", "surrogatepass") if type(value) is bytes else _exact(value, str)


def _scalar(value: Any, kinds: tuple[type, ...]) -> Any:  # noqa: ANN401 - a scalar
    if type(value) is int and value not in INTEGERS:
        raise OverflowError("an integer of more than 64 bits")
    return _exact(value, *kinds)


def _exact(value: T, *kinds: type) -> T:
    if type(value) not in kinds:
        raise TypeError(f"expected {kinds[0].__name__}, got {type(value).__name__}")
    return value


def _size(value: int) -> int:
    if _exact(value, int) < 0:
        raise ValueError(f"expected a length, got {value}")
    return value
