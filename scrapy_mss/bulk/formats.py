"""The formats of archives: their file names, how they are split, and what reads a piece."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from scrapy_mss.bulk.line_pieces import PACKED, read_lines
from scrapy_mss.bulk.parquet_pieces import parquet_pieces, read_parquet
from scrapy_mss.bulk.records import Ends, Enter, Part, Piece, Record
from scrapy_mss.bulk.warc_pieces import read_warc
from scrapy_mss.files.stored_pages import JSON_LINES, WARCS, SourceError

# Bytes of an archive: some three thousand compressed pages, which take a core half a minute. So
# much of each process is done again at the most when a run is killed.
PIECE: Final = 2**26


def byte_pieces(path: Path, size: int) -> Iterator[Piece]:
    """Byte ranges of *size* bytes; all of a file that has to be read from its beginning."""
    end = path.stat().st_size
    if path.suffix in PACKED and path.name.endswith(JSON_LINES):
        size = end
    for begin in range(0, end, max(1, size)):
        upto = min(end, begin + size)
        yield Piece(str(path), begin, upto, upto - begin, None if begin else 0)


def _read_lines(piece: Piece, _: Ends, enter: Enter) -> Iterator[Record]:
    return read_lines(piece, enter)


def _read_parquet(piece: Piece, _: Ends, enter: Enter) -> Iterator[Record]:
    return read_parquet(piece, enter)


class Format(NamedTuple):
    """How files with one of the *endings* are read; what reads them tells the ends."""

    endings: tuple[str, ...]
    cut: Callable[[Path, int], Iterable[Piece]]
    read: Callable[[Piece, Ends, Enter], Iterator[Record]]


FORMATS: Final = (
    Format(WARCS, byte_pieces, read_warc),
    Format(JSON_LINES, byte_pieces, _read_lines),
    Format((".parquet",), parquet_pieces, _read_parquet),
)
ENDINGS: Final = tuple(ending for each in FORMATS for ending in each.endings)


def format_of(path: str) -> Format:
    """The format of the file *path*, by its name; a `SourceError` if it has none of these."""
    for each in FORMATS:
        if path.endswith(each.endings):
            return each
    raise SourceError(f"{path}: expected a file ending in {', '.join(ENDINGS)}")


def pieces_of(path: Path, size: int = PIECE) -> list[Piece]:
    """The pieces of the file *path*, in their order."""
    if path.is_dir():
        raise SourceError(f"{path}: expected a file, got a folder; name its files: '{path}/*'")
    if not path.is_file():
        raise SourceError(f"{path}: expected a regular file")
    return list(format_of(path.name).cut(path, size))


def grouped(pieces: Iterable[Piece], first: int, size: int = PIECE) -> Iterator[Part]:
    """*pieces* as parts of at least *size* bytes, numbered from *first*.

    So small files share a part. A piece that may have to be read again has one of its own.
    """
    group: list[Piece] = []
    weight = 0
    for piece in pieces:
        is_certain = piece.begin == 0
        if group and (weight + piece.weight > size or not is_certain):
            yield Part(first, tuple(group))
            group, weight, first = [], 0, first + 1
        group.append(piece)
        weight += piece.weight
        if not is_certain:
            yield Part(first, tuple(group))
            group, weight, first = [], 0, first + 1
    if group:
        yield Part(first, tuple(group))
