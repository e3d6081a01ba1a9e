"""What crawls remember of sites, in their own process and in workers."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from scrapy_mss.sites.memory import SiteMemory
from scrapy_mss.sites.store import SiteStore
from scrapy_mss.storage.sqlite_store import SQLiteStore
from tests.plugin.crawling import Crawl, Job, crawl_all, fetching
from tests.plugin.site import Site, rules_with

N_PAGES = 12
HOST = "127.0.0.1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of the stores, each of which has the name of its crawl."""
    return tmp_path_factory.mktemp("memory")


@pytest.fixture(scope="module")
def crawls(folder: Path, site: Site) -> dict[str, Crawl]:
    def job(name: str, urls: list[str], **settings: Any) -> Job:
        return fetching(urls, MSS_STORE=str(folder / name), **settings)

    plain, wrapped = (site.urls(kind, range(N_PAGES)) for kind in ("plain", "wrapped"))
    rules = [rules_with(train_only=train_only) for train_only in (False, True)]
    asked = {
        "here": job("here", plain),
        "workers": job("workers", plain, MSS_WORKERS=2),
        "reversed": job("reversed", plain[::-1], CONCURRENT_REQUESTS=1),
        "labelled": job("labelled", wrapped, MSS_WRAPPERS=rules[0]),
        "train only": job("train only", wrapped, MSS_WRAPPERS=rules[1]),
        "index": job("index", site.urls("index", range(N_PAGES))),
        "off": job("off", plain[:3], MSS_SITE_MEMORY=0),
    }
    return crawl_all(folder, asked)


def remembered(store: Path) -> SiteMemory:
    with closing(SQLiteStore(store)) as opened:
        return SiteStore(opened).load(HOST)


def counted(memory: SiteMemory) -> list[object]:
    """All that is counted, without when."""
    tables = (memory.texts, memory.containers)
    addresses = [(shape, seen[:2]) for shape, seen in memory.addresses]
    return [*[(table.keys.tolist(), table.rows.tolist()) for table in tables], addresses]


@pytest.mark.parametrize("name", ["here", "workers", "reversed"])
def test_each_page_is_remembered_once_wherever_and_in_whatever_order_it_is_read(
    crawls: dict[str, Crawl], folder: Path, name: str
) -> None:
    done, memory = crawls[name], remembered(folder / name)

    assert done.mss("sites/pages") == done.mss("extract/articles") == N_PAGES
    assert done.mss("sites/failed") == done.mss("sites/changed") == 0
    assert memory.pages == N_PAGES
    assert counted(memory) == counted(remembered(folder / "here"))


@pytest.mark.parametrize("name", ["labelled", "train only"])
def test_labelled_pages_are_remembered_as_such_and_once(
    crawls: dict[str, Crawl], folder: Path, name: str
) -> None:
    memory = remembered(folder / name)

    assert memory.labelled_pages == memory.pages == N_PAGES


def test_pages_that_are_no_articles_are_not_remembered(crawls: dict[str, Crawl]) -> None:
    assert crawls["index"].mss("extract/pages") == N_PAGES
    assert crawls["index"].mss("sites/pages") == 0


def test_without_memory_no_site_is_remembered(crawls: dict[str, Crawl], folder: Path) -> None:
    assert crawls["off"].mss("extract/articles") == 3
    assert "mss/sites/pages" not in crawls["off"].stats
    assert remembered(folder / "off").pages == 0
