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


def test_pages_of_a_folder_are_opened(tmp_path: Path) -> None:
    write_pages(tmp_path)

    with running(tmp_path, ".", "-n", "3") as origins:
        found = asked(origins, "start")

    assert found["sites"] == [{"site": "one.example", "pages": 3}]
    assert found["left_out"] == 1


def test_an_address_is_fetched_with_the_pages_it_leads_to(tmp_path: Path) -> None:
    write_pages(tmp_path)
    with serving_files(tmp_path) as address, running(tmp_path, f"{address}/") as origins:
        found = asked(origins, "start")

    assert found["sites"] == [{"site": "127.0.0.1", "pages": 5}]


CACHING = """
from scrapy import Spider
class Cached(Spider):
    name = "cached"
    start_urls = ["{}story-number-1-of-the-day.html"]
    custom_settings = {{"HTTPCACHE_ENABLED": True, "HTTPCACHE_GZIP": {}, "HTTPCACHE_DIR": "{}"}}
"""


@pytest.mark.parametrize("packed", [False, True])
def test_what_scrapy_has_cached_is_read_without_its_pickles(
    tmp_path: Path, *, packed: bool
) -> None:
    write_pages(tmp_path)
    cache = tmp_path / "cache"
    spider = tmp_path / "spider.py"
    with serving_files(tmp_path) as address:
        spider.write_text(CACHING.format(f"{address}/", packed, cache), "utf-8")
        command = [sys.executable, "-m", "scrapy", "runspider", "-L", "ERROR", str(spider)]
        subprocess.run(command, cwd=tmp_path, check=True, timeout=SECONDS)
    for pickled in [*cache.rglob("pickled_meta"), *cache.rglob("response_data")]:
        pickled.write_bytes(b"cposix\nsystem\n(S'touch ran'\ntR.")

    (page,) = cached_pages(cache)

    assert page.url == f"{address}/story-number-1-of-the-day.html"
    assert news_page(1).text.split("\n")[0] in page.html
    assert list(cached_pages(cache, "other.example")) == []
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("site", "n_found"), [("", 3), ("one.example", 2), ("www.one.example", 2), ("ne.example", 0)]
)
def test_the_cache_is_asked_for_a_host_and_not_for_a_part_of_an_address(
    tmp_path: Path, site: str, n_found: int
) -> None:
    hosts = ("one.example", "news.one.example", "other.example")
    for number, host in enumerate(hosts):
        entry = tmp_path / "spider" / "aa" / str(number)
        entry.mkdir(parents=True)
        meta = {"status": 200, "response_url": f"https://{host}/?from=one.example"}
        (entry / "meta").write_text(repr(meta), "utf-8")
        (entry / "response_headers").write_bytes(b"Content-Type: text/html\r\n")
        (entry / "response_body").write_text(news_page(1).html, "utf-8")

    assert len(list(cached_pages(tmp_path, site))) == n_found


def test_a_damaged_cache_entry_is_none(tmp_path: Path) -> None:
    for name, meta in (("aa", b"("), ("bb", b"{'status': 200}"), ("cc", b"\xff"), ("dd", b"[1]")):
        entry = tmp_path / "spider" / name / "entry"
        entry.mkdir(parents=True)
        (entry / "meta").write_bytes(meta)

    assert list(cached_pages(tmp_path)) == []


def test_the_least_sure_pages_are_a_queue(tmp_path: Path) -> None:
    pages = {
        UncertainPage(page.url, 0.5 - number / 10, 1): compressed(page.html)
        for number, page in enumerate(news(range(3)))
    }
    with closing(SQLiteStore(tmp_path / "store")) as store:
        store.write([adding({"one.example": pages})])

    with running(tmp_path, setting=f"MSS_STORE={tmp_path / 'store'}") as origins:
        assert asked(origins, "start")["sites"] == [{"site": "one.example", "pages": 3}]
        queue = asked(origins, "rules")["unsure"]
        rest = asked(origins, "seen", url=queue[0]["url"])["unsure"]

    assert [row["certainty"] for row in queue] == [0.3, 0.4, 0.5]
    assert all(row["page"] is not None for row in queue)
    assert rest == queue[1:]


TAKEN = "taken"  # stands for a port that is
REFUSED: list[tuple[list[str], str]] = [
    ([], "there are no pages: name a file, a folder or an address"),
    (["nowhere.jsonl"], "nowhere.jsonl: no such file or folder, and no pages of that host"),
    (["other.example"], "other.example: no such file or folder, and no pages of that host"),
    ([".", "--port", "99999"], "from 0 to 65535, got '99999'"),
    ([".", "-n", "0"], "from 1 to 400, got '0'"),
    ([".", "-n", "1000000"], "from 1 to 400, got '1000000'"),
    ([".", "-r", "story-number-1-of-the-day.html"], "expected a folder of rules, got a file"),
    ([".", "--port", TAKEN], "of this machine: "),
]


@pytest.mark.parametrize(("arguments", "told"), REFUSED, ids=str)
def test_what_it_cannot_do_is_told_in_one_line(
    tmp_path: Path, arguments: list[str], told: str
) -> None:
    if arguments[:1] == ["."]:
        write_pages(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        given = [port if each == TAKEN else each for each in arguments]
        done = run_scrapy(tmp_path, "mss", "workbench", "-b", *given)

    assert done.code == 2
    (line,) = done.err.splitlines()
    assert line.startswith("scrapy mss workbench: error: ")
    assert told in line


def test_pages_beyond_a_bound_are_counted_and_left_out() -> None:
    pages = Pages(2)

    pages.add([*news(range(4)), *news(range(4))])

    assert [len(each) for each in pages.by_site.values()] == [2]
    assert pages.left_out == 4
