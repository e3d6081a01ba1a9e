"""Articles as rows of Parquet files, which a killed crawl does not lose.

**Columns** are the fields of `Article`, under their names in the project's items, and ``other``, a
JSON object with everything else in an item, so all files have the same columns and no value is
lost. If a feed names its fields, these are the columns. Columns that are not fields of `Article`,
or have no simple type in Parquet, are text: strings as they are, anything else as JSON.

**Files** can be read only after their footer is written. The rows of a crawl therefore first go
to a stream of Arrow batches next to the file, ``<file>.mss-<key>.arrows``, which can be read up to
its last complete batch if the crawl is killed. When it is complete, it is converted to the row
groups of a file that is renamed last. Any file that ends in ``.parquet`` is thus complete, and a
stream left by a killed crawl is converted to its own file before the next crawl writes to the
folder. A lock on the stream shows whether its crawl is still running.

Memory is bounded: batches and row groups are written as soon as they are full.
"""

from __future__ import annotations

import io
import json
import logging
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import IO, TYPE_CHECKING, Any, Final, get_args, get_type_hints
from uuid import uuid4

from scrapy.utils.serialize import ScrapyJSONEncoder

from scrapy_mss.items import Article

if TYPE_CHECKING:
    import pyarrow as pa

logger = logging.getLogger(__name__)

OTHER: Final = "other"
GREATEST: Final = 2**63 - 1  # of int64


# What values raise that a column, or JSON, has no place for.
UNFIT: Final = (KeyError, TypeError, ValueError, OverflowError, RecursionError)


def _text(value: object) -> str:
    text = value if isinstance(value, str) else _json(value)
    if text is not value and text.startswith('"'):  # of what JSON has strings for, such as dates
        text = json.loads(text)
    return text.encode("utf-8", "replace").decode()  # half a surrogate pair is no character


def _json(value: object) -> str:
    return json.dumps(value, cls=ScrapyJSONEncoder, ensure_ascii=False)


def _texts(value: object) -> list[str]:
    many = value if isinstance(value, list | tuple | set | frozenset) else [value]
    return [_text(each) for each in many]


def _integer(value: Any) -> int:
    number = int(value)
    if abs(number) > GREATEST or (isinstance(value, float) and number != value):
        raise ValueError(value)
    return number


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(value)
    return value


# The type of a field, the name of Parquet's, and what makes a value one of these, or raises.
TYPES: Final[Mapping[object, tuple[str, Callable[[Any], object]]]] = {
    str: ("string", _text),
    bool: ("bool", _truth),
    int: ("int64", _integer),
    float: ("float64", float),
    list[str]: ("list", _texts),
}


def field_types() -> dict[str, object]:
    """The type of each field of `Article`, without the None that most may be."""
    types = {}
    for name, hint in get_type_hints(Article).items():
        parts = [part for part in get_args(hint) if part is not NoneType]
        types[name] = parts[0] if NoneType in get_args(hint) and len(parts) == 1 else hint
    return types


