"""Pages of WARC files from any position, with fastwarc.

In compressed files each record is a gzip member of its own, so reading can begin at any
record. Which bytes begin a record cannot be determined with certainty, because a record may contain
a WARC file itself. A piece therefore records the positions of its first record and of the one after
its last; if the next piece began elsewhere, it is read again from there.

After damage, reading continues with the next record that can be recognized. Everything is read as a
stream, and records larger than a page are skipped. Content encodings of responses are decoded, too.
"""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, BinaryIO, Final

from scrapy_mss.files.charsets import decoded
from scrapy_mss.files.stored_pages import DAMAGED, TOO_LARGE, Ends, Enter, Piece, Record, StoredPage
from scrapy_mss.files.untrusted import LARGEST_PAGE, open_regular

GZIP: Final = b"\x1f\x8b\x08"
PLAIN: Final = b"WARC/1."
BETWEEN: Final = b"\r\n\r\n"  # what ends a record
BLOCK: Final = 2**20  # bytes that are searched at a time
HEAD: Final = 2**12  # bytes in which a member has begun to say what is in it
LONGEST_HEADER: Final = 2**16  # bytes; servers send a few thousand


def read_warc(piece: Piece, ends: Ends, enter: Enter) -> Iterator[Record]:
    """The pages among the records of *piece*, and where there is damage."""
    with open_regular(piece.path) as file:
        size = os.fstat(file.fileno()).st_size
        pattern = GZIP if piece.path.endswith(".gz") else BETWEEN
        at = piece.start
        if at is None:
            at = record_from(file, piece.begin, piece.end, pattern)
        ends.known = True
        ends.first = at if at is not None and at < piece.end else None
        while at is not None and at < piece.end:
            seen = _Seen(at)
            try:
                at = yield from _whole_records(file, seen, piece, enter)
            except OSError as error:  # of fastwarc, or of the disk
                at = record_from(file, seen.last + 1, size, pattern)
                damaged_at = seen.damage(file, at)
                if damaged_at is not None:
                    yield Record.damaged(damaged_at, damaged_at - piece.begin, error)
        if ends.first is not None:
            ends.stop = size if at is None else at


def _whole_records(
    file: BinaryIO, seen: _Seen, piece: Piece, enter: Enter
) -> Generator[Record, None, int | None]:
    """The pages of *piece* from the record on that was *seen* last, until there is damage.

    Returns where the first record after the piece begins, None if there is none.
    """
    from fastwarc.warc import ArchiveIterator

    file.seek(seen.last)
    for raw in ArchiveIterator(
        file, parse_http=False, max_header_len=LONGEST_HEADER, fsspec_args=False
    ):
        at = int(raw.stream_pos)
        if at >= piece.end and begins_record(file, at):
            return at
        done = at - piece.begin
        record = _record_of(raw, done) if enter() else Record.left_out(at, done, _url(raw))
        seen.add(at, record)
        if record is not None:
            yield record
    end = seen.end(file)
    if end is not None and end < os.fstat(file.fileno()).st_size:
        yield Record.damaged(end, end - piece.begin, EOFError("the file breaks off"))
    return None


@dataclass(slots=True)
class _Seen:
    """The *last* record that was seen before damage; *is_emitted* if it was the damaged one."""

    last: int
    count: int = 0
    is_emitted: bool = False

    def add(self, at: int, record: Record | None) -> None:
        """A record was seen, and what was made of it."""
        self.last = at
        self.count += 1
        self.is_emitted = record is not None and record.problem == DAMAGED

    def damage(self, file: BinaryIO, following: int | None) -> int | None:
        """Where the damage is; None if it was or, with the *following* record, will be reported."""
        if self.is_emitted:
            return None
        end = self.end(file)
        if end is None:
            return self.last
        return None if end == following else end

    def end(self, file: BinaryIO) -> int | None:
        """Where the last record ends, if it was seen and its end is known."""
        return end_of_member(file, self.last) if self.count else None


def end_of_member(file: BinaryIO, at: int) -> int | None:
    """Where the gzip member at the byte *at* ends; None if it is damaged, or there is none."""
    packer = zlib.decompressobj(zlib.MAX_WBITS | 16)
    rest = b""
    try:
        while not packer.eof:
            if not rest:
                rest = _read_at(file, at, BLOCK)
                at += len(rest)
                if not rest:
                    return None
            packer.decompress(rest, BLOCK)
            rest = packer.unconsumed_tail
    except zlib.error:
        return None
    return at - len(packer.unused_data)


def record_from(file: BinaryIO, begin: int, end: int, pattern: bytes) -> int | None:
    """Where the first record of *file* begins that begins from *begin* to before *end*.

    Before each is the *pattern*, which is `GZIP`, its own beginning, or `BETWEEN`.
    """
    skipped = 0 if pattern == GZIP else len(BETWEEN)
    if not begin and begins_record(file, 0):
        return 0
    at = max(0, begin - skipped)
    while at + skipped < end:
        block = _read_at(file, at, BLOCK + len(pattern) - 1)
        found = block.find(pattern)
        while found >= 0 and at + found + skipped < end:
            if begins_record(file, at + found + skipped):
                return at + found + skipped
            found = block.find(pattern, found + 1)
        if len(block) < BLOCK:
            break
        at += BLOCK
    return None


