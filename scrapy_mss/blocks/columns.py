"""Named numbers of a page's blocks: rows of one array, a column of the network's inputs each.

What is computed together is filled in together: a group has the names of some rows that follow one
another, and a function that fills them. A page costs as many steps of numpy as its groups have, not
as many as there are names, and nothing is copied to bring the rows together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar

import numpy as np

from scrapy_mss.markup.tokens import Floats

Source = TypeVar("Source")


class Columns(Mapping[str, Floats]):
    """float64[n] by name; ``rows`` are all of them, float64[n_names, n]."""

    def __init__(self, names: tuple[str, ...], rows: Floats) -> None:
        self._places = _places(names)
        self.rows = rows

    def __getitem__(self, name: str) -> Floats:
        row: Floats = self.rows[self._places[name]]
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def some(self, names: tuple[str, ...]) -> Floats:
        """float64[k, n]: a copy of the rows of *names*."""
        some: Floats = self.rows[[self._places[name] for name in names]]
        return some


@lru_cache(64)
def _places(names: tuple[str, ...]) -> dict[str, int]:
    return {name: place for place, name in enumerate(names)}


@dataclass(frozen=True, slots=True)
class Group(Generic[Source]):
    """Rows that are filled together, and what fills them: float64[len(names), n]."""

    names: tuple[str, ...]
    fill: Callable[[Source, Floats], None]


def names_of(groups: Sequence[Group[Source]]) -> tuple[str, ...]:
    """The names of the rows of *groups*, in their order."""
    return tuple(name for group in groups for name in group.names)


def filled(groups: Sequence[Group[Source]], source: Source, rows: Floats) -> Floats:
    """*rows* (float64[n_names, n]), filled by *groups* with what they find in *source*."""
    begin = 0
    for group in groups:
        end = begin + len(group.names)
        group.fill(source, rows[begin:end])
        begin = end
    return rows


def columns_of(groups: Sequence[Group[Source]], source: Source, n: int) -> Columns:
    """What *groups* find in *source*, which has *n* blocks."""
    names = names_of(groups)
    return Columns(names, filled(groups, source, np.empty((len(names), n))))
