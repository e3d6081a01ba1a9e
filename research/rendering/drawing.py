"""A page as it was drawn: one row for each element and each text, in the order of the document.

A `Drawing` is plain columns, so that it is stored as it is: as compressed JSON with a format
number. What a file holds is checked when it is read, since a crash may have cut it off.
"""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import asdict, dataclass, fields
from typing import Final, NamedTuple

FORMAT: Final = 1
TEXT: Final = "#text"  # what stands in the column of tags for a text
ROOT: Final = -1  # the parent of the first row


class Box(NamedTuple):
    """A rectangle in CSS pixels, from the upper left corner of the page."""

    x: int
    y: int
    width: int
    height: int

    @property
    def right(self) -> int:
        return self.x + self.width

    @property
    def bottom(self) -> int:
        return self.y + self.height

    @property
    def area(self) -> int:
        return self.width * self.height


@dataclass(frozen=True, slots=True)
class Drawing:
    """Columns, one entry a node; a node comes after its parent, and before all that follow it.

    ``background`` is what is seen behind a node: its own colour, or else its nearest ancestor's.
    ``placed`` says how its author has placed an element: "style" (floated, positioned, flex, grid),
    "table" (a cell) or nothing.
    """

    tag: list[str]
    parent: list[int]
    box: list[Box]
    visible: list[bool]
    inline: list[bool]
    placed: list[str]
    font_size: list[float]
    font_weight: list[int]
    color: list[str]
    background: list[str]
    text: list[str]
    styles: int  # characters in <style> elements and style attributes
    milliseconds: float  # that the browser took

    def __len__(self) -> int:
        return len(self.tag)


class Failure(NamedTuple):
    """Why a page could not be drawn."""

    reason: str


class BadFileError(ValueError):
    """What was read is no drawing, or no whole one."""


COLUMNS: Final = tuple(each.name for each in fields(Drawing))


def to_bytes(outcome: Drawing | Failure) -> bytes:
    """The content of a file."""
    if isinstance(outcome, Failure):
        document: dict[str, object] = {"failure": outcome.reason}
    else:
        document = asdict(outcome)
    text = json.dumps({"format": FORMAT, **document}, separators=(",", ":"))
    return gzip.compress(text.encode(), compresslevel=6, mtime=0)


def from_bytes(data: bytes) -> Drawing | Failure:
    """What `to_bytes` made into *data*."""
    try:
        document = json.loads(gzip.decompress(data))
        if document["format"] != FORMAT:
            raise BadFileError(f"expected a drawing of format {FORMAT}, got {document['format']!r}")
        if "failure" in document:
            return Failure(str(document["failure"]))
        columns = {name: document[name] for name in COLUMNS}
        columns["box"] = [Box(*each) for each in columns["box"]]
        return Drawing(**columns)
    except (OSError, EOFError, zlib.error, LookupError, TypeError, ValueError) as error:
        raise BadFileError(f"expected a drawing of format {FORMAT}: {error}") from error
