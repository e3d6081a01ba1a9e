"""Items as rows, streams of rows, and the Parquet files that they become, whole or not."""

from __future__ import annotations

import io
import json
import os
from contextlib import suppress
from dataclasses import fields
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.files import parquet as parquet_files
from scrapy_mss.files.parquet import (
    OTHER,
    ArticleColumns,
    Stream,
    StreamAside,
    StreamBeside,
    convert,
    field_types,
    finish_left,
)
from scrapy_mss.items import ARTICLE_FIELDS, Article

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

NAMES = {name: name for name in ARTICLE_FIELDS}
OURS = ArticleColumns.of(NAMES, None)


def test_each_field_of_an_article_is_a_column_of_its_type() -> None:
    schema = OURS.schema()

    assert schema.names == [*(each.name for each in fields(Article)), OTHER]
    expected = {"url": "string", "authors": "list<item: string>", "revision": "int64"}
    assert {name: str(schema.field(name).type) for name in expected} == expected
    assert str(schema.field("probability").type) == "double"
    assert field_types()["published"] is str


def test_fields_that_a_feed_names_are_the_columns() -> None:
    columns = ArticleColumns.of(NAMES, {"probability": "p", "page": "page"})

    assert str(columns.schema()) == "p: double\npage: string"
    assert columns.row([("p", 1), ("page", [2])]) == ({"p": 1.0, "page": "[2]"}, {})


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("title", "A title", "A title"),
        ("title", "", ""),
        ("title", "half \ud800", "half ?"),
        ("title", {"a": [1]}, '{"a": [1]}'),
        ("title", Decimal("1.50"), "1.50"),
        ("authors", ["A", 2], ["A", "2"]),
        ("authors", "A", ["A"]),
        ("revision", "3", 3),
        ("revision", 3.0, 3),
        ("probability", "0.5", 0.5),
        ("probability", None, None),
    ],
)
def test_a_value_is_converted_to_the_type_of_its_column(
    name: str, value: object, expected: object
) -> None:
    row, left = OURS.row([(name, value)])

    assert row == {name: expected}
    assert left == {}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("league", "first"),
        ("other", {"deep": [None, 1.5, "é"]}),
        ("revision", 1.5),
        ("revision", 2**63),
        ("revision", float("inf")),
        ("probability", "high"),
        ("probability", 10**400),
        ('a "quoted" name', ""),
    ],
)
def test_values_without_a_column_are_kept_as_json(name: str, value: object) -> None:
    row, left = OURS.row([("url", "u"), (name, value), ("more", 1)])

    assert left == {}
    assert row["url"] == "u"
    assert json.loads(row[OTHER]) == {name: value, "more": 1}


def test_values_that_json_cannot_hold_are_left_out() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]

    row, left = OURS.row([("deep", deep), ("odd", object()), ("good", 1), ("url", "u")])

    assert left.keys() == {"deep", "odd"}
    assert row == {"url": "u", OTHER: '{"good": 1}'}


if TYPE_CHECKING:
    from typing_extensions import Buffer


SCHEMA = pa.schema([("n", pa.int64()), ("text", pa.string())])
COUNT = 7 * parquet_files.BATCH_ROWS // 2


def rows(count: int, length: int = 10) -> list[dict[str, Any]]:
    return [{"n": n, "text": f"{n} " * length} for n in range(count)]


