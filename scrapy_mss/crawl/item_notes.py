"""Notes that a pipeline takes of items, found again when the items have left all pipelines.

Later pipelines may edit, move or replace what an item has, and the item itself. A note is found by
the object that was noted, which is held so that no other one can have its id; where another object
has left in its place, by the response of both. Every item that passes is noted, so that none is
taken for another one of its page. What never leaves is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Generic, TypeVar

from scrapy.http import Response

Note = TypeVar("Note")

MAX_NOTES: Final = 2**13  # as of pairs of items and pages


class ItemNotes(Generic[Note]):
    """Notes of the items that are on their way through the pipelines."""

    def __init__(self) -> None:
        # By the id of the item, oldest first.
        self._notes: dict[int, tuple[Any, Response | None, Note | None]] = {}

    def put(self, item: object, response: Response | None, note: Note | None) -> None:
        """Take a *note* of *item*, of the page of *response*; None says that there is none."""
        self._notes[id(item)] = item, response, note
        if len(self._notes) > MAX_NOTES:
            del self._notes[next(iter(self._notes))]

    def get(self, item: object) -> Note | None:
        """The note of this very *item*."""
        noted = self._notes.get(id(item))
        return None if noted is None else noted[2]

    def pop(self, item: object, response: Response | None) -> Note | None:
        """The note of *item*, which is gone with it."""
        key: int | None = id(item)
        if key not in self._notes:
            same = (key for key, (_, of, _) in self._notes.items() if of is response)
            key = None if response is None else next(same, None)
        return None if key is None else self._notes.pop(key)[2]

    def __iter__(self) -> Iterator[Note]:
        """All notes that there are."""
        return (note for _, _, note in self._notes.values() if note is not None)
