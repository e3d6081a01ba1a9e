"""One worker process: reads pages from standard input, writes what it found to standard output.

A message is its length in four bytes and so many bytes: first a model without its counts, then
pages; what was found comes back as JSON. Standard input that ends, because the crawl did or was
killed, ends the worker.
"""

from __future__ import annotations

import json
import logging
import mmap
import os
import signal
import struct
import sys
from dataclasses import asdict, dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from research.systems.base import TextExtractor
from scrapy_mss.article import Found, read_page
from scrapy_mss.models.format import Model, from_bytes
from scrapy_mss.systems import chosen

logger = logging.getLogger(__name__)

_LENGTH = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class Page:
    """A page to read."""

    source: str
    url: str

    def to_bytes(self) -> bytes:
        """The page as `from_bytes` reads it."""
        url = self.url.encode("utf-8", "surrogatepass")
        return _LENGTH.pack(len(url)) + url + self.source.encode("utf-8", "surrogatepass")

    @classmethod
    def from_bytes(cls, data: bytes) -> Page:
        """The page in *data*."""
        (length,) = _LENGTH.unpack_from(data)
        end = _LENGTH.size + length
        texts = (data[_LENGTH.size : end], data[end:])
        url, source = (text.decode("utf-8", "surrogatepass") for text in texts)
        return cls(source, url)


def framed(data: bytes) -> bytes:
    """*data* as a message."""
    return _LENGTH.pack(len(data)) + data


def frame(stream: IO[bytes]) -> bytes:
    """The next message of *stream*; EOFError where there is none."""
    (length,) = _LENGTH.unpack(_exactly(stream, _LENGTH.size))
    return _exactly(stream, length)


def _exactly(stream: IO[bytes], length: int) -> bytes:
    data = stream.read(length)
    if len(data) != length:
        raise EOFError(f"{len(data)} of {length} bytes")
    return data


ERROR = "error"  # what a page is given up for that raised; its traceback is on standard error
READY = framed(b"")  # the first message of a worker: pages are answered from now on


def found_from(data: bytes) -> Found:
    """What was found, from a message."""
    return Found(**json.loads(data))


def arrays_of(model: Model) -> list[NDArray[Any]]:
    """All that a model counts, in a fixed order."""
    return [model.bayes.tokens, *model.bayes.counts.values()]


def size_of(model: Model) -> int:
    """How many bytes the counts take."""
    return sum(array.nbytes for array in arrays_of(model))


def adopt(model: Model, buffer: memoryview) -> None:
    """Let the counts of *model* be what lies in *buffer*."""
    bayes, position = model.bayes, 0

    def view(like: NDArray[Any]) -> NDArray[Any]:
        nonlocal position
        array = np.ndarray(like.shape, like.dtype, buffer, position)
        position += like.nbytes
        return array

    bayes.tokens = view(bayes.tokens)
    for name, counts in bayes.counts.items():
        bayes.counts[name] = view(counts)


def _read(model: Model, page: Page, system: TextExtractor | None) -> Found:
    try:
        return read_page(model, page.source, page.url, system)
    except Exception:
        logger.exception("scrapy-mss: cannot extract %s; the crawl goes on", page.url)
        return Found(reason=ERROR)


def main(descriptor: str, extractor: str) -> None:
    """Take a model whose counts are elsewhere, then answer pages until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the crawl's process says when to stop
    model = from_bytes(frame(sys.stdin.buffer))
    number = int(descriptor)
    adopt(model, memoryview(mmap.mmap(number, size_of(model), access=mmap.ACCESS_READ)))
    os.close(number)
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    system = chosen(extractor)
    out.write(READY)
    out.flush()
    while True:
        try:
            page = Page.from_bytes(frame(sys.stdin.buffer))
        except EOFError:
            return
        out.write(framed(json.dumps(asdict(_read(model, page, system))).encode()))
        out.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
