"""Archives of pages for tests: WARC records, JSON lines, Parquet."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from scrapy_mss.files.sources import format_of, pieces_of
from scrapy_mss.files.stored_pages import Ends, Piece, Record, StoredPage

DATE = "2026-11-22T10:20:30Z"


def warc_record(page: StoredPage, *headers: str, kind: str = "response") -> bytes:
    """A record with *page*, as it is in a file that is not compressed."""
    lines = ["HTTP/1.1 200 OK", "Content-Type: text/html; charset=utf-8", *headers, "", ""]
    content = "\r\n".join(lines).encode() + page.html.encode()
    head = [
        "WARC/1.1",
        f"WARC-Type: {kind}",
        f"WARC-Target-URI: {page.url}",
        f"WARC-Date: {DATE}",
        "Content-Type: application/http; msgtype=response",
        f"Content-Length: {len(content)}",
    ]
    return "\r\n".join([*head, "", ""]).encode() + content + b"\r\n\r\n"


def warc_members(pages: Iterable[StoredPage]) -> list[bytes]:
    """*pages* as records that are compressed, each by itself."""
    return [gzip.compress(warc_record(page), mtime=0) for page in pages]


def stored(content: bytes) -> bytes:
    """A gzip member with *content* as it is: it could not be compressed any further."""
    packer = zlib.compressobj(0, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    return packer.compress(content) + packer.flush()


def json_lines(pages: Iterable[StoredPage]) -> bytes:
    lines = (json.dumps({"url": page.url, "html": page.html}) for page in pages)
    return "".join(f"{line}\n" for line in lines).encode()


def write_parquet(path: Path, pages: Iterable[StoredPage], group: int) -> None:
    """Write *pages* with so many of them in a row *group*."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [{"id": n, "url": page.url, "html": page.html} for n, page in enumerate(pages)]
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=group)


def read(piece: Piece, ends: Ends | None = None) -> list[Record]:
    """The records of *piece*."""
    return list(format_of(piece.path).read(piece, ends or Ends(), lambda: True))


def read_in_pieces(path: Path, size: int) -> Iterator[Record]:
    """The records of all pieces of the file *path*."""
    for piece in pieces_of(path, size):
        yield from read(piece)
