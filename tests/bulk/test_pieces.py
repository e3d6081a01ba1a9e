"""Files are cut anywhere, and each of their pages is read once."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("fastwarc")
pytest.importorskip("pyarrow")

from scrapy_mss.bulk.parts import grouped
from scrapy_mss.files.sources import pieces_of
from scrapy_mss.files.stored_pages import (
    DAMAGED,
    TOO_LARGE,
    UNUSABLE,
    Piece,
    Record,
    SourceError,
    StoredPage,
)
from scrapy_mss.files.untrusted import LARGEST_PAGE
from tests.helpers.archives import (
    DATE,
    json_lines,
    read,
    read_in_pieces,
    warc_members,
    warc_record,
    write_parquet,
)


def made_up(count: int, seed: int = 0) -> list[StoredPage]:
    """Pages of very different lengths that hardly compress."""
    drawn = random.Random(seed)
    return [
        StoredPage(
            f"https://news.example/{n}", f"<p>{n} {drawn.randbytes(3 ** drawn.randrange(8)).hex()}"
        )
        for n in range(count)
    ]


PAGES = [
    *made_up(40),
    StoredPage("https://news.example/last", random.Random(3).randbytes(999).hex()),
]
MEMBERS = warc_members(PAGES)
CONTENTS = {
    "a.warc.gz": b"".join(MEMBERS),
    "a.warc": b"".join(map(warc_record, PAGES)),
    "one-member.warc.gz": gzip.compress(b"".join(map(warc_record, PAGES))),
    "a.jsonl": json_lines(PAGES),
    "no-end.jsonl": json_lines(PAGES)[:-1],
    "a.jsonl.gz": gzip.compress(json_lines(PAGES)),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("archives")
    for name, content in CONTENTS.items():
        (folder / name).write_bytes(content)
    write_parquet(folder / "a.parquet", PAGES, group=7)
    return folder


def pages_of(records: list[Record]) -> list[StoredPage | None]:
    return [record.page for record in records]


@pytest.mark.parametrize("name", [*CONTENTS, "a.parquet"])
@settings(max_examples=20)
@given(size=st.integers(1, 20_000))
def test_each_page_is_read_once_wherever_a_file_is_cut(folder: Path, name: str, size: int) -> None:
    records = list(read_in_pieces(folder / name, max(size, 200)))

    assert pages_of(records) == PAGES
    assert not any(record.problem for record in records)


@pytest.mark.parametrize("name", ["a.warc.gz", "a.warc", "a.jsonl"])
def test_each_page_is_read_once_if_a_file_is_cut_at_any_byte(tmp_path: Path, name: str) -> None:
    short = made_up(3, seed=7)
    contents = {
        "a.warc.gz": b"".join(warc_members(short)),
        "a.warc": b"".join(map(warc_record, short)),
        "a.jsonl": json_lines(short),
    }
    path = tmp_path / name
    path.write_bytes(contents[name])
    size = len(contents[name])

    for at in range(1, size):
        pieces = [Piece(str(path), 0, at, at, 0), Piece(str(path), at, size, size - at, None)]
        assert pages_of([*read(pieces[0]), *read(pieces[1])]) == short


def test_records_have_their_place_and_date(folder: Path) -> None:
    path = folder / "a.warc.gz"
    records = list(read_in_pieces(path, 5000))

    assert {record.crawled for record in records} == {DATE}
    for record, member in zip(records, MEMBERS, strict=True):
        assert path.read_bytes()[record.place :].startswith(member)


# What is wrong in an archive


def damaged(number: int, at: int) -> bytes:
    """The archive with one wrong byte in the member of this *number*."""
    member = bytearray(MEMBERS[number])
    member[at] ^= 0xFF
    return b"".join([*MEMBERS[:number], bytes(member), *MEMBERS[number + 1 :]])


@pytest.mark.parametrize("at", [0, 1, 12, -9, -6])
@settings(max_examples=20)
# Of the last record, a wrong byte behind the page is found once the page was read.
@given(number=st.integers(0, len(PAGES) - 2), size=st.integers(200, 20_000))
def test_a_wrong_byte_costs_only_its_record(
    tmp_path_factory: pytest.TempPathFactory, at: int, number: int, size: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.warc.gz"
    path.write_bytes(damaged(number, at))

    records = list(read_in_pieces(path, size))

    read_pages = [record.page for record in records if record.page]
    assert read_pages == [*PAGES[:number], *PAGES[number + 1 :]]
    assert [record.problem for record in records if not record.page] == [DAMAGED]


@pytest.mark.parametrize("left", [30, 300, len(MEMBERS[-1]) - 20])
def test_a_truncated_file_is_read_up_to_its_end(tmp_path: Path, left: int) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"".join([*MEMBERS[:-1], MEMBERS[-1][:left]]))

    records = list(read_in_pieces(path, 5000))

    assert pages_of(records)[: len(PAGES) - 1] == PAGES[:-1]
    assert all(record.problem == DAMAGED for record in records[len(PAGES) - 1 :])
    assert len(records) == len(PAGES)


@pytest.mark.parametrize(
    "content", [b"garbage" * 1000, gzip.compress(b"garbage" * 999, mtime=0), b"\0"]
)
def test_a_file_in_another_format_is_one_damaged_record(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(content)

    (record,) = read_in_pieces(path, 100_000)

    assert record.problem == DAMAGED


def test_a_record_larger_than_any_page_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    large = StoredPage("https://news.example/large", "<p>" + "a" * 2 * LARGEST_PAGE)
    path.write_bytes(b"".join([MEMBERS[0], *warc_members([large]), MEMBERS[1]]))

    first, second, third = read_in_pieces(path, 2**20)

    assert [first.page, third.page] == PAGES[:2]
    assert (second.page, second.problem) == (None, TOO_LARGE)


def test_records_that_are_no_pages_are_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    others = [
        warc_record(PAGES[0], kind="request"),
        warc_record(PAGES[0]).replace(b"text/html", b"image/png"),
        warc_record(PAGES[0]).replace(b"200 OK", b"404 OK"),
        warc_record(StoredPage("dns:news.example", "<p>1")),
    ]
    path.write_bytes(b"".join([*others, warc_record(PAGES[1])]))

    assert pages_of(list(read_in_pieces(path, 2**20))) == [PAGES[1]]


@pytest.mark.parametrize("chunks", ["5\r\n<p>12\r\n1\r\n3\r\n0\r\n\r\n", "<p>123"])
def test_chunks_are_joined_if_they_are_there(tmp_path: Path, chunks: str) -> None:
    path = tmp_path / "a.warc"
    page = StoredPage("https://news.example/", chunks)
    path.write_bytes(warc_record(page, "Transfer-Encoding: chunked"))

    (record,) = read_in_pieces(path, 2**20)

    assert record.page == StoredPage(page.url, "<p>123")


@pytest.mark.parametrize(
    "line",
    [b"{}", b'{"url": 1, "html": "a"}', b"[" * 100_000],
    ids=["empty", "number", "deep"],
)
def test_an_unusable_line_costs_only_itself(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(json_lines(PAGES[:1]) + line + b"\n" + json_lines(PAGES[1:2]))

    records = list(read_in_pieces(path, 2**20))

    assert pages_of(records) == [PAGES[0], None, PAGES[1]]
    assert records[1].problem == UNUSABLE


def test_a_damaged_row_group_costs_only_itself(folder: Path, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    path = tmp_path / "a.parquet"
    content = bytearray((folder / "a.parquet").read_bytes())
    column = pq.ParquetFile(folder / "a.parquet").metadata.row_group(2).column(2)
    begin = column.dictionary_page_offset or column.data_page_offset
    content[begin : begin + 20] = b"\xff" * 20
    path.write_bytes(content)

    records = list(read_in_pieces(path, 1))

    assert pages_of(records) == [*PAGES[:14], None, *PAGES[21:]]
    assert [record.problem for record in records if record.problem] == [DAMAGED]


def test_parquet_without_pages_is_an_error(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"url": ["a"], "text": ["b"]}), path)

    with pytest.raises(SourceError, match="expected the columns url and html, got url, text"):
        pieces_of(path)


# Parts


@given(
    sizes=st.lists(st.integers(1, 50), max_size=30),
    size=st.integers(1, 30),
)
def test_parts_have_all_pieces_in_their_order(sizes: list[int], size: int) -> None:
    pieces = [
        Piece(
            str(number), begin, min(begin + size, end), min(size, end - begin), None if begin else 0
        )
        for number, end in enumerate(sizes)
        for begin in range(0, end, size)
    ]

    parts = list(grouped(pieces, 3, size))

    assert [piece for part in parts for piece in part.pieces] == pieces
    assert [part.number for part in parts] == list(range(3, 3 + len(parts)))
    for part in parts:
        assert sum(piece.weight for piece in part.pieces) <= size
        assert len(part.pieces) == 1 or all(piece.begin == 0 for piece in part.pieces)