def _read_at(file: BinaryIO, at: int, size: int) -> bytes:
    """The *size* bytes of *file* from the byte *at* on; who else reads it goes on where it was."""
    before = file.tell()
    try:
        file.seek(at)
        return file.read(size)
    finally:
        file.seek(before)


def begins_record(file: BinaryIO, at: int) -> bool:
    """Whether a record, or the member of one, seems to begin at the byte *at*."""
    head = _read_at(file, at, HEAD)
    if head.startswith(GZIP):
        try:
            head = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(head, len(PLAIN))
        except zlib.error:
            return False
    return head.startswith(PLAIN)


def _record_of(raw: Any, done: int) -> Record | None:  # noqa: ANN401 - not annotated
    """The page in the record *raw*; None if it is of something else."""
    at, url = raw.stream_pos, _url(raw)
    try:
        if not _is_page(raw):
            return None
        page = _page_of(raw)
    except (OSError, EOFError, EncodingError) as error:
        return Record.damaged(at, done, error, url)
    if page is None:
        return Record(at, done, problem=TOO_LARGE, url=url)
    return Record(at, done, page, raw.headers.get("WARC-Date"))


def _is_page(raw: Any) -> bool:  # noqa: ANN401 - not annotated
    """Whether HTML was the response, by its headers."""
    from fastwarc.warc import WarcRecordType

    if raw.record_type != WarcRecordType.response or not raw.is_http:
        return False
    raw.parse_http()
    head = raw.http_headers
    if head is None or head.status_code != HTTPStatus.OK:
        return False
    return "html" in (head.get("Content-Type") or "") and _url(raw).startswith(("http:", "https:"))


def _page_of(raw: Any) -> StoredPage | None:  # noqa: ANN401 - not annotated
    """The page in a record; None if it is larger than any."""
    head = raw.http_headers
    if raw.content_length > LARGEST_PAGE:
        return None
    body = raw.reader.read()
    if len(body) < raw.content_length:
        raise EOFError("the file ends within the record")
    if "chunked" in (head.get("Transfer-Encoding") or "").lower():
        body = _whole(body)
    body = decode(body, head.get("Content-Encoding") or "", LARGEST_PAGE + 1)
    if len(body) > LARGEST_PAGE:
        return None
    return StoredPage(_url(raw), decoded(body, head.get("Content-Type")))


def _url(raw: Any) -> str:  # noqa: ANN401 - not annotated
    return (raw.headers.get("WARC-Target-URI") or "").strip("<>")


def _whole(body: bytes) -> bytes:
    """*body* without the marks of its chunks; as it is where it has none, whatever is said."""
    from fastwarc.stream_io import ChunkedReader

    try:
        return bytes(ChunkedReader(io.BytesIO(body)).read())
    except OSError:
        return body


# --- content encodings ----------------------------------------------------------------------------

# Brotli and Zstandard need the same libraries as in Scrapy. Headers may be wrong: some programs
# store decoded bodies with the original header, and some servers name an encoding that does not
# exist. Such bodies are used as they are.
ZLIB_OR_GZIP, RAW = 47, -15  # what zlib calls window bits
# How a body begins that is encoded as its header says, where this can be recognized.
BEGINNINGS: Final[Mapping[str, bytes]] = {
    "gzip": b"\x1f\x8b",
    "x-gzip": b"\x1f\x8b",
    "zstd": b"\x28\xb5\x2f\xfd",
}


class EncodingError(ValueError):
    """The body cannot be decoded; the message says why."""


def decode(body: bytes, encodings: str, most: int) -> bytes:
    """*body* without its content *encodings*, of which the last one was applied last.

    What is longer than *most* bytes may be cut there; a body that breaks off is decoded so far.
    """
    for name in reversed([part.strip().lower() for part in encodings.split(",")]):
        if name not in DECODERS or not body.startswith(BEGINNINGS.get(name, b"")):
            continue
        try:
            body = DECODERS[name](body, most)
        except Exception as error:  # each library has its own, and others do without
            if name not in BEGINNINGS and _is_markup(body):
                continue
            raise EncodingError(f"cannot be decoded as {name}: {error}") from error
    return body


def _is_markup(body: bytes) -> bool:
    return body[:1000].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"<")


def _gunzip(body: bytes, most: int) -> bytes:
    """All members, of which a server may send several; those before one that is damaged."""
    found = bytearray()
    with gzip.GzipFile(fileobj=io.BytesIO(body)) as file:
        try:
            while len(found) < most and (part := file.read1(most - len(found))):
                found += part
        except (EOFError, OSError, zlib.error):
            if not found:
                raise
    return bytes(found)


def _inflate(body: bytes, most: int) -> bytes:
    try:
        return zlib.decompressobj(ZLIB_OR_GZIP).decompress(body, most)
    except zlib.error:  # some servers send deflate without the head that it should have
        return zlib.decompressobj(RAW).decompress(body, most)


def _brotli(body: bytes, most: int) -> bytes:
    import brotli

    decompressor: Any = brotli.Decompressor()
    return bytes(decompressor.process(body, output_buffer_limit=most))  # from 1.2 on


def _zstd(body: bytes, most: int) -> bytes:
    import zstandard

    reader: Any = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(body))
    return bytes(reader.read(most))


DECODERS: Final[Mapping[str, Callable[[bytes, int], bytes]]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _inflate,
    "br": _brotli,
    "zstd": _zstd,
}
