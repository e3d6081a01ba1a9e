"""Bodies as servers send them, decoded within a bound: gzip, deflate, Brotli, Zstandard.

For the last two the libraries are needed with which Scrapy decodes them.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Final

ZLIB_OR_GZIP, RAW = 47, -15  # what zlib calls window bits


class EncodingError(ValueError):
    """The body cannot be decoded; the message says why."""


def decode(body: bytes, encodings: str, most: int) -> bytes:
    """*body* without its content *encodings*, of which the last one was applied last.

    What is longer than *most* bytes may be cut there; a body that breaks off is decoded so far.
    """
    for name in reversed([part.strip().lower() for part in encodings.split(",")]):
        if name in ("", "identity"):
            continue
        if name not in DECODERS:
            raise EncodingError(f"expected one of {', '.join(DECODERS)}, got {name[:20]!r}")
        try:
            body = DECODERS[name](body, most)
        except Exception as error:  # each library has its own, and others do without
            raise EncodingError(f"cannot be decoded as {name}: {error}") from error
    return body


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
    "gzip": _inflate,
    "x-gzip": _inflate,
    "deflate": _inflate,
    "br": _brotli,
    "zstd": _zstd,
}
