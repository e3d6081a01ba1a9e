"""Stored pages in JSON lines, WARC files, or folders of HTML files.

A source is read page by page and never loaded as a whole. Invalid records, and those larger
than any page, are counted and skipped.
"""

from __future__ import annotations

import gzip
import json
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import lxml.etree
import lxml.html

from scrapy_mss.files.charsets import decoded
from scrapy_mss.files.content_encodings import EncodingError, decode
from scrapy_mss.files.untrusted import LARGEST_PAGE, open_regular, path_inside, read_regular

JSON_LINES = (".jsonl", ".jsonl.gz", ".jsonl.xz", ".jl")
WARCS = (".warc", ".warc.gz")
COLLECTIONS = JSON_LINES + WARCS  # files of many pages


class SourceError(ValueError):
    """A source that cannot be read at all; the message names it and says what is expected."""


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page as it was stored."""

    url: str
    html: str


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
        except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
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


def _json_lines(source: Source) -> Iterator[StoredPage]:
    with opened(source.path) as file:
        for number, line in enumerate(bounded_lines(file), 1):
            if line is None:
                source.skipped.add(f"line {number}: more than {LARGEST_PAGE:,} bytes")
                continue
            found = page_in_line(line)
            if isinstance(found, StoredPage):
                yield found
            else:
                source.skipped.add(f"line {number}: {found}")


def page_in_line(line: bytes) -> StoredPage | str:
    """The page in a JSON line; what is wrong with the line if there is none."""
    try:
        record = json.loads(line)
        url, html = record["url"], record["html"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"
    if isinstance(url, str) and isinstance(html, str):
        return StoredPage(url, html)
    return "expected strings for url and html"


def bounded_lines(file: IO[bytes]) -> Iterator[bytes | None]:
    """The lines of *file*; None in the place of one that is larger than a record is."""
    while line := file.readline(LARGEST_PAGE + 1):
        if len(line) <= LARGEST_PAGE:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(LARGEST_PAGE)
        yield None


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """*path*, unpacked if its name says that it is packed."""
    with open_regular(path) as file, unpacked(file, path) as lines:
        yield lines


def unpacked(file: IO[bytes], path: Path) -> IO[bytes]:
    """The content of *file*, unpacked if the name *path* says that it is packed."""
    if path.suffix == ".gz":
        return gzip.open(file)  # type: ignore[return-value]
    return lzma.open(file) if path.suffix == ".xz" else file


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


def _warc(source: Source) -> Iterator[StoredPage]:
    """The HTML responses of a WARC file. Of one that breaks off, those before."""
    try:
        from warcio.archiveiterator import ArchiveIterator
        from warcio.exceptions import ArchiveLoadFailed
    except ImportError as error:
        raise SourceError(
            f"{source.path}: reading WARC files needs warcio: pip install 'scrapy-mss[warc]'"
        ) from error
    records = 0
    with open_regular(source.path) as file:
        try:
            for record in ArchiveIterator(file):
                page = _warc_page(record, source.skipped)
                if page is not None:
                    yield page
                records += 1
        except (ArchiveLoadFailed, AttributeError) as error:  # the latter of half a header
            if not records:
                message = f"{source.path}: expected a WARC file: {str(error)[:100]!r}"
                raise SourceError(message) from error
            source.skipped.add(f"record {records + 1}: {str(error)[:100]}")


def _warc_page(record: Any, skipped: Skipped) -> StoredPage | None:  # noqa: ANN401 - not annotated
    """The page of a *record*; None if it is of something else or cannot be used."""
    from warcio.bufferedreaders import ChunkedDataReader

    head = record.http_headers
    if record.rec_type != "response" or head is None or not head.get_statuscode().startswith("200"):
        return None
    url = record.rec_headers.get_header("WARC-Target-URI") or ""
    kind = head.get_header("Content-Type") or ""
    if "html" not in kind or not url.startswith(("http://", "https://")):
        return None
    stream = record.raw_stream
    is_chunked = "chunked" in (head.get_header("Transfer-Encoding") or "").lower()
    if getattr(stream, "limit", 0) <= LARGEST_PAGE:
        body = (ChunkedDataReader(stream) if is_chunked else stream).read(LARGEST_PAGE + 1)
        if getattr(stream, "limit", 0) and not stream.read(1):
            skipped.add(f"{url}: the file ends within the record")
            return None
        try:
            body = decode(body, head.get_header("Content-Encoding") or "", LARGEST_PAGE + 1)
        except EncodingError as error:
            skipped.add(f"{url}: {error}")
            return None
        if len(body) <= LARGEST_PAGE:
            return StoredPage(url, decoded(body, kind))
    skipped.add(f"{url}: more than {LARGEST_PAGE:,} bytes")
    return None


READERS: tuple[tuple[tuple[str, ...], Callable[[Source], Iterator[StoredPage]]], ...] = (
    (JSON_LINES, _json_lines),
    (WARCS, _warc),
    ((".html", ".htm", ".xhtml"), _html_file),
)
