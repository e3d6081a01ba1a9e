"""The memories of sites as bytes, and as rows of a store: a header, tables, a checksum. No pickle.

    header | keys | rows | minutes | shapes of addresses | CRC-32

Keys, rows and minutes are those of texts, then those of containers: arrays that are used in place,
without a copy. Shapes are their counts as doubles, then their texts in UTF-8, one per line. All
numbers are little-endian. Data that is truncated, changed, or not of the size in its header is
rejected: `DamagedMemoryError`.

Memories are stored under a name that has the version of the keys of blocks, so that two versions of
this library can share a file or a server.
"""

from __future__ import annotations

import logging
import struct
import zlib
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import Final, NamedTuple

import numpy as np

from scrapy_mss.sites.address_counts import MAX_SHAPES, AddressCounts, Seen
from scrapy_mss.sites.memory import (
    KEYS_VERSION,
    MAX_CONTAINERS,
    MAX_TEXTS,
    WIDTH,
    KeyedCounts,
    SiteMemory,
    period_of,
)
from scrapy_mss.storage.tables import SITES, Change, Key, Row, Rows, Store

logger = logging.getLogger(__name__)

# Pages, labelled pages, period, texts, containers, shapes; the keys that follow are aligned.
_HEADER = struct.Struct("<ddqIII4x")
_CHECKSUM = struct.Struct("<I")
_KEYS, _ROWS, _MINUTES = (np.dtype(kind) for kind in ("<u8", "<f4", "<u4"))
_KEY, _ROW, _MINUTE = _KEYS.itemsize, _ROWS.itemsize * WIDTH, _MINUTES.itemsize  # bytes
SHAPE_COUNTS = len(Seen._fields)
LARGEST_COUNT: Final = 2.0**53  # beyond it, one more is none; sums of such counts stay finite
LAST_PERIOD: Final = period_of(2**32)  # minutes are 32 bits wide


class DamagedMemoryError(ValueError):
    """Bytes that are no memory of a site."""


def to_bytes(memory: SiteMemory) -> bytes:
    """*memory* in the form that `from_bytes` reads; equal memories give equal bytes."""
    data = packed(memory)
    return data + _CHECKSUM.pack(zlib.crc32(data))


def packed(memory: SiteMemory) -> bytes:
    """The same without a checksum, which between processes takes as long as all else."""
    tables = (memory.texts, memory.containers)
    sizes = (*map(len, tables), len(memory.addresses))
    return b"".join(
        (
            _HEADER.pack(memory.pages, memory.labelled_pages, memory.period, *sizes),
            *[np.ascontiguousarray(table.keys, _KEYS).data for table in tables],
            *[np.ascontiguousarray(table.rows, _ROWS).data for table in tables],
            *[np.ascontiguousarray(table.seen, _MINUTES).data for table in tables],
            _address_bytes(memory.addresses),
        )
    )


def from_bytes(data: bytes) -> SiteMemory:
    """The memory in *data*."""
    end = max(len(data) - _CHECKSUM.size, 0)
    if data[end:] != _CHECKSUM.pack(zlib.crc32(memoryview(data)[:end])):
        raise DamagedMemoryError("the checksum is wrong: the bytes were cut off or changed")
    return unpacked(data[:end])


def unpacked(data: bytes) -> SiteMemory:
    """The memory that was `packed`."""
    if len(data) < _HEADER.size:
        raise DamagedMemoryError("there is no header: the bytes were cut off")
    pages, labelled, period, n_texts, n_containers, n_shapes = _HEADER.unpack_from(data)
    n = n_texts + n_containers
    if n_texts > MAX_TEXTS or n_containers > MAX_CONTAINERS or len(data) < _end(n):
        found = f"{n_texts} texts and {n_containers} containers in {len(data)} bytes"
        raise DamagedMemoryError(f"the header does not fit what follows: {found}")
    if not all(0 <= count <= LARGEST_COUNT for count in (pages, labelled)):
        raise DamagedMemoryError("the number of pages is not a count")
    if not 0 <= period <= LAST_PERIOD:
        raise DamagedMemoryError(f"expected a period up to {LAST_PERIOD}, got {period}")
    rows_at = _HEADER.size + _KEY * n
    keys = np.frombuffer(data, _KEYS, n, _HEADER.size)
    counts = np.frombuffer(data, _ROWS, n * WIDTH, rows_at)
    seen = np.frombuffer(data, _MINUTES, n, rows_at + _ROW * n)
    are_counts = not n or (
        float(np.minimum.reduce(counts)) >= 0 and float(np.maximum.reduce(counts)) <= LARGEST_COUNT
    )
    descents = (keys[1:] <= keys[:-1]).nonzero()[0].tolist()
    if not are_counts or descents not in ([], [n_texts - 1]):  # there the containers begin
        raise DamagedMemoryError("the rows are not in the order of their keys, or not counts")
    rows = counts.reshape(n, WIDTH)
    texts = KeyedCounts(keys[:n_texts], rows[:n_texts], seen[:n_texts])
    containers = KeyedCounts(keys[n_texts:], rows[n_texts:], seen[n_texts:])
    addresses = _addresses(data[_end(n) :], n_shapes) if n_shapes else AddressCounts()
    return SiteMemory(pages, labelled, period, texts, containers, addresses)


