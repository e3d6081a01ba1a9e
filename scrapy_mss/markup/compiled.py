"""The compiled part: what it offers, whether it is at hand, and the switch to do without it.

Some modules are built at installation where there is a compiler. They repeat mechanics and not
rules, so that an installation without them gives the same result more slowly; the Python beside
each call of theirs is what they are tested against. Arrays are passed as bytes, and returned as
`array.array` or, a byte each, as `bytearray`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, NamedTuple, Protocol, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


class PieceMemory(Protocol):
    """Numbers that a function gives for short texts, remembered in a table of fixed size."""

    def __getitem__(self, text: str) -> int: ...


class ClassWordReader(Protocol):
    """Reads the class words of tags; see `attributes`."""

    def read(
        self, text: str, tags: bytes, start: object, end: object
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
        stem: Callable[[str], str],
        kinds: tuple[int, int],
        shift: int,
    ) -> PieceMemory: ...

    def scan(
        self, text: str, codes: PieceMemory, no_token: int
    ) -> tuple[array[int], array[int], array[int]]: ...

    def cleaned(
        self, source: str, letters: PieceMemory, names: tuple[bytes, ...]
    ) -> tuple[str, array[int], array[int]]: ...

    def in_source(
        self, starts: bytes, ends: bytes, places: bytes, shifts: bytes
    ) -> tuple[array[int], array[int]]: ...


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

    def element_tags(  # noqa: PLR0913, PLR0917 - columns
        self,
        kind: object,
        number: object,
        partner: object,
        places: tuple[object, object],
        wanted: bytes,
        longest: int,
    ) -> tuple[array[int], bytes, array[int], array[int]]: ...


class Attributes(Protocol):
    """The attributes of tags."""

    def read_one(  # noqa: PLR0913, PLR0917 - a text, a place in it, and how it is read
        self, text: str, start: int, end: int, most: int, decode: Callable[[str], str]
    ) -> dict[str, str]: ...

    def values(  # noqa: PLR0913, PLR0917 - a text, places in it, and what is read how
        self,
        text: str,
        rows: array[int],
        starts: array[int],
        ends: array[int],
        names: tuple[str, ...],
        most: int,
        decode: Callable[[str], str],
    ) -> list[list[str | None]]: ...

    def holding(  # noqa: PLR0913, PLR0917 - a text, places in it, and what is sought
        self, text: str, rows: array[int], starts: array[int], ends: array[int], name: bytes
    ) -> array[int]: ...

    def holding_tags(  # noqa: PLR0913, PLR0917 - a text, tokens of it, and what is sought
        self,
        text: str,
        tags: tuple[bytes, bytes],
        places: tuple[bytes, bytes],
        wanted: tuple[int, int, int],
        name: bytes,
    ) -> list[str]: ...


class Kept(Protocol):
    """The kept tokens of a page in pieces, and as runs of text.

    See `kept_pieces`, `text_runs` and `slice_texts`.
    """

    def text_runs(self, kind: object, is_kept: object) -> tuple[array[int], array[int]]: ...

    def between(
        self,
        tags: tuple[object, object],
        places: tuple[object, object],
        runs: tuple[object, object],
        breaks: bytes,
    ) -> tuple[bytearray, bytearray]: ...


class Arrays(Protocol):
    """What numpy has no step for."""

    def kinds_and_tags(
        self, ids: bytes, kind_bits: int, tag_bits: int
    ) -> tuple[bytearray, bytearray]: ...

    def nest(
        self, kinds: bytes, tags: bytes, opening: int, closing: int
    ) -> tuple[array[int], array[int]]: ...

    def nearest(self, parents: bytes, chosen: bytes) -> array[int]: ...

    def tag_rows(  # noqa: PLR0913, PLR0917 - columns of tokens, and what is sought
        self,
        kind: object,
        number: object,
        start: object,
        end: object,
        partner: object,
        raw: bytes,
        lists: bytes,
    ) -> tuple[
        bytearray,
        bytearray,
        array[int],
        array[int],
        array[int],
        array[int],
        array[int],
        list[array[int]],
    ]: ...

    def sorted_groups(
        self, keys: bytes, order: bytes
    ) -> tuple[array[int], array[int], array[int], array[int]]: ...

    def merged_counts(
        self, one: tuple[bytes, bytes, bytes], other: tuple[bytes, bytes, bytes]
    ) -> tuple[array[int], array[float], array[int]]: ...

    def found_counts(self, keys: bytes, rows: bytes, wanted: bytes) -> array[float]: ...

    def observed_texts(
        self, firsts: bytes, once: bytes, mass: bytes, total: float
    ) -> array[float]: ...

    def observed_containers(self, groups: bytes, sizes: bytes, inside: bytes) -> array[float]: ...

    def site_evidence(
        self,
        known: tuple[bytes, ...],
        page: tuple[bytes, ...],
        site: tuple[float, float],
        rules: tuple[float, ...],
    ) -> array[float]: ...


class Compiled(NamedTuple):
    """The compiled modules."""

    pieces: Pieces
    tags: Tags
    arrays: Arrays
    attributes: Attributes
    kept: Kept


def _load() -> Compiled | None:
    try:
        from scrapy_mss.markup import (  # type: ignore[attr-defined]
            _arrays,
            _attributes,
            _blocks,
            _counts,
            _kept,
            _pieces,
            _tags,
        )
    except ImportError:  # there was no compiler
        return None
    _parts[:] = _pieces, _tags, _arrays, _attributes, _kept, _blocks, _counts
    return Compiled(_pieces, _tags, _arrays, _attributes, _kept)


_parts: list[object] = []
_in_use = [_load()]
IS_COMPILED = _in_use[0] is not None  # whether it was built


def compiled_part() -> Compiled | None:
    """The compiled part, or nothing where Python has to do all of it."""
    return _in_use[-1]


STEPS: dict[str, Callable[..., Any]] = {}  # by its name the Python of each step that is compiled


def accelerated(
    tables: Callable[[], tuple[object, ...]] = tuple, by: str = ""
) -> Callable[[Function], Function]:
    """Let the compiled function of the same name stand for the decorated one, where it is at hand.

    Both take the same arguments, by their places, and return the same. What the compiled one has
    to know beforehand is in *tables*: then it is an object of the class *by*, made when it is first
    called.
    """

    def decorate(python: Function) -> Function:
        name = by or python.__name__.removeprefix("_")
        STEPS[name] = python
        if not _parts:
            return python
        (compiled,) = (getattr(part, name) for part in _parts if hasattr(part, name))
        made = [] if by else [compiled]

        @wraps(python)
        def step(*arguments: Any) -> Any:  # noqa: ANN401 - what the decorated one takes and gives
            if _in_use[-1] is None:
                return python(*arguments)
            if not made:
                made.append(compiled(*tables()))
            return made[0](*arguments)

        return step  # type: ignore[return-value]

    return decorate


@contextmanager
def python_alone() -> Iterator[None]:
    """In this context the compiled part is not used: for tests and measurements, in one thread."""
    _in_use.append(None)
    try:
        yield
    finally:
        _in_use.pop()
