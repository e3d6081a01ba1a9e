"""Parts: Parquet files of articles, one row per page, under a temporary name until they are listed.

The process that makes a part writes and syncs ``part-….parquet.….new``. The owner of the manifest
lists the part there and then renames the file. Any file that ends in ``.parquet`` is thus complete
and listed, and what a killed run leaves is recognized by its name.
"""

from __future__ import annotations

import logging
import os
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from secrets import token_hex
from time import monotonic
from typing import Any, Final

from scrapy_mss.bulk.extracting import COLUMNS, DETAIL, PLACE, REASON, SOURCE, ArticleExtractor, Row
from scrapy_mss.crawl.processes import CRASH
from scrapy_mss.files.parquet import batches_of, write_groups
from scrapy_mss.files.sources import PIECE, format_of
from scrapy_mss.files.stored_pages import LEFT_OUT, LOST_TWICE, Ends, Enter, Piece, Record

logger = logging.getLogger(__name__)

NEW: Final = ".new"
TRIES: Final = 3  # of a part, besides those that its pages have cost
MOST_LEFT_OUT: Final = 10  # pages of a part; each has it read again twice
NUMBER: Final = struct.Struct("<q")  # of a record
REPORT_SECONDS: Final = 0.5  # between two reports of how far a part is

OnProgress = Callable[[int, int], None]  # so many more pages, and bytes of the archive, are done


@dataclass(frozen=True, slots=True)
class Part:
    """Pieces whose articles make up one Parquet file, the one of this *number*.

    Their records are numbered from 1; those *left_out* have cost processes.
    """

    number: int
    pieces: tuple[Piece, ...]
    left_out: tuple[int, ...] = ()


def grouped(pieces: Iterable[Piece], first: int, size: int = PIECE) -> Iterator[Part]:
    """*pieces* as parts of at least *size* bytes, numbered from *first*.

    So small files share a part. A piece that may have to be read again has one of its own.
    """
    group: list[Piece] = []
    weight = 0
    for piece in pieces:
        is_alone = bool(group and (piece.begin or group[-1].begin))
        if is_alone or (group and weight + piece.weight > size):
            yield Part(first, tuple(group))
            group, weight, first = [], 0, first + 1
        group.append(piece)
        weight += piece.weight
    if group:
        yield Part(first, tuple(group))


@dataclass(frozen=True, slots=True)
class DonePiece:
    """A piece, and where its records began and ended."""

    piece: Piece
    ends: Ends


@dataclass(frozen=True, slots=True)
class DonePart:
    """A part that is written: the file *new* is to be called *name*.

    It has *pages* rows, *articles* of them with an article, the others by their *reasons*.
    """

    name: str
    new: str
    pages: int
    articles: int
    reasons: dict[str, int]
    pieces: tuple[DonePiece, ...]

    @property
    def number(self) -> int:
        return int(self.name.removeprefix("part-").removesuffix(".parquet"))

    @classmethod
    def of(cls, values: dict[str, Any]) -> DonePart:
        pieces = (
            DonePiece(Piece(**each["piece"]), Ends(**each["ends"])) for each in values["pieces"]
        )
        return cls(**{**values, "pieces": tuple(pieces)})


def make_part(
    part: Part, folder: Path, extractor: ArticleExtractor, report: OnProgress
) -> DonePart:
    """Write *part* to *folder*, under its temporary name.

    The number of the record that is read is in a file, where `record_at` finds it.
    """
    pages, reasons = 0, Counter[str]()
    places: list[tuple[str, int]] = []  # of the records left out
    ends, numbers = [Ends() for _ in part.pieces], count(1)
    with _file_at(part, folder).open("wb", buffering=0) as at:

        def note(number: int) -> None:
            at.seek(0)
            at.write(NUMBER.pack(number))

        def enter() -> bool:
            number = next(numbers)
            note(number)
            return number not in part.left_out

        def rows() -> Iterator[Row]:
            nonlocal pages
            for row in extractor.rows(_records(part, ends, enter, report)):
                pages += 1
                if row[REASON]:
                    reasons[row[REASON]] += 1
                if row[REASON] == LEFT_OUT:
                    places.append((row[SOURCE], row[PLACE]))
                yield row
            note(0)

        name, new = _write(part, folder, rows())
    for place in places:
        logger.warning("scrapy-mss: left out %s at %d, which has cost processes", *place)
    pieces = tuple(map(DonePiece, part.pieces, ends))
    return DonePart(name, new, pages, pages - reasons.total(), dict(reasons), pieces)


def record_at(part: Part, folder: Path) -> int:
    """The number of the record that the process was at that was lost with *part*; 0 if at none.

    It is told once: the next process may be lost before it is at a record.
    """
    path = _file_at(part, folder)
    written = path.read_bytes() if path.exists() else b""
    path.unlink(missing_ok=True)
    return NUMBER.unpack(written)[0] if written else 0


def _file_at(part: Part, folder: Path) -> Path:
    return folder / f"{_name(part)}.at{NEW}"


def left_out_after(lost: Mapping[int, int]) -> tuple[int, ...]:
    """The records to leave out, given how many processes were *lost* at each."""
    return tuple(number for number, times in lost.items() if number and times >= LOST_TWICE)


def is_given_up(lost: Counter[int]) -> bool:
    """Whether so many processes were *lost*, at some record or at none, that a part is given up."""
    left_out = len(left_out_after(lost))
    return lost.total() - left_out * LOST_TWICE >= TRIES or left_out > MOST_LEFT_OUT


def given_up(part: Part, folder: Path, detail: str) -> DonePart:
    """A part that cannot be made, as *detail* says: a row for each piece of it."""
    row = {REASON: CRASH, DETAIL: detail}
    rows = ({**row, SOURCE: piece.path, PLACE: piece.begin} for piece in part.pieces)
    name, new = _write(part, folder, rows)
    count = len(part.pieces)
    pieces = tuple(DonePiece(piece, Ends()) for piece in part.pieces)
    return DonePart(name, new, count, 0, {CRASH: count}, pieces)


def _records(
    part: Part, all_ends: list[Ends], enter: Enter, report: OnProgress
) -> Iterator[Record]:
    """The records of *part*; sets the ends of its pieces, and reports the progress now and then."""
    pages = size = 0
    reported_at = monotonic()
    for piece, ends in zip(part.pieces, all_ends, strict=True):
        done = 0
        for record in format_of(piece.path).read(piece, ends, enter):
            before, done = done, max(done, min(record.done, piece.weight))
            pages += 1
            size += done - before
            if monotonic() - reported_at >= REPORT_SECONDS:
                report(pages, size)
                pages, size, reported_at = 0, 0, monotonic()
            yield replace(record, source=piece.path)
        size += piece.weight - done
    report(pages, size)


def _name(part: Part) -> str:
    return f"part-{part.number:05}.parquet"


def _write(part: Part, folder: Path, rows: Iterable[Row]) -> tuple[str, str]:
    name = _name(part)
    new = f"{name}.{token_hex(4)}{NEW}"
    schema = COLUMNS.schema()
    with (folder / new).open("xb") as file:
        write_groups(file, schema, batches_of(rows, schema))
        file.flush()
        os.fsync(file.fileno())
    return name, new
