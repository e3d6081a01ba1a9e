"""Decodes bodies as sent by servers, with bounded size: gzip, deflate, Brotli, Zstandard.

The last two need the same libraries as in Scrapy. Headers may be wrong: some programs store decoded
bodies with the original header, and some servers name an encoding that does not exist. Such bodies
are used as they are.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Final

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
