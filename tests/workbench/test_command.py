"""``scrapy mss workbench`` as a process: where its pages come from, and how it ends."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from scrapy_mss.workbench.api import Pages
from scrapy_mss.workbench.serving import Origins
from tests.helpers.local_server import serving_files
from tests.helpers.news_pages import news_page
from tests.helpers.workbenches import asked, news
from tests.plugin.crawling import run_scrapy

ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/#(\S+)")
CANONICAL = "<head><link rel=canonical href='https://one.example/{}'>"
SECONDS = 600  # of a process that should end at once: a busy machine starts it in a minute


@contextmanager
def running(folder: Path, *arguments: str) -> Iterator[Origins]:
    """The workbench in a process of its own, without a browser."""
    command = [sys.executable, "-m", "scrapy", "mss", "workbench", *arguments]
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


def test_pages_come_from_a_folder_and_an_address(tmp_path: Path) -> None:
    write_pages(tmp_path)
    with serving_files(tmp_path) as address, running(tmp_path, ".", f"{address}/") as origins:
        found = asked(origins, "start")["sites"]

    n_pages = {row["site"]: row["pages"] for row in found}
    assert n_pages == {"127.0.0.1": 5, "one.example": 4}  # the address, and what it links to


TAKEN = "taken"  # stands for a port that is
REJECTED: list[tuple[list[str], str]] = [
    (["one.example"], "to fetch pages of a host: scrapy mss workbench https://one.example/"),
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
