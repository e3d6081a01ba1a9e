"""What crawls remember of sites: in their own process, in workers, and one crawl after another."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from scrapy_mss.sites.memory import SiteMemory
from scrapy_mss.sites.store import SiteStore, sites_path
from tests.plugin.crawling import ADDON, Crawl, Job, crawl
from tests.plugin.site import RULES, Site

N_PAGES = 12
HOST = "127.0.0.1"


def job(site: Site, numbers: range, kind: str = "plain", **settings: Any) -> Job:
    urls = [site.url(f"/{kind}/{number}") for number in numbers]
    return Job("silent", {"urls": urls}, {**ADDON, "MSS_MODEL": "news.model", **settings})


def remembered(folder: Path) -> SiteMemory:
    return SiteStore(sites_path(folder / "news.model")).load(HOST)


@pytest.mark.parametrize("workers", [0, 2])
def test_each_page_is_remembered_once_wherever_it_is_read(
    site: Site, tmp_path: Path, workers: int
) -> None:
    (done,) = crawl(tmp_path, [job(site, range(N_PAGES), MSS_WORKERS=workers)])

    assert done.mss("sites/pages") == done.mss("extract/articles") == N_PAGES
    assert done.mss("sites/failed") == done.mss("sites/changed") == 0
    assert remembered(tmp_path).pages == N_PAGES


def test_what_is_remembered_does_not_depend_on_where_pages_are_read(
    site: Site, tmp_path: Path
) -> None:
    memories = []
    for workers in (0, 2):
        folder = tmp_path / str(workers)
        folder.mkdir()
        crawl(folder, [job(site, range(N_PAGES), MSS_WORKERS=workers)])
        memories.append(remembered(folder))

    keys = [memory.texts.keys.tolist() for memory in memories]
    rows = [memory.texts.rows.tolist() for memory in memories]
    assert keys[0] == keys[1]
    assert rows[0] == rows[1]


def test_a_later_crawl_goes_on_from_what_is_known(site: Site, tmp_path: Path) -> None:
    crawl(tmp_path, [job(site, range(4)), job(site, range(4, 10))])

    assert remembered(tmp_path).pages == 10


def test_two_crawls_at_once_lose_nothing_in_one_file(site: Site, tmp_path: Path) -> None:
    model = str(tmp_path / "news.model")
    jobs = [job(site, numbers, MSS_MODEL=model) for numbers in (range(6), range(6, 12))]
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()

    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(lambda folder, asked: crawl(folder, [asked]), folders, jobs))

    assert [done.mss("sites/pages") for (done,) in found] == [6, 6]
    assert remembered(tmp_path).pages == 12


def test_labelled_pages_are_remembered_as_such_and_once(site: Site, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"MSS_WRAPPERS": RULES}
    for prefer in (False, True):
        settings["MSS_PREFER_WRAPPER"] = prefer
        (tmp_path / str(prefer)).mkdir()
        crawl(tmp_path / str(prefer), [job(site, range(N_PAGES), "wrapped", **settings)])

        memory = remembered(tmp_path / str(prefer))
        assert memory.labelled_pages == memory.pages == N_PAGES


def test_pages_that_are_no_articles_are_not_remembered(site: Site, tmp_path: Path) -> None:
    (done,) = crawl(tmp_path, [job(site, range(N_PAGES), "index")])

    assert done.mss("extract/pages") == N_PAGES
    assert done.mss("sites/pages") == 0


def test_without_memory_there_is_no_file(site: Site, tmp_path: Path) -> None:
    (done,) = crawl(tmp_path, [job(site, range(3), MSS_SITE_MEMORY=0)])

    assert done.mss("extract/articles") == 3
    assert "mss/sites/pages" not in done.stats
    assert not sites_path(tmp_path / "news.model").exists()


def test_a_file_that_cannot_be_used_costs_no_page_and_is_kept(site: Site, tmp_path: Path) -> None:
    path = sites_path(tmp_path / "news.model")
    path.write_text("not a database " * 100)
    before = path.read_bytes()

    done: Crawl
    (done,) = crawl(tmp_path, [job(site, range(N_PAGES))])

    assert done.mss("extract/articles") == N_PAGES
    assert done.mss("sites/failed") > 0
    assert [text for text in done.logged("WARNING") if "memory of sites" in text]
    assert path.read_bytes() == before
