"""A part of a crawl alone with its checkpoints."""

from __future__ import annotations

from typing import TypeVar

from scrapy_mss.storage.checkpoints import CheckpointPart, Checkpoints
from scrapy_mss.storage.tables import Store

AnyPart = TypeVar("AnyPart", bound=CheckpointPart)


def alone(part: AnyPart, store: Store) -> AnyPart:
    """*part*, with checkpoints that write nothing else to its *store*."""
    Checkpoints(store, [part])
    return part


def checkpoints_of(part: CheckpointPart) -> Checkpoints:
    assert part.checkpoints is not None
    return part.checkpoints


def write(part: CheckpointPart) -> None:
    """A checkpoint, from its beginning to its end."""
    part.checkpoint()
    assert checkpoints_of(part).settle()


def finish(part: CheckpointPart, *, finished: bool = True) -> None:
    """The end of a crawl that has *finished*, or was ended."""
    checkpoints_of(part).close(finished=finished)
