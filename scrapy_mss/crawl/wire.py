"""What goes through the pipes between the crawl and a worker.

A message is its length in four bytes and so many bytes: first a model without its counts, then
pages; for each page its result comes back, as JSON. Lone surrogates, which pages can hold, survive.
"""

from __future__ import annotations

import json
import struct
from dataclasses import asdict, dataclass
from typing import IO

from scrapy_mss.article import ArticleResult
from scrapy_mss.items import Article

_LENGTH = struct.Struct("<I")
READY = b""  # the first message of a worker: pages are answered from now on


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A page to read."""

    html: str
    url: str

    def to_bytes(self) -> bytes:
        """The page as `from_bytes` reads it."""
        url = self.url.encode("utf-8", "surrogatepass")
        return _LENGTH.pack(len(url)) + url + self.html.encode("utf-8", "surrogatepass")

    @classmethod
    def from_bytes(cls, data: bytes) -> PageRequest:
        """The page in *data*."""
        (length,) = _LENGTH.unpack_from(data)
        end = _LENGTH.size + length
        texts = (data[_LENGTH.size : end], data[end:])
        url, html = (text.decode("utf-8", "surrogatepass") for text in texts)
        return cls(html, url)


def result_to_bytes(result: ArticleResult) -> bytes:
    """*result* as `result_from_bytes` reads it."""
    return json.dumps(asdict(result)).encode()


def result_from_bytes(data: bytes) -> ArticleResult:
    """The result in *data*."""
    fields = json.loads(data)
    article = fields.pop("article")
    return ArticleResult(Article(**article) if article else None, **fields)


def send(stream: IO[bytes], data: bytes) -> None:
    """Write *data* as a message."""
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes:
    """The next message of *stream*; EOFError where there is none."""
    (length,) = _LENGTH.unpack(_exactly(stream, _LENGTH.size))
    return _exactly(stream, length)


def _exactly(stream: IO[bytes], length: int) -> bytes:
    data = stream.read(length)
    if len(data) != length:
        raise EOFError(f"{len(data)} of {length} bytes")
    return data
