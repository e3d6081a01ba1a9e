"""What crawls remember of sites: in their own process, in workers, and one crawl after another."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from scrapy_mss.sites.memory import MAX_PAGE_TEXTS, MAX_TEXTS, SiteMemory
from scrapy_mss.sites.store import SiteStore
from scrapy_mss.storage.sqlite_store import SQLiteStore
from tests.helpers.memories import numbered
from tests.plugin.crawling import ADDON, Job, crawl
from tests.plugin.site import Site, rules_with

N_PAGES = 12
HOST = "127.0.0.1"


def job(site: Site, numbers: Sequence[int], kind: str = "plain", **settings: Any) -> Job:
    return job_of([site.url(f"/{kind}/{number}") for number in numbers], **settings)


def job_of(urls: list[str], **settings: Any) -> Job:
    return Job("silent", {"urls": urls}, {**ADDON, "MSS_STORE": "store", **settings})


def remembered(folder: Path) -> SiteMemory:
    with closing(SQLiteStore(folder / "store")) as store:
        return SiteStore(store).load(HOST)


def counted(memory: SiteMemory) -> list[object]:
    """All that is counted, without when."""
    tables = (memory.texts, memory.containers)
    addresses = [(shape, seen[:2]) for shape, seen in memory.addresses]
    return [*[(table.keys.tolist(), table.rows.tolist()) for table in tables], addresses]


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

    assert counted(memories[0]) == counted(memories[1])


def test_a_later_crawl_goes_on_from_what_is_known(site: Site, tmp_path: Path) -> None:
    crawl(tmp_path, [job(site, range(4)), job(site, range(4, 10))])

    assert remembered(tmp_path).pages == 10


def test_the_same_pages_in_another_order_are_remembered_as_the_same(
    site: Site, tmp_path: Path
) -> None:
    memories = []
    for name, numbers in (("up", range(N_PAGES)), ("down", range(N_PAGES)[::-1])):
        (tmp_path / name).mkdir()
        crawl(tmp_path / name, [job(site, numbers, MSS_WORKERS=0, CONCURRENT_REQUESTS=1)])
        memories.append(counted(remembered(tmp_path / name)))

    assert memories[0] == memories[1]


def test_a_site_twice_as_large_as_its_memory_is_remembered_within_its_bounds(
    site: Site, tmp_path: Path
) -> None:
    n_pages = 2 * MAX_TEXTS // MAX_PAGE_TEXTS + 1
    paths = [f"/long/{n}?{numbered(n)}={n}" for n in range(n_pages)]

    (done,) = crawl(tmp_path, [job_of([site.url(path) for path in paths])])

    with closing(SQLiteStore(tmp_path / "store")) as store:
        (stored,) = SiteStore(store).sites()
    memory = remembered(tmp_path)
    assert done.mss("sites/pages") == memory.pages == n_pages
    assert MAX_TEXTS / 2 < len(memory.texts) <= MAX_TEXTS
    assert stored.size <= 64 * 1024
    assert memory.texts.rows[:, 0].max() == n_pages  # what is on all pages is still known


def test_labelled_pages_are_remembered_as_such_and_once(site: Site, tmp_path: Path) -> None:
    for train_only in (False, True):
        folder = tmp_path / str(train_only)
        folder.mkdir()
        rules = rules_with(train_only=train_only)
        crawl(folder, [job(site, range(N_PAGES), "wrapped", MSS_WRAPPERS=rules)])

        memory = remembered(folder)
        assert memory.labelled_pages == memory.pages == N_PAGES


def test_pages_that_are_no_articles_are_not_remembered(site: Site, tmp_path: Path) -> None:
    (done,) = crawl(tmp_path, [job(site, range(N_PAGES), "index")])

    assert done.mss("extract/pages") == N_PAGES
    assert done.mss("sites/pages") == 0


def test_without_memory_no_site_is_remembered(site: Site, tmp_path: Path) -> None:
    (done,) = crawl(tmp_path, [job(site, range(3), MSS_SITE_MEMORY=0)])

    assert done.mss("extract/articles") == 3
    assert "mss/sites/pages" not in done.stats
    assert remembered(tmp_path).pages == 0
