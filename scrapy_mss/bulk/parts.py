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
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_hex
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, Final

from scrapy_mss.bulk.extracting import COLUMNS, DETAIL, PLACE, REASON, SOURCE, ArticleExtractor, Row
from scrapy_mss.crawl.processes import CRASH
from scrapy_mss.files.parquet import batches_of, write_groups
from scrapy_mss.files.sources import PIECE, format_of
from scrapy_mss.files.stored_pages import LEFT_OUT, LOST_TWICE, Ends, Piece, Record

if TYPE_CHECKING:
    from typing_extensions import Self

logger = logging.getLogger(__name__)

NEW: Final = ".new"
AT: Final = ".at.new"  # of files that say where the process is that makes a part
TRIES: Final = 3  # of a part, besides those that its pages have cost
MOST_LEFT_OUT: Final = 10  # pages of a part; each has it read again twice
REPORT_SECONDS: Final = 0.5  # between two reports of how far a part is

OnProgress = Callable[[int, int], None]  # so many more pages, and bytes of the archive, are done


@dataclass(frozen=True, slots=True)
class Part:
    """Pieces whose articles make up one Parquet file, the one of this *number*."""

    number: int
    pieces: tuple[Piece, ...]


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


class _Tracked:
    """The number of the record of *part* that this process is at, in a file that outlives it.

    Records are counted from 1; 0 is for a process that is at none.
    """

    FORM: ClassVar = struct.Struct("<q")

    def __init__(self, part: Part, folder: Path) -> None:
        lost = _lost(part, folder)
        self._left_out = {number for number in lost if number and lost[number] >= LOST_TWICE}
        self._files = [*_tracks(part, folder), folder / f"{_name(part)}.{token_hex(4)}{AT}"]
        self._file = self._files[-1].open("xb", buffering=0)
        self._count = 0
        self._note(0)

    def _note(self, number: int) -> None:
        self._file.seek(0)
        self._file.write(self.FORM.pack(number))

    def enter(self) -> bool:
        """Note that the process is at the next record; whether it is to be read."""
        self._count += 1
        self._note(self._count)
        return self._count not in self._left_out

    def leave(self) -> None:
        """Note that the process has read the last record."""
        self._note(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close the file. It stays where the part was not made, as if the process were lost."""
        self._file.close()
        for path in self._files if kind is None else ():
            path.unlink(missing_ok=True)


def make_part(
    part: Part, folder: Path, extractor: ArticleExtractor, report: OnProgress
) -> DonePart:
    """Write *part* to *folder*, under its temporary name."""
    pages, reasons = 0, Counter[str]()
    left_out: list[tuple[str, int]] = []
    ends = [Ends() for _ in part.pieces]
    with _Tracked(part, folder) as tracked:

        def rows() -> Iterator[Row]:
            nonlocal pages
            for row in extractor.rows(_records(part, ends, tracked, report)):
                pages += 1
                if row[REASON]:
                    reasons[row[REASON]] += 1
                if row[REASON] == LEFT_OUT:
                    left_out.append((row[SOURCE], row[PLACE]))
                yield row
            tracked.leave()

        name, new = _write(part, folder, rows())
    for place in left_out:
        logger.warning("scrapy-mss: left out %s at %d, which has cost processes", *place)
    pieces = tuple(map(DonePiece, part.pieces, ends))
    return DonePart(name, new, pages, pages - reasons.total(), dict(reasons), pieces)


def has_failed_too_often(part: Part, folder: Path) -> bool:
    """Whether so many processes were lost that made *part* that it is given up."""
    lost = _lost(part, folder)
    left_out = sum(count >= LOST_TWICE for number, count in lost.items() if number)
    return lost.total() - left_out * LOST_TWICE >= TRIES or left_out > MOST_LEFT_OUT


def _lost(part: Part, folder: Path) -> Counter[int]:
    """The records at which processes were lost that made *part*; each has left a file."""
    found = (path.read_bytes() for path in _tracks(part, folder))
    return Counter(_Tracked.FORM.unpack(each)[0] if each else 0 for each in found)


def _tracks(part: Part, folder: Path) -> Iterator[Path]:
    return folder.glob(f"{_name(part)}.*{AT}")


def given_up(part: Part, folder: Path, detail: str) -> DonePart:
    """A part that cannot be made, as *detail* says: a row for each piece of it."""
    row = {REASON: CRASH, DETAIL: detail}
    rows = ({**row, SOURCE: piece.path, PLACE: piece.begin} for piece in part.pieces)
    name, new = _write(part, folder, rows)
    count = len(part.pieces)
    pieces = tuple(DonePiece(piece, Ends()) for piece in part.pieces)
    return DonePart(name, new, count, 0, {CRASH: count}, pieces)


def _records(
    part: Part, all_ends: list[Ends], tracked: _Tracked, report: OnProgress
) -> Iterator[Record]:
    """The records of *part*; sets the ends of its pieces, and reports the progress now and then."""
    pages = size = 0
    reported_at = monotonic()
    for piece, ends in zip(part.pieces, all_ends, strict=True):
        done = 0
        for record in format_of(piece.path).read(piece, ends, tracked.enter):
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
