"""Sources of stored pages: JSON lines, WARC files, HTML files or folders of these last.

A source is read page by page and never loaded as a whole. Invalid records, and those larger
than any page, are counted and skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import lxml.etree
import lxml.html

from scrapy_mss.files.charsets import decoded
from scrapy_mss.files.stored_pages import (
    DAMAGED,
    JSON_LINES,
    WARCS,
    Ends,
    Piece,
    Record,
    SourceError,
    StoredPage,
    read_lines,
)
from scrapy_mss.files.untrusted import LARGEST_PAGE, open_regular, path_inside, read_regular
from scrapy_mss.files.warc import begins_record, read_warc


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
    for number, record in enumerate(read_lines(_whole(source), Ends(), _every), 1):
        if record.problem == DAMAGED:
            raise OSError(record.detail)
        yield from source.page_in(record, f"line {number}")


def _warc(source: Source) -> Iterator[StoredPage]:
    """The HTML responses of a WARC file, but those that are damaged."""
    try:
        records = read_warc(_whole(source), Ends(), _every)
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


def _every(_place: int) -> bool:
    return True


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
        if path.suffix.lower() not in {".html", ".htm", ".xhtml"} or path.is_dir():
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
    ((".html", ".htm", ".xhtml"), _html_file),
)
