"""A site's memory as bytes: a header, its tables, and a checksum. No pickle.

    header | keys | rows | minutes | shapes of addresses | CRC-32

Keys, rows and minutes are those of texts, then those of containers: arrays that are used in place,
without a copy. Shapes are their counts as doubles, then their texts in UTF-8, one per line. All
numbers are little-endian. Data that is truncated, changed, or not of the size in its header is
rejected: `DamagedMemoryError`.
"""

from __future__ import annotations

import struct
import zlib
from itertools import chain
from math import inf, isfinite

import numpy as np

from scrapy_mss.sites.addresses import MAX_SHAPES, AddressCounts, Seen
from scrapy_mss.sites.counts import WIDTH, KeyedCounts
from scrapy_mss.sites.memory import MAX_CONTAINERS, MAX_TEXTS, SiteMemory

# Pages, labelled pages, period, texts, containers, shapes; the keys that follow are aligned.
_HEADER = struct.Struct("<ddqIII4x")
_CHECKSUM = struct.Struct("<I")
_KEY, _ROW, _MINUTE = 8, 4 * WIDTH, 4  # bytes
SHAPE_COUNTS = len(Seen._fields)


class DamagedMemoryError(ValueError):
    """Bytes that are no memory of a site."""


def to_bytes(memory: SiteMemory) -> bytes:
    """*memory* in the form that `from_bytes` reads; equal memories give equal bytes."""
    data = packed(memory)
    return data + _CHECKSUM.pack(zlib.crc32(data))


def packed(memory: SiteMemory) -> bytes:
    """*memory* in the form that `unpacked` reads: without a checksum, for another process."""
    tables = (memory.texts, memory.containers)
    sizes = (*map(len, tables), len(memory.addresses))
    return b"".join(
        (
            _HEADER.pack(memory.pages, memory.labelled_pages, memory.period, *sizes),
            *(np.ascontiguousarray(table.keys, "<u8").data for table in tables),
            *(np.ascontiguousarray(table.rows, "<f4").data for table in tables),
            *(np.ascontiguousarray(table.seen, "<u4").data for table in tables),
            _address_bytes(memory.addresses),
        )
    )


def from_bytes(data: bytes) -> SiteMemory:
    """The memory in *data*."""
    end = len(data) - _CHECKSUM.size
    checked = end >= _HEADER.size and zlib.crc32(memoryview(data)[:end])
    if end < _HEADER.size or data[end:] != _CHECKSUM.pack(checked):
        raise DamagedMemoryError("the checksum is wrong: the bytes were cut off or changed")
    pages, labelled, _, n_texts, n_containers, _ = _HEADER.unpack_from(data)
    if n_texts > MAX_TEXTS or n_containers > MAX_CONTAINERS or end < _end(n_texts, n_containers):
        found = f"{n_texts} texts and {n_containers} containers in {end} bytes"
        raise DamagedMemoryError(f"the header does not fit what follows: {found}")
    if not (isfinite(pages) and isfinite(labelled)):
        raise DamagedMemoryError("the number of pages is not finite")
    memory = unpacked(data[:end])
    for table in (memory.texts, memory.containers):
        are_counts = not len(table) or (table.rows.min() >= 0 and table.rows.max() < inf)
        if not are_counts or not np.all(table.keys[1:] > table.keys[:-1]):
            raise DamagedMemoryError("the rows are not in the order of their keys, or not counts")
    return memory


def unpacked(data: bytes) -> SiteMemory:
    """The memory in *data*, which `packed` has made in a process of the same program."""
    pages, labelled, period, n_texts, n_containers, n_shapes = _HEADER.unpack_from(data)
    n = n_texts + n_containers
    rows_at = _HEADER.size + _KEY * n
    keys = np.frombuffer(data, "<u8", n, _HEADER.size)
    rows = np.frombuffer(data, "<f4", n * WIDTH, rows_at).reshape(n, WIDTH)
    seen = np.frombuffer(data, "<u4", n, rows_at + _ROW * n)
    texts = KeyedCounts(keys[:n_texts], rows[:n_texts], seen[:n_texts])
    containers = KeyedCounts(keys[n_texts:], rows[n_texts:], seen[n_texts:])
    addresses = _addresses(data[_end(n_texts, n_containers) :], n_shapes)
    return SiteMemory(pages, labelled, period, texts, containers, addresses)


def _end(n_texts: int, n_containers: int) -> int:
    """Where the tables end."""
    return _HEADER.size + (n_texts + n_containers) * (_KEY + _ROW + _MINUTE)


def _address_bytes(addresses: AddressCounts) -> bytes:
    shapes = sorted(addresses.of_shape)
    counts = chain.from_iterable(addresses.of_shape[shape] for shape in shapes)
    return struct.pack(f"<{len(shapes) * SHAPE_COUNTS}d", *counts) + "\n".join(shapes).encode()


def _addresses(data: bytes, n_shapes: int) -> AddressCounts:
    columns = struct.Struct(f"<{min(n_shapes, MAX_SHAPES + 1) * SHAPE_COUNTS}d")
    if n_shapes > MAX_SHAPES or len(data) < columns.size:
        raise DamagedMemoryError(f"{n_shapes} shapes of addresses do not fit in {len(data)} bytes")
    counts = columns.unpack_from(data)
    if not all(0 <= count < inf for count in counts):
        raise DamagedMemoryError("the counts of the shapes of addresses are not counts")
    of_shapes = zip(counts[::3], counts[1::3], counts[2::3], strict=True)
    seen = [Seen(pages, articles, int(minute)) for pages, articles, minute in of_shapes]
    shapes = str(data[columns.size :], "utf-8", "replace").split("\n") if n_shapes else []
    if len(set(shapes)) != n_shapes:
        raise DamagedMemoryError(f"expected {n_shapes} shapes of addresses, got {len(set(shapes))}")
    return AddressCounts(dict(zip(shapes, seen, strict=True)))
