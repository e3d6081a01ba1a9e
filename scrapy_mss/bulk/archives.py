"""The formats of archives: their file names, how they are cut into pieces, what reads a piece.

Pages of Parquet files are read row group by row group, only their columns ``url`` and ``html``. Few
rows are decoded at a time, up to a few megabytes according to the file's metadata.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scrapy_mss.files.charsets import decoded
from scrapy_mss.files.stored_pages import (
    JSON_LINES,
    PACKED,
    WARCS,
    Ends,
    Enter,
    Piece,
    Record,
    SourceError,
    read_lines,
)
from scrapy_mss.files.warc import read_warc

if TYPE_CHECKING:
    import pyarrow.parquet as pq

# Bytes of an archive: some three thousand compressed pages, which take a core half a minute. So
# much of each process is done again at the most when a run is killed.
PIECE: Final = 2**26

COLUMNS: Final = ("url", "html")
BUFFER: Final = 2**20  # bytes read ahead of each column; whole row groups would be otherwise
BATCH_BYTES: Final = 2**23
MOST_ROWS: Final = 64


def byte_pieces(path: Path, size: int) -> Iterator[Piece]:
    """Byte ranges of *size* bytes; all of a file that has to be read from its beginning."""
    end = path.stat().st_size
    if path.suffix in PACKED and path.name.endswith(JSON_LINES):
        size = end
    for begin in range(0, end, max(1, size)):
        upto = min(end, begin + size)
        yield Piece(str(path), begin, upto, upto - begin, None if begin else 0)


def parquet_pieces(path: Path, size: int) -> Iterator[Piece]:
    """Row groups of about *size* bytes, or single ones that are larger."""
    with _opened(path) as file:
        groups = file.metadata
        begin = weight = 0
        for number in range(groups.num_row_groups):
            weight += groups.row_group(number).total_byte_size
            if weight >= size or number + 1 == groups.num_row_groups:
                yield Piece(str(path), begin, number + 1, weight, begin)
                begin, weight = number + 1, 0


def read_parquet(piece: Piece, _: Ends, enter: Enter) -> Iterator[Record]:
    """The pages in the row groups of *piece*, and the rows that have none."""
    import pyarrow as pa

    with _opened(Path(piece.path)) as file:
        groups = range(piece.begin, piece.end)
        rows = sum(file.metadata.row_group(number).num_rows for number in groups)
        first = sum(file.metadata.row_group(n).num_rows for n in range(piece.begin))
        batch_rows = max(1, min(MOST_ROWS, rows * BATCH_BYTES // max(1, piece.weight)))
        place = first
        try:
            for batch in file.iter_batches(batch_rows, list(groups), list(COLUMNS)):
                for row in batch.to_pylist():
                    done = piece.weight * (place - first + 1) // rows
                    if enter(place):
                        html = row["html"]
                        html = decoded(html) if isinstance(html, bytes) else html
                        yield Record.of(row["url"], html, place, done)
                    else:
                        yield Record.left_out(place, done)
                    place += 1
        except (pa.ArrowException, OSError) as error:
            yield Record.damaged(place, piece.weight, error)


def _opened(path: Path) -> pq.ParquetFile:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False)
    except (pa.ArrowException, OSError) as error:
        raise SourceError(f"{path}: expected a Parquet file: {error}") from error
    names = file.schema_arrow.names
    if not set(COLUMNS) <= set(names):
        wanted, got = " and ".join(COLUMNS), ", ".join(names)
        raise SourceError(f"{path}: expected the columns {wanted}, got {got}")
    return file


class Format(NamedTuple):
    """How files with one of the *endings* are read; what reads them tells the ends."""

    endings: tuple[str, ...]
    cut: Callable[[Path, int], Iterable[Piece]]
    read: Callable[[Piece, Ends, Enter], Iterator[Record]]


FORMATS: Final = (
    Format(WARCS, byte_pieces, read_warc),
    Format(JSON_LINES, byte_pieces, read_lines),
    Format((".parquet",), parquet_pieces, read_parquet),
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


@dataclass(frozen=True, slots=True)
class Part:
    """Pieces whose articles make up one Parquet file, the one of this *number*."""

    number: int
    pieces: tuple[Piece, ...]

    @property
    def weight(self) -> int:
        """Its bytes in the archive."""
        return sum(piece.weight for piece in self.pieces)

    @classmethod
    def of(cls, values: dict[str, Any]) -> Part:
        """The part that has these `values`, as JSON has them."""
        return cls(values["number"], tuple(Piece(**each) for each in values["pieces"]))


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
