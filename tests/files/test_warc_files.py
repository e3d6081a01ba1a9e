"""WARC files as warcio reads them, and what of them can be read when they break off."""

from __future__ import annotations

import gzip
import io
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

if TYPE_CHECKING:
    from typing_extensions import Buffer

pytest.importorskip("warcio")

from warcio.archiveiterator import ArchiveIterator
from warcio.checker import Checker

from scrapy_mss.files.stored_pages import Source, StoredPage
from scrapy_mss.files.warc import Exchange, WarcFiles

HTML = b"<p>A page.</p>"
EXCHANGE = Exchange(
    url="https://user:secret@a.example/news/1?page=2#top",
    at=datetime(2026, 3, 1, 10, tzinfo=timezone.utc),
    method="GET",
    request_headers=[(b"Accept", b"*/*"), (b"Cookie", b"id=1"), (b"Authorization", b"Basic xyz")],
    request_body=b"",
    status=200,
    headers=[(b"Content-Type", b"text/html"), (b"X-Name", b"\xff"), (b"Set-Cookie", b"a\r\nb")],
    body=HTML,
    address="192.0.2.1",
)
PLAIN = {"Content-Type": "text/html"}


def written(folder: Path, *exchanges: Exchange, largest: int = 10**6) -> list[Path]:
    files = WarcFiles(folder, "news", largest)
    for each in exchanges:
        files.add(each)
    files.close()
    return sorted(folder.glob("news-*.warc.gz"))


def records(path: Path) -> list[Any]:
    """All records, with their content as an attribute."""
    found = []
    with path.open("rb") as file:
        for record in ArchiveIterator(file):
            record.content = record.content_stream().read()
            found.append(record)
    return found


def numbered(number: int) -> Exchange:
    body = f"<p>Page {number}, {'x' * 50 * number}.</p>".encode()
    return replace(EXCHANGE, url=f"https://a.example/{number}", body=body)


def test_an_exchange_is_a_response_and_a_request(tmp_path: Path) -> None:
    (path,) = written(tmp_path, EXCHANGE)

    info, response, request = records(path)

    assert [each.rec_type for each in (info, response, request)] == [
        "warcinfo",
        "response",
        "request",
    ]
    assert response.rec_headers.protocol == "WARC/1.1"
    headers = response.rec_headers
    assert headers["WARC-Target-URI"] == "https://a.example/news/1?page=2"
    assert headers["WARC-Date"] == "2026-03-01T10:00:00.000000Z"
    assert headers["WARC-IP-Address"] == "192.0.2.1"
    assert request.rec_headers["WARC-Concurrent-To"] == headers["WARC-Record-ID"]
    assert response.http_headers.statusline == "200 OK"
    assert response.http_headers.headers == [
        ("Content-Type", "text/html"),
        ("X-Name", "ÿ"),
        ("Set-Cookie", "a b"),
    ]
    assert response.content == HTML
    assert request.http_headers.protocol == "GET"
    assert request.http_headers.statusline == "/news/1?page=2 HTTP/1.1"
    assert request.http_headers.headers == [("Host", "a.example"), ("Accept", "*/*")]


def test_the_files_of_others_can_be_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By warcio's own check, of all digests."""
    exchanges = [numbered(0), replace(EXCHANGE, body=b"", status=304), numbered(5)]
    (path,) = written(tmp_path, *exchanges)

    checker = Checker(type("Options", (), {"inputs": [str(path)], "verbose": True})())
    checker.process_all()

    assert checker.exit_value == 0, capsys.readouterr().out


def test_no_secret_is_in_the_file(tmp_path: Path) -> None:
    (path,) = written(tmp_path, EXCHANGE)

    content = gzip.decompress(path.read_bytes())

    for secret in (b"secret", b"id=1", b"xyz"):
        assert secret not in content


@pytest.mark.parametrize(
    ("header", "body", "name"),
    [
        ((b"Content-Encoding", b"gzip"), gzip.compress(HTML), "Content-Encoding"),
        ((b"Content-Encoding", b"gzip"), HTML, "X-Crawler-Content-Encoding"),
        ((b"Content-Encoding", b"zstd"), HTML, "X-Crawler-Content-Encoding"),
        ((b"Content-Length", b"14"), HTML, "Content-Length"),
        ((b"Content-Length", b"15"), HTML, "X-Crawler-Content-Length"),
        ((b"Content-Length", b"15"), b"", "Content-Length"),
        ((b"Transfer-Encoding", b"chunked"), HTML, "X-Crawler-Transfer-Encoding"),
    ],
)
def test_headers_that_do_not_apply_to_the_stored_body_have_another_name(
    tmp_path: Path, header: tuple[bytes, bytes], body: bytes, name: str
) -> None:
    (path,) = written(tmp_path, replace(EXCHANGE, headers=[header], body=body))

    assert records(path)[1].http_headers.headers == [(name, header[1].decode())]


def test_pages_are_read_back_decoded(tmp_path: Path) -> None:
    headers = [(b"Content-Type", b"text/html; charset=latin-1"), (b"Content-Encoding", b"gzip")]
    body = gzip.compress("<p>Grüße".encode("latin-1"))
    (path,) = written(tmp_path, replace(EXCHANGE, headers=headers, body=body))

    assert list(Source(path)) == [StoredPage("https://a.example/news/1?page=2", "<p>Grüße")]


