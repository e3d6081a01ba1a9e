"""Pages of Parquet files, row group by row group, reading only the columns ``url`` and ``html``.

Few rows are decoded at a time, up to a few megabytes according to the file's metadata.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrapy_mss.bulk.records import DAMAGED, LONGEST_DETAIL, UNUSABLE, Enter, Piece, Record
from scrapy_mss.files.charsets import decoded
from scrapy_mss.files.stored_pages import SourceError, StoredPage

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

COLUMNS: Final = ("url", "html")
BUFFER: Final = 2**20  # bytes read ahead of each column; whole row groups would be otherwise
BATCH_BYTES: Final = 2**23
MOST_ROWS: Final = 64


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


def read_parquet(piece: Piece, enter: Enter) -> Iterator[Record]:
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
                    is_read = enter(place)
                    yield _record_of(row, place, done) if is_read else Record.left_out(place, done)
                    place += 1
        except (pa.ArrowException, OSError) as error:
            detail = str(error)[:LONGEST_DETAIL]
            yield Record(place, piece.weight, problem=DAMAGED, detail=detail)


def _record_of(row: dict[str, object], place: int, done: int) -> Record:
    url, html = row["url"], row["html"]
    if isinstance(html, bytes):
        html = decoded(html)
    if isinstance(url, str) and isinstance(html, str):
        return Record(place, done, StoredPage(url, html))
    return Record(place, done, problem=UNUSABLE, detail="expected text for url and html")


def _opened(path: Path) -> pq.ParquetFile:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False)
    except (pa.ArrowException, OSError) as error:
        raise SourceError(f"{path}: expected a Parquet file: {error}") from error
    names = _names(file.schema_arrow)
    if not set(COLUMNS) <= set(names):
        wanted, got = " and ".join(COLUMNS), ", ".join(names)
        raise SourceError(f"{path}: expected the columns {wanted}, got {got}")
    return file


def _names(schema: pa.Schema) -> list[str]:
    return [str(name) for name in schema.names]
