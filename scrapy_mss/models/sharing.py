"""The counts of a model in a buffer that several processes map: one learns, others read.

The buffer has the token totals first and then the counts of each family, in the order of the
profile's families, which both sides know.
"""

from __future__ import annotations

from collections.abc import Iterator
from mmap import mmap
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.models.model import Model

Buffer: TypeAlias = memoryview | bytearray | mmap


def size_of(model: Model) -> int:
    """The size of a buffer for the counts of *model*, in bytes."""
    return sum(array.nbytes for array in _arrays(model))


def attach(model: Model, buffer: Buffer) -> None:
    """Let the counts of *model* be those in *buffer*."""
    bayes = model.bayes
    views = _views(model, buffer)
    bayes.tokens = next(views)
    for family in bayes.families:
        bayes.counts[family.name] = next(views)


def move_into(model: Model, buffer: Buffer) -> None:
    """Copy the counts of *model* into *buffer* and let the model use them there."""
    for view, array in zip(_views(model, buffer), _arrays(model), strict=True):
        view[...] = array
    attach(model, buffer)


def _arrays(model: Model) -> list[NDArray[Any]]:
    bayes = model.bayes
    return [bayes.tokens, *(bayes.counts[family.name] for family in bayes.families)]


def _views(model: Model, buffer: Buffer) -> Iterator[NDArray[Any]]:
    """Arrays like those of *model*, one after the other in *buffer*."""
    position = 0
    for array in _arrays(model):
        yield np.ndarray(array.shape, array.dtype, memoryview(buffer), position)
        position += array.nbytes
