"""A part of a crawl alone with its checkpoints."""

from __future__ import annotations

from typing import Any, TypeVar

from scrapy_mss.storage.checkpoints import CheckpointPart, Checkpoints
from scrapy_mss.storage.tables import Store

AnyPart = TypeVar("AnyPart", bound=CheckpointPart[Any])


def alone(part: AnyPart, store: Store) -> AnyPart:
    """*part*, with checkpoints that write nothing else to its *store*."""
    Checkpoints(store, [part])
    return part


def checkpoints_of(part: CheckpointPart[Any]) -> Checkpoints:
    assert part.checkpoints is not None
    return part.checkpoints


def write(part: CheckpointPart[Any]) -> None:
    """A checkpoint, from its beginning to its end."""
    part.checkpoint()
    assert checkpoints_of(part).settle()


def finish(part: CheckpointPart[Any], *, finished: bool = True) -> None:
    """The end of a crawl that has *finished*, or was ended."""
    checkpoints_of(part).close(finished=finished)
