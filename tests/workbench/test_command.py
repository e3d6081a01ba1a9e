"""``scrapy mss workbench`` as a process: where its pages come from, and how it ends."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from scrapy import Request, Spider
from scrapy.extensions.httpcache import FilesystemCacheStorage
from scrapy.http import HtmlResponse
from scrapy.utils.test import get_crawler

from scrapy_mss.quality.uncertain import UncertainPage, adding, compressed
from scrapy_mss.storage.sqlite_store import SQLiteStore
from scrapy_mss.workbench.pages import Pages, cached_pages
from scrapy_mss.workbench.security import Origins
from tests.helpers.local_server import serving_files
from tests.helpers.news_pages import news_page
from tests.helpers.workbenches import asked, news
from tests.plugin.crawling import run_scrapy

ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/#(\S+)")
CANONICAL = "<head><link rel=canonical href='https://one.example/{}'>"
SECONDS = 600  # of a process that should end at once: a busy machine starts it in a minute


@contextmanager
def running(folder: Path, *arguments: str, setting: str = "") -> Iterator[Origins]:
    """The workbench in a process of its own, without a browser."""
    settings = ["-s", setting] if setting else []
    command = [sys.executable, "-m", "scrapy", "mss", *settings, "workbench", *arguments]
    command += ["--no-browser", "-b"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            found = next(filter(None, map(ADDRESS.search, process.stdout)), None)
            assert found, "the process has ended without an address"
            yield Origins(int(found[1]), 0, found[2])
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(SECONDS)


def write_pages(folder: Path) -> None:
    for number in range(4):
        html = news_page(number).html.replace("<head>", CANONICAL.format(number))
        (folder / f"story-number-{number}-of-the-day.html").write_text(html, "utf-8")


def test_pages_come_from_a_folder_an_address_and_the_store(tmp_path: Path) -> None:
    write_pages(tmp_path)
    uncertain = {
        UncertainPage(page.url, 0.5 - number / 10, 1): compressed(page.html)
        for number, page in enumerate(news(range(3)))
    }
    with closing(SQLiteStore(tmp_path / "store")) as store:
        store.write([adding({"one.example": uncertain})])

    with (
        serving_files(tmp_path) as address,
        running(tmp_path, ".", f"{address}/", setting=f"MSS_STORE={tmp_path / 'store'}") as origins,
    ):
        found = asked(origins, "start")["sites"]
        queue = asked(origins, "rules")["uncertain"]
        rest = asked(origins, "done", url=queue[0]["url"])["uncertain"]

    assert found[0] == {"site": "one.example", "pages": 4 + 3}
    assert found[1]["site"] == "127.0.0.1"
    assert found[1]["pages"] >= 5  # that of the address and those that it links to
    assert [row["certainty"] for row in queue] == [0.3, 0.4, 0.5]
    assert all(row["page"] is not None for row in queue)
    assert rest == queue[1:]


@pytest.mark.parametrize("packed", [False, True])
def test_pages_in_the_http_cache_are_read_without_its_pickles(
    tmp_path: Path, *, packed: bool
) -> None:
    url = "https://one.example/1"
    settings = {"HTTPCACHE_GZIP": packed, "HTTPCACHE_DIR": str(tmp_path)}
    crawler = get_crawler(Spider, settings)
    cache = FilesystemCacheStorage(crawler.settings)
    spider = crawler._create_spider("cached")  # noqa: SLF001 - there is no public way without a crawl
    cache.open_spider(spider)
    body = news_page(1).html.encode()
    response = HtmlResponse(url, headers={"Content-Type": "text/html"}, body=body)
    cache.store_response(spider, Request(url), response)
    for pickled in tmp_path.rglob("pickled_meta"):
        pickled.write_bytes(b"cposix\nsystem\n(S'touch ran'\ntR.")

    (page,) = cached_pages(tmp_path)

    assert page.url == url
    assert news_page(1).text.split("\n")[0] in page.html
    assert list(cached_pages(tmp_path, "other.example")) == []


@pytest.mark.parametrize(
    ("site", "n_found"), [("", 3), ("one.example", 2), ("www.one.example", 2), ("ne.example", 0)]
)
def test_the_cache_is_filtered_by_host_and_not_by_a_part_of_the_address(
    tmp_path: Path, site: str, n_found: int
) -> None:
    hosts = ("one.example", "news.one.example", "other.example")
    urls = (f"https://{host}/?from=one.example" for host in hosts)
    damaged = (b"(", b"{'status': 200}", b"\xff", b"[1]")  # these are skipped
    sound = (repr({"status": 200, "response_url": url}).encode() for url in urls)
    for number, meta in enumerate((*damaged, *sound)):
        entry = tmp_path / "spider" / "aa" / str(number)
        entry.mkdir(parents=True)
        (entry / "meta").write_bytes(meta)
        (entry / "response_headers").write_bytes(b"Content-Type: text/html\r\n")
        (entry / "response_body").write_text(news_page(1).html, "utf-8")

    assert len(list(cached_pages(tmp_path, site))) == n_found


TAKEN = "taken"  # stands for a port that is
REJECTED: list[tuple[list[str], str]] = [
    ([], "there are no pages: name a file, a folder or an address"),
    (["nowhere.jsonl"], "nowhere.jsonl: no such file or folder, and no pages of that host"),
    ([".", "--port", "99999"], "from 0 to 65535, got '99999'"),
    ([".", "-n", "1000000"], "from 1 to 400, got '1000000'"),
    ([".", "-r", "story-number-1-of-the-day.html"], "expected a folder of rules, got a file"),
    ([".", "--port", TAKEN], "of this machine: "),
]


@pytest.mark.parametrize(("arguments", "message"), REJECTED, ids=str)
def test_an_error_is_one_line(tmp_path: Path, arguments: list[str], message: str) -> None:
    if arguments[:1] == ["."]:
        write_pages(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        given = [port if each == TAKEN else each for each in arguments]
        done = run_scrapy(tmp_path, "mss", "workbench", "-b", *given)

    assert done.code == 2
    (line,) = done.err.splitlines()
    assert line.startswith("scrapy mss workbench: error: ")
    assert message in line


def test_pages_beyond_a_bound_are_counted_and_left_out() -> None:
    pages = Pages(2)

    pages.add([*news(range(4)), *news(range(4))])

    assert [len(each) for each in pages.by_site.values()] == [2]
    assert pages.left_out == 4
