"""Pages of JSON lines from any byte on: a line belongs to the piece in which it begins.

A compressed file must be read from its beginning, so it is one piece.
"""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from scrapy_mss.bulk.records import (
    DAMAGED,
    LONGEST_DETAIL,
    TOO_LARGE,
    UNUSABLE,
    Enter,
    Piece,
    Record,
)
from scrapy_mss.files.stored_pages import StoredPage, bounded_lines, page_in_line, unpacked
from scrapy_mss.files.untrusted import open_regular

PACKED: Final = (".gz", ".xz")
BROKEN: Final = (OSError, EOFError, lzma.LZMAError, zlib.error)


def read_lines(piece: Piece, enter: Enter) -> Iterator[Record]:
    """The pages in the lines of *piece*, and the lines that have none."""
    path = Path(piece.path)
    is_packed = path.suffix in PACKED
    with open_regular(path) as file, unpacked(file, path) as content:
        if piece.begin:
            file.seek(piece.begin - 1)
            next(bounded_lines(file), None)  # of the piece before, if only its end
        place = content.tell()
        lines = bounded_lines(content)
        while is_packed or place < piece.end:
            try:
                line = next(lines)
            except StopIteration:
                return
            except BROKEN as error:
                yield Record(place, piece.weight, problem=DAMAGED, detail=_short(error))
                return
            done = file.tell() - piece.begin
            yield _record_of(line, place, done) if enter(place) else Record.left_out(place, done)
            place = content.tell()


def _record_of(line: bytes | None, place: int, done: int) -> Record:
    if line is None:
        return Record(place, done, problem=TOO_LARGE)
    found = page_in_line(line)
    if isinstance(found, StoredPage):
        return Record(place, done, found)
    return Record(place, done, problem=UNUSABLE, detail=_short(found))


def _short(what: object) -> str:
    return str(what)[:LONGEST_DETAIL]
