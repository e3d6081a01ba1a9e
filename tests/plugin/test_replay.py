"""Stored pages in the place of the network."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.plugin.crawling import ADDON, Crawl, Job, crawl
from tests.plugin.site import plain, story

HANDLERS = dict.fromkeys(("http", "https"), "scrapy_mss.replay.ReplayHandler")
STORED = ("https://news.example/stories/1", "http://www.news.example/stories/2?b=1&a=2")
UNKNOWN = "https://news.example/stories/3"
OTHER_SPELLING = "http://www.news.example/stories/2?a=2&b=1#top"


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """A crawl of two stored pages, one of them spelled otherwise, and one that is not stored."""
    folder = tmp_path_factory.mktemp("replay")
    records = [{"url": url, "html": plain(n)} for n, url in enumerate(STORED, 1)]
    lines = [*map(json.dumps, records), "{no JSON", json.dumps({"url": UNKNOWN})]
    (folder / "pages.jsonl").write_text("\n".join(lines))
    settings = {
        **ADDON,
        "DOWNLOAD_HANDLERS": HANDLERS,
        "MSS_REPLAY": str(folder / "pages.jsonl"),
        "HTTPERROR_ALLOW_ALL": True,
    }
    (done,) = crawl(
        folder, [Job(arguments={"urls": [STORED[0], OTHER_SPELLING, UNKNOWN]}, settings=settings)]
    )
    return done


def test_a_stored_page_is_crawled_as_from_the_network(replayed: Crawl) -> None:
    items = replayed.by_url()

    assert set(items) == {STORED[0], "http://www.news.example/stories/2?a=2&b=1"}
    assert story("plain", 1).paragraphs[0] in items[STORED[0]]["text"]


def test_an_address_is_found_however_it_is_spelled(replayed: Crawl) -> None:
    (item,) = [item for item in replayed.items if "www" in item.url]

    assert story("plain", 2).paragraphs[0] in item.fields["text"]


def test_an_address_that_is_not_stored_is_not_found(replayed: Crawl) -> None:
    assert replayed.stats["downloader/response_status_count/404"] == 1
    assert replayed.stats["downloader/response_status_count/200"] == 2


def test_records_that_are_none_are_counted_and_told(replayed: Crawl) -> None:
    assert [text for text in replayed.logged("WARNING") if "skipped 2 records" in text]
    assert replayed.logged("ERROR") == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no-such.jsonl", "no-such.jsonl: no such file or folder"),
        ("pages.pdf", "pages.pdf: expected a folder of HTML files or a file ending in .jsonl, "),
    ],
)
def test_a_source_that_cannot_be_read_stops_the_crawl_at_its_start(
    tmp_path: Path, name: str, message: str
) -> None:
    (tmp_path / "pages.pdf").write_bytes(b"%PDF")
    settings = {**ADDON, "DOWNLOAD_HANDLERS": HANDLERS, "MSS_REPLAY": name}

    (done,) = crawl(tmp_path, [Job(arguments={"urls": [STORED[0]]}, settings=settings)])

    assert done.error.startswith(f"SettingError: MSS_REPLAY: {message}")
    assert done.items == []
    assert "downloader/request_count" not in done.stats
