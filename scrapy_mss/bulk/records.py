"""What is read from an archive: pieces of its files, and in these pages and records without a page.

A piece is what one process reads at a time. A file that can be read from the middle is cut into
pieces of similar size, so that one huge file keeps all processes busy; any other file is one
piece. The boundaries of a piece depend only on its file, so the work of an earlier run
is recognized even if other files have changed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from scrapy_mss.files.stored_pages import StoredPage

# Why a record of an archive is not read.
DAMAGED: Final = "damaged"  # it cannot be decoded, or breaks off
TOO_LARGE: Final = "too_large"  # it is longer than MSS_MAX_BODY
UNUSABLE: Final = "unusable"  # it has no address, or no HTML
LEFT_OUT: Final = "left_out"  # it has cost processes that read it
LOST_TWICE: Final = 2  # processes, at the same record: once may be an accident
LONGEST_DETAIL: Final = 200  # characters of a message that are worth a row


# Told the place of each record before it is read; whether it is to be read at all.
Enter = Callable[[int], bool]


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
    def left_out(cls, place: int, done: int, url: str | None = None) -> Record:
        """A record that is not read, because processes were lost that did."""
        detail = f"{LOST_TWICE} processes were lost that read it"
        return cls(place, done, problem=LEFT_OUT, detail=detail, url=url)


@dataclass(frozen=True, slots=True)
class Part:
    """Pieces whose articles make up one Parquet file, the one of this *number*."""

    number: int
    pieces: tuple[Piece, ...]

    @property
    def weight(self) -> int:
        """Its bytes in the archive."""
        return sum(piece.weight for piece in self.pieces)
