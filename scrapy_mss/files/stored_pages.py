"""Stored pages, and the records of the files that hold many of them; those of JSON lines.

A piece is what one process reads of a file at a time. A file that can be read from the middle is
cut into pieces of similar size, so that one huge file keeps all processes busy; any other file is
one piece. The boundaries of a piece depend only on its file, so the work of an earlier run is
recognized even if other files have changed.
"""

from __future__ import annotations

import gzip
import json
import lzma
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from scrapy_mss.files.untrusted import LARGEST_PAGE, open_regular

PACKED: Final = (".gz", ".xz")
JSON_LINES: Final = (".jsonl", ".jsonl.gz", ".jsonl.xz", ".jl")
WARCS: Final = (".warc", ".warc.gz")
COLLECTIONS: Final = JSON_LINES + WARCS  # files of many pages

# Why a record of an archive is not read.
DAMAGED: Final = "damaged"  # it cannot be decoded, or breaks off
TOO_LARGE: Final = "too_large"  # it is longer than MSS_MAX_BODY
UNUSABLE: Final = "unusable"  # it has no address, or no HTML
LEFT_OUT: Final = "left_out"  # it has cost processes that read it
LOST_TWICE: Final = 2  # processes, at the same record: once may be an accident
LONGEST_DETAIL: Final = 200  # characters of a message that are worth a row

# Called before each record is read; returns whether to read it.
Enter = Callable[[], bool]


class SourceError(ValueError):
    """A source that cannot be read at all; the message names it and says what is expected."""


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page as it was stored."""

    url: str
    html: str


@dataclass(frozen=True, slots=True)
class Piece:
    """The records of the file *path* that begin from *begin* to before *end*.

    These are bytes, or row groups of Parquet, all in all *weight* bytes. The first record begins at
    *start*; where that is None it is to be looked for, as the piece may begin within a record,
    which belongs to the piece before it.
    """

    path: str
    begin: int
    end: int
    weight: int
    start: int | None

    @property
    def key(self) -> tuple[str, int, int]:
        """What names the piece among those of all runs."""
        return self.path, self.begin, self.end


@dataclass(slots=True)
class Ends:
    """Where the *first* record of a piece begins, and the one to *stop* at; None if none does.

    They are *known* of a piece of a WARC file that was read.
    """

    first: int | None = None
    stop: int | None = None
    known: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """A page of an archive, or the *problem* with one, at the *place* that it has in its file.

    Once it is read, *done* bytes of its piece are; *source* is the file. *url* is the page's if
    that is known without the page.
    """

    place: int
    done: int
    page: StoredPage | None = None
    crawled: str | None = None
    problem: str = ""
    detail: str = ""
    source: str | None = None
    url: str | None = None

    @classmethod
    def of(cls, url: object, html: object, place: int, done: int = 0) -> Record:
        """The page of two values, if these are text."""
        if isinstance(url, str) and isinstance(html, str):
            return cls(place, done, StoredPage(url, html))
        return cls(place, done, problem=UNUSABLE, detail="expected text for url and html")

    @classmethod
    def damaged(cls, place: int, done: int, error: object, url: str | None = None) -> Record:
        """A record that cannot be read, as the *error* says."""
        return cls(place, done, problem=DAMAGED, detail=str(error)[:LONGEST_DETAIL], url=url)

    @classmethod
    def left_out(cls, place: int, done: int, url: str | None = None) -> Record:
        """A record that is not read, because processes were lost that did."""
        detail = f"{LOST_TWICE} processes were lost that read it"
        return cls(place, done, problem=LEFT_OUT, detail=detail, url=url)


# --- JSON lines -----------------------------------------------------------------------------------

BROKEN: Final = (OSError, EOFError, lzma.LZMAError, zlib.error)


def read_lines(piece: Piece, _: Ends, enter: Enter) -> Iterator[Record]:
    """The pages in the lines of *piece*, and the lines that have none.

    A line belongs to the piece in which it begins. A compressed file must be read from its
    beginning, so it is one piece.
    """
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
                yield Record.damaged(place, piece.weight, error)
                return
            done = file.tell() - piece.begin
            yield _record_of(line, place, done) if enter() else Record.left_out(place, done)
            place = content.tell()


def _record_of(line: bytes | None, place: int, done: int) -> Record:
    if line is None:
        return Record(place, done, problem=TOO_LARGE)
    try:
        record = json.loads(line)
        return Record.of(record["url"], record["html"], place, done)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        detail = f"{type(error).__name__}: {error}"[:LONGEST_DETAIL]
        return Record(place, done, problem=UNUSABLE, detail=detail)


def bounded_lines(file: IO[bytes]) -> Iterator[bytes | None]:
    """The lines of *file*; None in the place of one that is larger than a record is."""
    while line := file.readline(LARGEST_PAGE + 1):
        if len(line) <= LARGEST_PAGE:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(LARGEST_PAGE)
        yield None


def unpacked(file: IO[bytes], path: Path) -> IO[bytes]:
    """The content of *file*, unpacked if the name *path* says that it is packed."""
    if path.suffix == ".gz":
        return gzip.open(file)  # type: ignore[return-value]
    return lzma.open(file) if path.suffix == ".xz" else file