def read(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return found


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write(target: Path, count: int) -> Path:
    beside = StreamBeside(target, SCHEMA)
    for row in rows(count):
        beside.rows.add(row)
    return beside.finish()


def leave(target: Path, count: int) -> None:
    """A stream as a crawl leaves it that is killed."""
    beside = StreamBeside(target, SCHEMA)
    for row in rows(count):
        beside.rows.add(row)
    beside._file.close()  # noqa: SLF001 - what the system does with files of a process that ends


@pytest.mark.parametrize("count", [0, 1, COUNT])
def test_rows_are_read_as_they_were_written(tmp_path: Path, count: int) -> None:
    target = tmp_path / "a.parquet"

    assert write(target, count) == target
    assert read(target) == rows(count)
    assert names_in(tmp_path) == ["a.parquet"]


def test_a_name_that_is_taken_stays_with_its_file(tmp_path: Path) -> None:
    target = tmp_path / "a.parquet"
    target.write_bytes(b"of somebody else")

    assert write(target, 1) == tmp_path / "a-2.parquet"
    assert write(target, 2) == tmp_path / "a-3.parquet"
    assert target.read_bytes() == b"of somebody else"
    assert read(tmp_path / "a-3.parquet") == rows(2)


def test_rows_that_a_killed_crawl_has_stored_are_in_a_file_after_the_next(tmp_path: Path) -> None:
    leave(tmp_path / "monday.parquet", COUNT)

    write(tmp_path / "tuesday.parquet", 1)

    whole_batches = COUNT // parquet_files.BATCH_ROWS * parquet_files.BATCH_ROWS
    assert read(tmp_path / "monday.parquet") == rows(whole_batches)
    assert read(tmp_path / "tuesday.parquet") == rows(1)
    assert len(names_in(tmp_path)) == 2


@pytest.mark.parametrize("at", ["link", "unlink", "replace", "rename"])
def test_a_crawl_that_is_killed_between_any_two_steps_leaves_no_empty_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """Wherever it ends, what is there can be read, and the next crawl has all rows."""
    target = tmp_path / "a.parquet"
    leave(target, 100)

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
        patch.setattr(os, at, killed)
        finish_left(tmp_path)

    assert all(read(path) == rows(100) for path in tmp_path.glob("*.parquet"))
    finish_left(tmp_path)
    assert read(target) == rows(100)
    assert names_in(tmp_path) == ["a.parquet"]


def test_the_stream_of_a_running_crawl_is_left_to_it(tmp_path: Path) -> None:
    at_work = StreamBeside(tmp_path / "a.parquet", SCHEMA)
    at_work.rows.add(rows(1)[0])

    assert write(tmp_path / "a.parquet", 2) == tmp_path / "a.parquet"
    assert at_work.finish() == tmp_path / "a-2.parquet"
    assert read(tmp_path / "a-2.parquet") == rows(1)


@pytest.mark.parametrize("content", [b"no stream", b"\xff\xff\xff\xff\xff\xff\xff\x7f"])
def test_a_stream_that_cannot_be_read_is_left_where_it_is(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "a.parquet.mss-00000000.arrows"
    path.write_bytes(content)

    finish_left(tmp_path)

    assert path.read_bytes() == content
    assert names_in(tmp_path) == [path.name]
    assert "cannot be converted to a Parquet file" in caplog.text


def _stream(count: int) -> bytes:
    file = io.BytesIO()
    stream = Stream(file, SCHEMA)
    for row in rows(count):
        stream.add(row)
    stream.close()
    return file.getvalue()


STREAM = _stream(COUNT)
HEAD = len(_stream(0)) - 8  # without the end


@given(st.integers(HEAD, len(STREAM)))
def test_a_stream_that_breaks_off_anywhere_gives_its_whole_batches(length: int) -> None:
    made = io.BytesIO()

    count = convert(io.BytesIO(STREAM[:length]), made)

    found = pq.read_table(io.BytesIO(made.getvalue())).to_pylist()
    assert found == rows(count)
    assert count % parquet_files.BATCH_ROWS == 0 or count == COUNT


def test_row_groups_and_batches_have_their_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_files, "GROUP_ROWS", 2 * parquet_files.BATCH_ROWS)

    write(tmp_path / "a.parquet", COUNT)

    metadata = pq.ParquetFile(tmp_path / "a.parquet").metadata
    assert [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)] == [200, 150]


class Full(io.BytesIO):
    """A disk that has room for so many bytes, and takes a part of what is too much."""

    room = 10**9

    def write(self, data: Buffer) -> int:
        room = self.room - self.tell()
        if room <= 0:
            raise OSError(28, "No space left on device")
        return super().write(bytes(data)[:room])


def test_a_disk_that_is_full_for_a_while_costs_only_what_came_then() -> None:
    file = Full()
    stream = Stream(file, SCHEMA)
    for row in rows(100):
        stream.add(row)
    file.room = len(file.getvalue()) + 100
    stream.add({"n": 1000, "text": os.urandom(500).hex()})

    with pytest.raises(OSError, match="No space left"):
        stream.flush()
    file.room = 10**9
    for row in rows(100):
        stream.add(row)
    stream.close()

    made = io.BytesIO()
    file.seek(0)
    convert(file, made)
    assert pq.read_table(io.BytesIO(made.getvalue())).to_pylist() == [*rows(100), *rows(100)]


def test_a_file_without_a_path_is_written_at_the_end() -> None:
    sink = io.BytesIO()
    aside = StreamAside(sink, SCHEMA)
    for row in rows(COUNT):
        aside.rows.add(row)
    assert not sink.getvalue()

    aside.finish()

    assert pq.read_table(io.BytesIO(sink.getvalue())).to_pylist() == rows(COUNT)