@dataclass(frozen=True, slots=True)
class ArticleColumns:
    """The columns of a feed: the type of each, and whether ``other`` follows them."""

    types: Mapping[str, object]
    has_other: bool

    @classmethod
    def of(cls, names: Mapping[str, str], chosen: Iterable[str] | None) -> ArticleColumns:
        """Those for items with the *names* for our fields; *chosen* are those that a feed names.

        A mapping of *chosen* fields has the names that they get.
        """
        types = {names[ours]: kind for ours, kind in field_types().items() if names[ours]}
        if chosen is None:
            return cls(types, has_other=OTHER not in types)
        pairs = chosen if isinstance(chosen, Mapping) else {name: name for name in chosen}
        return cls({pairs[name]: types.get(name, str) for name in pairs}, has_other=False)

    def schema(self) -> pa.Schema:
        import pyarrow as pa

        kinds = {"list": pa.list_(pa.string())}
        types = {name: _type(kind)[0] for name, kind in self.types.items()}
        if self.has_other:
            types[OTHER] = "string"
        return pa.schema([(n, kinds.get(t) or pa.type_for_alias(t)) for n, t in types.items()])

    def row(self, values: Iterable[tuple[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The *values* of an item as a row, and those that the row has no place for."""
        row: dict[str, Any] = {}
        left: dict[str, Any] = {}
        other: list[str] = []
        for name, value in values:
            try:
                row[name] = None if value is None else _type(self.types[name])[1](value)
            except UNFIT:
                left[name] = value
        for name in [*left] if self.has_other else ():
            with suppress(*UNFIT):
                other.append(_text(_json({name: left[name]})[1:-1]))
                del left[name]
        if other:
            row[OTHER] = f"{{{', '.join(other)}}}"
        return row, left


def _type(kind: object) -> tuple[str, Callable[[Any], object]]:
    return TYPES.get(kind, TYPES[str])


# --- files ----------------------------------------------------------------------------------------

STREAM, NEW = ".arrows", ".new"
KEY: Final = "mss-"
BATCH_ROWS: Final = 100  # at most so many articles are lost with a crawl that is killed
BATCH_SIZE: Final = 2**20  # characters of text
GROUP_ROWS: Final = 10_000
GROUP_BYTES: Final = 2**24  # 16 MB in memory; a reader that needs few columns reads few of them
COMPRESSION: Final = "zstd"

Row = Mapping[str, Any]


class Appended:
    """Appends to the end of *file*, which is open for writing and has no buffer of its own.

    What was appended is with the system: a process that is killed does not take it along.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.size = file.seek(0, os.SEEK_END)

    def append(self, record: bytes) -> None:
        """Append all of *record*; if that fails, the file is as long as it was."""
        rest = memoryview(record)
        try:
            while rest:
                rest = rest[self.file.write(rest) :]
        except OSError:
            with suppress(OSError):
                self.file.truncate(self.size)
                self.file.seek(self.size)
            raise
        self.size += len(record)


class _Batch:
    """Rows until they are as many, or have as much text, as a batch may have."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._rows: list[Row] = []
        self._size = 0

    def add(self, row: Row) -> bool:
        """Add a *row* whose values have the types of the columns; whether the batch is full."""
        self._rows.append(row)
        self._size += sum(len(value) for value in row.values() if isinstance(value, str))
        return len(self._rows) >= BATCH_ROWS or self._size >= BATCH_SIZE

    def take(self) -> pa.RecordBatch | None:
        """The batch, after which the next one begins; None if there are no rows."""
        import pyarrow as pa

        rows, self._rows, self._size = self._rows, [], 0
        return pa.RecordBatch.from_pylist(rows, schema=self._schema) if rows else None


class Stream:
    """Rows in a stream of Arrow batches, in the open *file*, which has no buffer of its own."""

    def __init__(self, file: IO[bytes], schema: pa.Schema) -> None:
        import pyarrow as pa

        self._file = Appended(file)
        self._written = io.BytesIO()  # what pyarrow writes of one batch, in many pieces
        options = pa.ipc.IpcWriteOptions(compression=COMPRESSION)
        self._writer = pa.ipc.new_stream(self._written, schema, options=options)
        self._batch = _Batch(schema)
        self._append()

    def add(self, row: Row) -> None:
        """Add a *row* whose values have the types of the columns."""
        if self._batch.add(row):
            self.flush()

    def flush(self) -> None:
        """Have all rows in the file; those that the disk has no room for are lost."""
        batch = self._batch.take()
        if batch is not None:
            self._writer.write_batch(batch)
            self._append()

    def close(self) -> None:
        """Write what is left, and the end of the stream; the file stays open."""
        self.flush()
        self._writer.close()
        self._append()

    def _append(self) -> None:
        written = self._written.getvalue()
        self._written.seek(0)
        self._written.truncate()
        self._file.append(written)


def convert(stream: IO[bytes], parquet: IO[bytes]) -> int:
    """Write the rows of a *stream* to the file *parquet*; how many there are.

    Of a stream that breaks off, all whole batches are taken.
    """
    import pyarrow as pa

    reader = pa.ipc.open_stream(stream)
    return write_groups(parquet, reader.schema, _whole_batches(reader))


def write_groups(parquet: IO[bytes], schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> int:
    """Write *batches* as row groups of a bounded size to the file *parquet*; how many rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = 0
    with pq.ParquetWriter(parquet, schema, compression=COMPRESSION) as writer:
        for group in _groups(batches):
            table = pa.Table.from_batches(group, schema=schema)
            writer.write_table(table, row_group_size=max(1, table.num_rows))
            rows += table.num_rows
    return rows


def _groups(batches: Iterable[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    group: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        group.append(batch)
        rows += batch.num_rows
        size += batch.nbytes
        if rows >= GROUP_ROWS or size >= GROUP_BYTES:
            yield group
            group, rows, size = [], 0, 0
    if group:
        yield group


def batches_of(rows: Iterable[Row], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """*rows* in batches of a bounded size."""
    batch = _Batch(schema)
    for row in rows:
        if batch.add(row):
            yield batch.take()
    last = batch.take()
    if last is not None:
        yield last


def _whole_batches(reader: pa.RecordBatchStreamReader) -> Iterator[pa.RecordBatch]:
    """The batches of a stream, as far as they are whole."""
    import pyarrow as pa

    while True:
        try:
            yield reader.read_next_batch()
        except (StopIteration, pa.ArrowInvalid, OSError):  # OSError: the last batch breaks off
            return


class StreamBeside:
    """The stream next to the Parquet file *target*, which it becomes in the end."""

    def __init__(self, target: Path, schema: pa.Schema) -> None:
        finish_left(target.parent)
        self._target = target
        self._path = target.with_name(f"{target.name}.{KEY}{uuid4().hex[:8]}{STREAM}")
        new = self._path.with_suffix(NEW)
        self._file = new.open("x+b", buffering=0)
        locked(self._file)
        new.rename(self._path)  # from now on others look at its lock
        self.rows = Stream(self._file, schema)

    def finish(self) -> Path:
        """Make the Parquet file; where it is, as another may have taken the name."""
        with self._file:
            self.rows.close()
            return _finished(self._path, self._file, self._target)


class StreamAside:
    """The stream, in a temporary file, of what is written to *sink* in the end."""

    def __init__(self, sink: IO[bytes], schema: pa.Schema) -> None:
        self._sink = sink
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - open until `finish`
        self.rows = Stream(self._file, schema)

    def finish(self) -> None:
        with self._file:
            self.rows.close()
            self._file.seek(0)
            convert(self._file, self._sink)


def finish_left(folder: Path) -> None:
    """Make Parquet files of the streams that killed crawls have left in *folder*."""
    for path in sorted(folder.glob(f"*.{KEY}*{STREAM}")):
        try:
            with path.open("r+b") as file:
                if not (locked(file) and path.exists()):  # it is at work, or was until now
                    continue
                new = path.with_suffix(NEW)
                if new.exists() and new.stat().st_nlink > 1:  # it has its final name, too
                    path.unlink()
                    new.unlink()
                    continue
                if not file.seek(0, os.SEEK_END):  # killed, or out of space, before its first batch
                    path.unlink()
                    continue
                at = _finished(path, file, path.with_name(path.name.rpartition(f".{KEY}")[0]))
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:  # pyarrow's are ValueErrors
            logger.warning(
                "scrapy-mss: %s, left by a killed crawl, cannot be converted to a Parquet file: "
                "%s. Remove it if nothing in it is needed",
                path,
                error,
            )
        else:
            logger.warning("scrapy-mss: the articles of a crawl that was killed are in %s", at)


def _finished(path: Path, stream: IO[bytes], target: Path) -> Path:
    """Where the rows of the *stream* at *path* are, once they are in a Parquet file."""
    stream.seek(0)
    new = path.with_suffix(NEW)
    new.unlink(missing_ok=True)  # half of one, by a crawl that was killed
    try:
        with new.open("xb") as parquet:
            convert(stream, parquet)
            parquet.flush()
            os.fsync(parquet.fileno())
    except BaseException:
        new.unlink(missing_ok=True)  # the disk may be full; the stream has all of it
        raise
    free = _named(new, target)
    path.unlink()
    return free


def _named(new: Path, target: Path) -> Path:
    """Move *new* to *target*, or to the first free name with a number, and return where it is."""
    number, free = 1, target
    while not _moved(new, free):
        number += 1
        free = target.with_stem(f"{target.stem}-{number}")
    return free


def _moved(new: Path, free: Path) -> bool:
    """Whether *new* is at *free* now, or else something is there, which a link never replaces."""
    try:
        os.link(new, free)
    except FileExistsError:
        return False
    except OSError:  # a file system without links
        if free.exists():
            return False
        new.rename(free)
    else:
        new.unlink()
    return True


def locked(file: IO[bytes]) -> bool:
    """Whether *file* is ours now, until it is closed or our process ends."""
    try:
        import fcntl
    except ImportError:  # Windows, where no file that is open can be given a name
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
