"""WARC files of real crawls, and what commands read in them."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from scrapy_mss.settings import SettingError
from tests.plugin.crawling import ADDON, Crawl, Job, crawl, environment
from tests.plugin.site import plain

pytest.importorskip("warcio")

from warcio.archiveiterator import ArchiveIterator

N_PAGES = 5


class _Handler(BaseHTTPRequestHandler):
    """Pages in the encoding that the path names, and addresses that lead to them."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        _, kind, number = self.path.split("/")
        if kind == "moved":
            self.send_response(301)
            self.send_header("Location", f"/gzip/{number}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        body = plain(int(number)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Set-Cookie", "id=of-the-site")
        if kind == "chunked":
            self.send_header("Transfer-Encoding", "chunked")
            sent = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:99], body[99:]))
            sent += b"0\r\n\r\n"
        else:
            sent = gzip.compress(body) if kind == "gzip" else body
            if kind == "gzip":
                self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("archive")


@pytest.fixture(scope="module")
def done(folder: Path, base: str) -> Crawl:
    """A crawl with an archive; the folder of the files does not exist before."""
    kinds = ("plain", "gzip", "chunked", "moved")
    urls = [f"{base}/{kind}/{number}" for number, kind in enumerate(kinds)]
    # The second time, each comes from the cache.
    job = Job(
        arguments={"urls": urls},
        settings={
            **ADDON,
            "MSS_WARC": "warc/files",
            "HTTPCACHE_ENABLED": True,
            "HTTPCACHE_DIR": str(folder / "cache"),
            "DEFAULT_REQUEST_HEADERS": {"Authorization": "Basic of-mine"},
        },
    )
    first, second = crawl(folder, [job, job])
    assert (first.error, second.error, first.logged("ERROR")) == ("", "", [])
    assert second.mss("warc/responses") == 0
    return first


def records(folder: Path, kind: str) -> dict[str, Any]:
    """The records of a *kind* by the path of their address, with their payload as an attribute."""
    found = {}
    (path,) = folder.glob("warc/files/silent-*.warc.gz")
    with path.open("rb") as file:
        for record in ArchiveIterator(file):
            record.payload = record.raw_stream.read()
            if record.rec_type == kind:
                found["/" + record.rec_headers["WARC-Target-URI"].split("/", 3)[3]] = record
    return found


def test_all_that_was_received_is_in_the_archive(done: Crawl, folder: Path, base: str) -> None:
    responses = records(folder, "response")

    assert [*sorted(responses)] == ["/chunked/2", "/gzip/1", "/gzip/3", "/moved/3", "/plain/0"]
    assert done.mss("warc/responses") == len(responses)
    (path,) = folder.glob("warc/files/*.warc.gz")
    assert 0 < done.mss("warc/bytes") < path.stat().st_size
    assert responses["/moved/3"].http_headers.statusline == "301 Moved Permanently"
    assert responses["/plain/0"].payload == plain(0).encode()
    assert responses["/plain/0"].http_headers["Set-Cookie"] == "id=of-the-site"
    assert responses["/plain/0"].rec_headers["WARC-IP-Address"] == "127.0.0.1"


def test_bodies_are_as_they_were_sent_but_for_chunks(done: Crawl, folder: Path) -> None:
    responses = records(folder, "response")

    packed = responses["/gzip/1"]
    assert gzip.decompress(packed.payload) == plain(1).encode()
    assert packed.http_headers["Content-Encoding"] == "gzip"
    joined = responses["/chunked/2"]
    assert joined.payload == plain(2).encode()
    assert joined.http_headers["Transfer-Encoding"] is None
    for record in responses.values():
        length = record.http_headers["Content-Length"]
        assert length is None or int(length) == len(record.payload)


def test_requests_are_there_without_what_is_secret(done: Crawl, folder: Path, base: str) -> None:
    request = records(folder, "request")["/gzip/1"]

    assert request.http_headers.protocol == "GET"
    assert request.http_headers["Host"] == base.removeprefix("http://")
    assert request.http_headers["Accept-Encoding"]
    assert request.http_headers["Authorization"] is None
    assert request.http_headers["Cookie"] is None


def test_extract_gives_the_articles_that_the_crawl_gave(done: Crawl, folder: Path) -> None:
    (path,) = folder.glob("warc/files/*.warc.gz")
    printed = subprocess.run(
        [sys.executable, "-m", "scrapy", "mss", "extract", "--bundled", str(path)],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )

    articles = [json.loads(line) for line in printed.stdout.splitlines()]
    crawled = {url: fields["text"] for url, fields in done.by_url().items()}
    assert {article["url"]: article["text"] for article in articles} == crawled
    assert len(articles) == 4


def test_a_folder_that_cannot_be_made_stops_the_crawl(tmp_path: Path) -> None:
    from scrapy_mss.crawl.archive import files_in

    (tmp_path / "file").write_bytes(b"")

    with pytest.raises(SettingError, match=r"MSS_WARC: .* cannot be made"):
        files_in(str(tmp_path / "file" / "warc"), "news", 1)


def test_a_disk_that_is_full_costs_the_archive_and_not_the_crawl(tmp_path: Path, base: str) -> None:
    """As the folder is gone when the first file is to be written."""
    job = Job(
        "silent",
        {"urls": [f"{base}/plain/{number}" for number in range(3)]},
        {**ADDON, "MSS_WARC": "gone", "EXTENSIONS": {"tests.plugin.spiders.FolderRemover": 0}},
    )

    (done,) = crawl(tmp_path, [job])

    assert len(done.items) == 3
    assert done.mss("warc/failed") == 3
    assert len([line for line in done.logged("ERROR") if "WARC" in line]) == 1