@pytest.mark.parametrize("packed", [gzip.compress(HTML), HTML])
def test_pages_of_other_programs_are_read_without_their_chunks(
    tmp_path: Path, packed: bytes
) -> None:
    body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(packed), packed)
    head = b"Content-Type: text/html\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked"
    response = b"HTTP/1.1 200 OK\r\n%s\r\n\r\n%s" % (head, body)
    path = tmp_path / "other.warc"
    path.write_bytes(
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://a.example/1\r\n"
        b"WARC-Record-ID: <urn:uuid:0>\r\nWARC-Date: 2026-03-01T10:00:00Z\r\n"
        b"Content-Type: application/http; msgtype=response\r\n"
        b"Content-Length: %d\r\n\r\n%s\r\n\r\n" % (len(response), response)
    )

    assert list(Source(path)) == [StoredPage("https://a.example/1", HTML.decode())]


@pytest.mark.parametrize(
    ("encoding", "body", "reason"),
    [
        (b"gzip", b"\x1f\x8bno more", "cannot be decoded as gzip"),
        (b"deflate", b"no more", "cannot be decoded as deflate"),
        (b"gzip", gzip.compress(b"x" * 10**8), "more than 50,000,000 bytes"),
        (b"identity", b"x" * 10**8, "more than 50,000,000 bytes"),
    ],
)
def test_a_page_that_cannot_be_used_is_skipped_and_the_next_is_read(
    tmp_path: Path, encoding: bytes, body: bytes, reason: str
) -> None:
    headers = [(b"Content-Type", b"text/html"), (b"Content-Encoding", encoding)]
    (path,) = written(tmp_path, replace(EXCHANGE, headers=headers, body=body), numbered(2))
    source = Source(path)

    assert [page.url for page in source] == ["https://a.example/2"]
    assert source.skipped.count == 1
    assert reason in source.skipped.first


def test_a_file_that_is_large_enough_is_followed_by_another(tmp_path: Path) -> None:
    exchanges = [numbered(number) for number in range(8)]
    paths = written(tmp_path, *exchanges, largest=2500)

    pages = [page.url for path in paths for page in Source(path)]
    assert len(paths) > 2
    assert all(path.stat().st_size <= 2500 for path in paths)
    assert pages == [each.url for each in exchanges]
    assert [records(path)[0].rec_type for path in paths] == ["warcinfo"] * len(paths)


def test_an_exchange_larger_than_a_file_has_one(tmp_path: Path) -> None:
    paths = written(tmp_path, numbered(1), numbered(2), largest=1)

    assert [len(records(path)) for path in paths] == [3, 3]


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[int]]:
    """A file of four pages, and where each exchange ends."""
    folder = tmp_path_factory.mktemp("warc")
    files, ends = WarcFiles(folder, "news", 10**6), []
    for number in range(4):
        files.add(numbered(number))
        ends += [path.stat().st_size for path in folder.iterdir()]
    files.close()
    (path,) = folder.iterdir()
    return path, ends


@given(share=st.floats(0, 1))
def test_a_file_that_breaks_off_anywhere_gives_all_pages_before(
    archive: tuple[Path, list[int]], share: float
) -> None:
    path, ends = archive
    first = len(path.read_bytes()) - ends[-1] + ends[0]
    length = first + round(share * (ends[-1] - first))
    cut = path.with_name("cut.warc.gz")
    cut.write_bytes(path.read_bytes()[:length])
    source = Source(cut)

    urls = [page.url for page in source]

    whole = sum(end <= length for end in ends)
    assert urls[:whole] == [numbered(number).url for number in range(whole)]
    # The response of an exchange may be whole without its request.
    assert len(urls) - whole in (0, 1)
    pages = dict(zip(urls, Source(cut), strict=True))
    assert all(pages[url].html == numbered(int(url[-1])).body.decode() for url in urls)


def test_half_a_page_is_no_page(archive: tuple[Path, list[int]], tmp_path: Path) -> None:
    path, ends = archive
    whole = path.read_bytes()
    skipped = 0
    for length in range(ends[2], ends[3]):
        cut = tmp_path / "cut.warc.gz"
        cut.write_bytes(whole[:length])
        source = Source(cut)
        pages = list(source)
        assert len(pages) == 3 or pages[3].html == numbered(3).body.decode()
        skipped += source.skipped.count
    assert skipped


def test_a_disk_that_is_full_leaves_whole_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = WarcFiles(tmp_path, "news", 10**6)
    files.add(numbered(0))
    assert files._file is not None  # noqa: SLF001 - its disk is full
    raw = files._file.file  # noqa: SLF001

    class Full(io.RawIOBase):
        def write(self, data: Buffer) -> int:
            if raw.write(bytes(data)[:7]):
                raise OSError(28, "No space left on device")
            return 0

        def truncate(self, size: int | None = None) -> int:
            return raw.truncate(size)

        def seek(self, offset: int, whence: int = 0) -> int:
            return raw.seek(offset, whence)

    monkeypatch.setattr(files._file, "file", Full())  # noqa: SLF001
    with pytest.raises(OSError, match="No space"):
        files.add(numbered(1))
    monkeypatch.undo()
    files.add(numbered(2))
    files.close()

    (path,) = tmp_path.iterdir()
    source = Source(path)
    assert [page.url for page in source] == ["https://a.example/0", "https://a.example/2"]
    assert source.skipped.count == 0
