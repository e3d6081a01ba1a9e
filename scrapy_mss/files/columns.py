"""Articles as rows of a table: the columns, their types, and the values of items.

The columns are the fields of `Article`, under their names in the project's items, and
``other``, a JSON object with everything else in an item, so all files have the same columns and no
value is lost. If a feed names its fields, these are the columns. Columns that are not fields of
`Article`, or have no simple type in Parquet, are text: strings as they are, anything else as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, get_args, get_type_hints

from scrapy.utils.serialize import ScrapyJSONEncoder

from scrapy_mss.items import Article

if TYPE_CHECKING:
    import pyarrow as pa

OTHER: Final = "other"
GREATEST: Final = 2**63 - 1  # of int64


# What values raise that a column, or JSON, has no place for.
UNFIT: Final = (KeyError, TypeError, ValueError, OverflowError, RecursionError)


def _text(value: object) -> str:
    text = value if isinstance(value, str) else _json(value)
    if text is not value and text.startswith('"'):  # of what JSON has strings for, such as dates
        text = json.loads(text)
    return text.encode("utf-8", "replace").decode()  # half a surrogate pair is no character


def _json(value: object) -> str:
    return json.dumps(value, cls=ScrapyJSONEncoder, ensure_ascii=False)


def _texts(value: object) -> list[str]:
    many = value if isinstance(value, list | tuple | set | frozenset) else [value]
    return [_text(each) for each in many]


def _integer(value: Any) -> int:
    number = int(value)
    if abs(number) > GREATEST or (isinstance(value, float) and number != value):
        raise ValueError(value)
    return number


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(value)
    return value


# The type of a field, the name of Parquet's, and what makes a value one of these, or raises.
TYPES: Final[Mapping[object, tuple[str, Callable[[Any], object]]]] = {
    str: ("string", _text),
    bool: ("bool", _truth),
    int: ("int64", _integer),
    float: ("float64", float),
    list[str]: ("list", _texts),
}


def field_types() -> dict[str, object]:
    """The type of each field of `Article`, without the None that most may be."""
    types = {}
    for name, hint in get_type_hints(Article).items():
        parts = [part for part in get_args(hint) if part is not NoneType]
        types[name] = parts[0] if NoneType in get_args(hint) and len(parts) == 1 else hint
    return types


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of a feed: the type of each, and whether ``other`` follows them."""

    types: Mapping[str, object]
    has_other: bool

    @classmethod
    def of(cls, names: Mapping[str, str], chosen: Iterable[str] | None) -> Columns:
        """Those for items with the *names* for our fields; *chosen* are those that a feed names.

        A mapping of *chosen* fields has the names that they get.
        """
        types = {names[ours]: kind for ours, kind in field_types().items() if names[ours]}
        if chosen is None:
            return cls(types, has_other=OTHER not in types)
        pairs = chosen if isinstance(chosen, Mapping) else {name: name for name in chosen}
        return cls({pairs[name]: types.get(name, str) for name in pairs}, has_other=False)

    def schema(self) -> pa.Schema:
        """The same for pyarrow."""
        import pyarrow as pa

        kinds = {"list": pa.list_(pa.string())}
        types = {name: _type(kind)[0] for name, kind in self.types.items()}
        if self.has_other:
            types[OTHER] = "string"
        return pa.schema([(n, kinds.get(t) or pa.type_for_alias(t)) for n, t in types.items()])

    def row(self, values: Iterable[tuple[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The *values* of an item as a row, and those that the row has no place for."""
        row: dict[str, Any] = {}
        left: dict[str, Any] = {}
        other: list[str] = []
        for name, value in values:
            try:
                row[name] = None if value is None else _type(self.types[name])[1](value)
            except UNFIT:
                left[name] = value
        for name in [*left] if self.has_other else ():
            with suppress(*UNFIT):
                other.append(_text(_json({name: left[name]})[1:-1]))
                del left[name]
        if other:
            row[OTHER] = f"{{{', '.join(other)}}}"
        return row, left


def _type(kind: object) -> tuple[str, Callable[[Any], object]]:
    return TYPES.get(kind, TYPES[str])