def _end(n: int) -> int:
    return _HEADER.size + n * (_KEY + _ROW + _MINUTE)


def _address_bytes(addresses: AddressCounts) -> bytes:
    shapes = sorted(addresses.of_shape)
    counts = chain.from_iterable(addresses.of_shape[shape] for shape in shapes)
    return struct.pack(f"<{len(shapes) * SHAPE_COUNTS}d", *counts) + "\n".join(shapes).encode()


def _addresses(data: bytes, n_shapes: int) -> AddressCounts:
    columns = struct.Struct(f"<{min(n_shapes, MAX_SHAPES + 1) * SHAPE_COUNTS}d")
    if n_shapes > MAX_SHAPES or len(data) < columns.size:
        raise DamagedMemoryError(f"{n_shapes} shapes of addresses do not fit in {len(data)} bytes")
    counts = columns.unpack_from(data)
    if not all(0 <= count <= LARGEST_COUNT for count in counts):
        raise DamagedMemoryError("the counts of the shapes of addresses are not counts")
    of_shapes = zip(counts[::3], counts[1::3], counts[2::3], strict=True)
    seen = [Seen(pages, articles, int(minute)) for pages, articles, minute in of_shapes]
    shapes = str(data[columns.size :], "utf-8", "replace").split("\n")
    if len(set(shapes)) != n_shapes:
        raise DamagedMemoryError(f"expected {n_shapes} shapes of addresses, got {len(set(shapes))}")
    return AddressCounts(dict(zip(shapes, seen, strict=True)))


class StoredSite(NamedTuple):
    """A site in the store."""

    name: str
    used: int  # minutes since 1970
    size: int  # bytes


class SiteStore:
    """The memories of sites in a store.

    A crawl reads a site when it first meets it, and its checkpoints add what was learned since.
    Memories are additive, so crawls that share a store do not overwrite one another.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._damaged: set[str] = set()  # sites of which that was logged

    def load(self, site: str) -> SiteMemory:
        return self._memory(site, self._store.get([_row(site)], patient=False))

    def adding(
        self, learned: Mapping[str, SiteMemory], minute: int, forgotten: Collection[str] = ()
    ) -> Change:
        """What adds what was *learned* of each site; what was stored of those *forgotten* goes."""
        reads = [_row(site) for site in learned if site not in forgotten]
        return Change(reads, partial(self._with, learned, minute))

    def sites(self) -> Iterator[StoredSite]:
        """All sites, those that were used last first."""
        prefix = f"{KEYS_VERSION}:".encode()
        for key, used in self._store.used_since(SITES, 0).items():
            if key.startswith(prefix):
                size = len(self._store.get([(SITES, key)]).get((SITES, key), b""))
                name = key.removeprefix(prefix).decode("utf-8", "surrogatepass")
                yield StoredSite(name, used, size)

    def _with(
        self, learned: Mapping[str, SiteMemory], minute: int, found: Rows
    ) -> dict[Key, Row | None]:
        return {
            _row(site): Row(to_bytes(self._memory(site, found).plus(memory)), minute)
            for site, memory in learned.items()
        }

    def _memory(self, site: str, found: Rows) -> SiteMemory:
        """What is known of *site*, by what was *found*.

        Nothing if that is damaged, so that the next checkpoint replaces it: an exception would
        reject all sites of each checkpoint that includes this one.
        """
        try:
            return from_bytes(found[_row(site)]) if _row(site) in found else SiteMemory()
        except DamagedMemoryError as error:
            if site not in self._damaged:
                self._damaged.add(site)
                logger.warning(
                    "scrapy-mss: %s: the memory of %r is damaged: %s. The site starts from zero, "
                    "and the next checkpoint that includes it replaces its memory",
                    self._store.name,
                    site,
                    error,
                )
            return SiteMemory()


def _row(site: str) -> Key:
    return SITES.key(f"{KEYS_VERSION}:{site}")
