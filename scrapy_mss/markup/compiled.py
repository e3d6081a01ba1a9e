"""The compiled part: what it offers, whether it is at hand, and the switch to do without it.

Three modules are built at installation where there is a compiler. They repeat mechanics and not
rules, so that an installation without them gives the same result more slowly; the Python beside
each call of theirs is what they are tested against. Arrays are passed as bytes, and returned as
`array.array`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Protocol


class PieceMemory(Protocol):
    """Numbers that a function gives for short texts, remembered in a table of fixed size."""

    def __getitem__(self, text: str) -> int: ...


class ClassWordReader(Protocol):
    """Reads the class words of tags; see `attributes`."""

    def read(
        self, text: str, tags: bytes, starts: bytes, ends: bytes
    ) -> tuple[array[int], array[int], array[int], list[int]]: ...


class Pieces(Protocol):
    """The walks over a source and a cleaned text; see `tokenizer`."""

    def prepare(
        self,
        ideographs: Sequence[Sequence[str]],
        bare_names: Iterable[str],
        names: Iterable[str],
    ) -> None: ...

    def Memory(self, ask: Callable[[str], int]) -> PieceMemory: ...  # noqa: N802 - a class

    def Codes(  # noqa: N802, PLR0913, PLR0917 - a class, made once
        self,
        ask: Callable[[str], int],
        code: Callable[[str], int],
        normal: Callable[[str], str],
        kinds: tuple[int, int],
        shift: int,
    ) -> PieceMemory: ...

    def hashed(self, text: str) -> int | None: ...

    def scan(
        self, text: str, codes: PieceMemory, no_token: int
    ) -> tuple[array[int], array[int], array[int]]: ...

    def marks(
        self, source: str, letters: PieceMemory
    ) -> tuple[list[int], array[int], array[int], array[int]]: ...

    def edited(self, source: str, starts: bytes, ends: bytes, letters: bytes) -> str: ...


class Tags(Protocol):
    """The class words of tags."""

    def TagReader(  # noqa: N802, PLR0913, PLR0917 - a class, made once
        self,
        names: Sequence[bytes],
        cues: Sequence[bytes],
        elements: Sequence[str],
        most: int,
        ask: Callable[[int, str], tuple[int, list[int]]],
    ) -> ClassWordReader: ...


class Arrays(Protocol):
    """What numpy has no step for."""

    def nest(self, tags: bytes, closings: bytes) -> tuple[array[int], array[int]]: ...

    def nearest(self, parents: bytes, chosen: bytes) -> array[int]: ...

    def groups(self, keys: bytes, salt: int) -> array[int]: ...

    def codes_at(self, text: str, places: bytes) -> array[int]: ...

    def find_all(self, text: str, wanted: list[bytes]) -> list[list[int]]: ...


class Compiled(NamedTuple):
    """The three compiled modules."""

    pieces: Pieces
    tags: Tags
    arrays: Arrays


def _load() -> Compiled | None:
    try:
        from scrapy_mss.markup import _arrays, _pieces, _tags  # type: ignore[attr-defined]
    except ImportError:  # there was no compiler
        return None
    return Compiled(_pieces, _tags, _arrays)


_in_use = [_load()]
IS_COMPILED = _in_use[0] is not None  # whether it was built


def compiled_part() -> Compiled | None:
    """The compiled part, or nothing where Python has to do all of it."""
    return _in_use[-1]


@contextmanager
def python_alone() -> Iterator[None]:
    """In this context the compiled part is not used: for tests and measurements, in one thread."""
    _in_use.append(None)
    try:
        yield
    finally:
        _in_use.pop()
