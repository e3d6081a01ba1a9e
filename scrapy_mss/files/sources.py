"""Files of stored pages: whole sources for commands, pieces of archives for `scrapy mss bulk`.

A source is JSON lines, a WARC file, an HTML file or a folder of these last. It is read page by page
and never loaded as a whole. Invalid records, and those larger than any page, are counted and
skipped.

An archive is JSON lines, a WARC file or a Parquet file, which is cut into pieces. Parquet files are
read row group by row group, only their columns ``url`` and ``html``. Few rows are decoded at a
time, up to a few megabytes according to the file's metadata.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import lxml.etree
import lxml.html

from scrapy_mss.files.charsets import decoded
from scrapy_mss.files.stored_pages import (
    DAMAGED,
    JSON_LINES,
    PACKED,
    WARCS,
    Ends,
    Enter,
    Piece,
    Record,
    SourceError,
    StoredPage,
    read_lines,
)
from scrapy_mss.files.untrusted import LARGEST_PAGE, open_regular, path_inside, read_regular
from scrapy_mss.files.warc import begins_record, read_warc

if TYPE_CHECKING:
    import pyarrow.parquet as pq

HTML: Final = (".html", ".htm", ".xhtml")


@dataclass(slots=True)
class Skipped:
    """How many records could not be used, and the first reason."""

    count: int = 0
    first: str = ""

    def add(self, reason: str) -> None:
        self.count += 1
        self.first = self.first or reason


@dataclass(frozen=True, slots=True)
class Source:
    """Pages in the file or folder *path*; *skipped* grows while they are read."""

    path: Path
    skipped: Skipped = field(default_factory=Skipped)

    def __iter__(self) -> Iterator[StoredPage]:
        read = self.check()
        try:
            yield from read(self)
        except OSError as error:
            raise SourceError(f"{self.path}: cannot be read to the end: {error}") from error

    def check(self) -> Callable[[Source], Iterator[StoredPage]]:
        """What reads the source; a `SourceError` if it does not exist or has an unknown format."""
        if not self.path.exists():
            raise SourceError(f"{self.path}: no such file or folder")
        if self.path.is_dir():
            return _folder
        if not self.path.is_file():
            raise SourceError(f"{self.path}: expected a folder or a regular file")
        for endings, read in READERS:
            if self.path.name.endswith(endings):
                return read
        known = ", ".join(ending for endings, _ in READERS for ending in endings)
        message = f"expected a folder of HTML files or a file ending in {known}"
        raise SourceError(f"{self.path}: {message}")

    def page_in(self, record: Record, name: str) -> Iterator[StoredPage]:
        """The page of a *record*; one without is skipped under this *name*."""
        if record.page is not None:
            yield record.page
        else:
            self.skipped.add(f"{name}: {record.detail or f'more than {LARGEST_PAGE:,} bytes'}")


def _json_lines(source: Source) -> Iterator[StoredPage]:
    for number, record in enumerate(read_lines(_whole(source), Ends(), lambda: True), 1):
        if record.problem == DAMAGED:
            raise OSError(record.detail)
        yield from source.page_in(record, f"line {number}")


def _warc(source: Source) -> Iterator[StoredPage]:
    """The HTML responses of a WARC file, but those that are damaged."""
    try:
        records = read_warc(_whole(source), Ends(), lambda: True)
        with open_regular(source.path) as file:
            if not begins_record(file, 0):
                raise SourceError(f"{source.path}: expected a WARC file")
        for record in records:
            yield from source.page_in(record, record.url or f"record at byte {record.place:,}")
    except ImportError as error:
        raise SourceError(
            f"{source.path}: reading WARC files needs fastwarc: pip install 'scrapy-mss[warc]'"
        ) from error


def _whole(source: Source) -> Piece:
    size = source.path.stat().st_size
    return Piece(str(source.path), 0, size, size, 0)


def _html_file(source: Source) -> Iterator[StoredPage]:
    try:
        body = read_regular(source.path, LARGEST_PAGE)
    except OSError as error:
        source.skipped.add(f"{source.path}: {error.strerror}")
        return
    page = _stored(body)
    if page is None:
        source.skipped.add(
            f"{source.path}: expected a canonical URL in the page (rel=canonical, og:url)"
        )
    else:
        yield page


def _folder(source: Source) -> Iterator[StoredPage]:
    for path in sorted(source.path.rglob("*")):
        if path.suffix.lower() not in HTML or path.is_dir():
            continue
        if path.is_file() and path_inside(path, source.path):
            yield from _html_file(Source(path, source.skipped))
        else:
            source.skipped.add(f"{path}: expected a regular file of this folder")


def _stored(body: bytes) -> StoredPage | None:
    """The page in an HTML file, with its canonical URL; None if it has none."""
    html = decoded(body)
    try:
        tree = lxml.html.document_fromstring(html.encode("utf-8", "replace"))
    except (lxml.etree.LxmlError, ValueError, AssertionError):
        return None
    for xpath in ("//link[@rel='canonical']/@href", "//meta[@property='og:url']/@content"):
        for url in tree.xpath(xpath):
            if str(url).startswith(("http://", "https://")):
                return StoredPage(str(url), html)
    return None


READERS: tuple[tuple[tuple[str, ...], Callable[[Source], Iterator[StoredPage]]], ...] = (
    (JSON_LINES, _json_lines),
    (WARCS, _warc),
    (HTML, _html_file),
)

# --- pieces of archives ---------------------------------------------------------------------------

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
                    if enter():
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
