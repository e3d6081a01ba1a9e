"""A site's memory as bytes: a header, its tables, and a checksum. No pickle.

    header | keys, rows and minutes of texts | the same of containers | shapes of addresses | CRC-32

Shapes are their pages, articles and minutes as doubles, then their texts in UTF-8, one a line.

All numbers are little-endian. What was cut off, changed, or has not the size that its header says
is rejected: `DamagedMemoryError`.
"""

from __future__ import annotations

import struct
import zlib
from math import isfinite

import numpy as np

from scrapy_mss.sites.addresses import MAX_SHAPES, AddressCounts, Seen
from scrapy_mss.sites.counts import WIDTH, KeyedCounts
from scrapy_mss.sites.memory import MAX_CONTAINERS, MAX_TEXTS, SiteMemory

_HEADER = struct.Struct("<ddqIII")  # pages, labelled pages, period, texts, containers, shapes
_CHECKSUM = struct.Struct("<I")
_ROW_BYTES = 8 + 4 * WIDTH + 4
SHAPE_COUNTS = len(Seen._fields)


class DamagedMemoryError(ValueError):
    """Bytes that are no memory of a site."""


def to_bytes(memory: SiteMemory) -> bytes:
    """*memory* in the form that `from_bytes` reads; equal memories give equal bytes."""
    sizes = (len(memory.texts), len(memory.containers), len(memory.addresses))
    header = _HEADER.pack(memory.pages, memory.labelled_pages, memory.period, *sizes)
    tables = _table_bytes(memory.texts) + _table_bytes(memory.containers)
    body = header + tables + _address_bytes(memory.addresses)
    return body + _CHECKSUM.pack(zlib.crc32(body))


def from_bytes(data: bytes) -> SiteMemory:
    """The memory in *data*."""
    body, checksum = data[: -_CHECKSUM.size], data[-_CHECKSUM.size :]
    if len(body) < _HEADER.size or checksum != _CHECKSUM.pack(zlib.crc32(body)):
        raise DamagedMemoryError("the checksum is wrong: the bytes were cut off or changed")
    pages, labelled, period, n_texts, n_containers, n_shapes = _HEADER.unpack_from(body)
    end = _HEADER.size + (n_texts + n_containers) * _ROW_BYTES
    if n_texts > MAX_TEXTS or n_containers > MAX_CONTAINERS or len(body) < end:
        found = f"{n_texts} texts and {n_containers} containers in {len(body)} bytes"
        raise DamagedMemoryError(f"the header does not fit what follows: {found}")
    if not (isfinite(pages) and isfinite(labelled)):
        raise DamagedMemoryError("the number of pages is not finite")
    middle = _HEADER.size + n_texts * _ROW_BYTES
    texts, containers = _table(body[_HEADER.size : middle]), _table(body[middle:end])
    addresses = _addresses(body[end:], n_shapes)
    return SiteMemory(pages, labelled, period, texts, containers, addresses)


def _table_bytes(counts: KeyedCounts) -> bytes:
    return (
        counts.keys.astype("<u8").tobytes()
        + counts.rows.astype("<f4").tobytes()
        + counts.seen.astype("<u4").tobytes()
    )


def _table(data: bytes) -> KeyedCounts:
    n = len(data) // _ROW_BYTES
    rows_at, seen_at = 8 * n, (8 + 4 * WIDTH) * n
    keys = np.frombuffer(data[:rows_at], "<u8").astype(np.uint64)
    rows = np.frombuffer(data[rows_at:seen_at], "<f4").astype(np.float32).reshape(n, WIDTH)
    seen = np.frombuffer(data[seen_at:], "<u4").astype(np.uint32)
    if not (np.all(keys[1:] > keys[:-1]) and np.all(np.isfinite(rows)) and np.all(rows >= 0)):
        raise DamagedMemoryError("the rows are not in the order of their keys, or not counts")
    return KeyedCounts(keys, rows, seen)


def _address_bytes(addresses: AddressCounts) -> bytes:
    shapes = sorted(addresses.of_shape)
    seen = [addresses.of_shape[shape] for shape in shapes]
    columns = np.array(seen, "<f8").reshape(-1, SHAPE_COUNTS).T
    return columns.tobytes() + "\n".join(shapes).encode()


def _addresses(data: bytes, n_shapes: int) -> AddressCounts:
    end = n_shapes * SHAPE_COUNTS * 8
    if n_shapes > MAX_SHAPES or len(data) < end:
        raise DamagedMemoryError(f"{n_shapes} shapes of addresses do not fit in {len(data)} bytes")
    columns = np.frombuffer(data[:end], "<f8").reshape(SHAPE_COUNTS, n_shapes)
    pages, articles, minutes = columns
    shapes = str(data[end:], "utf-8", "replace").split("\n") if n_shapes else []
    if len(set(shapes)) != n_shapes:
        raise DamagedMemoryError(f"expected {n_shapes} shapes of addresses, got {len(set(shapes))}")
    if not (np.all(np.isfinite(columns)) and np.all(articles <= pages) and np.all(columns >= 0)):
        raise DamagedMemoryError("the counts of the shapes of addresses are not counts")
    seen = map(Seen, pages.tolist(), articles.tolist(), minutes.astype(int).tolist())
    return AddressCounts(dict(zip(shapes, seen, strict=True)))
