"""The store of crawls: killed ones, several at once, stores that fail or cannot be used."""

from __future__ import annotations

import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scrapy_mss.models.format import to_bytes
from scrapy_mss.quality.counts import PAGES
from scrapy_mss.quality.store import QualityStore
from scrapy_mss.seen.articles import SeenStore
from scrapy_mss.seen.keys import address_key
from scrapy_mss.sites.store import SiteStore
from scrapy_mss.storage.sqlite_store import FILE, SQLiteStore
from scrapy_mss.storage.tables import MODEL, Change, Row
from tests.plugin.crawling import ADDON, Crawl, Job, crawl, exit_code, fetching
from tests.plugin.models import assert_same_counts, learned, store_model, stored_model
from tests.plugin.site import RULES, Site

HOST = "127.0.0.1"
PARTS = ("model", "sites", "quality", "seen")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """That of the store."""
    return tmp_path / "store"


def job(folder: Path, urls: list[str], checkpoint_pages: int = 5, **arguments: Any) -> Job:
    """A crawl that keeps all that there is of each page, one after the other."""
    kept = {"MSS_STORE": str(folder), "MSS_WRAPPERS": RULES, "MSS_ONLY_NEW": True}
    settings = {**ADDON, **kept, "MSS_COPIES": "keep", "CONCURRENT_REQUESTS": 1}
    return Job(
        "disturbing" if arguments else "silent",
        {"urls": urls, **arguments},
        settings,
        checkpoint_pages=checkpoint_pages,
    )


def kept_of(folder: Path, urls: list[str]) -> dict[str, int]:
    """Of how many pages each part of the store knows."""
    with closing(SQLiteStore(folder)) as store:
        days = QualityStore(store).sites(0).get(HOST, {})
        return {
            "model": stored_model(folder).bayes.pages,
            "sites": int(SiteStore(store).load(HOST).pages),
            "quality": sum(counts[PAGES] for counts in days.values()),
            "seen": len(SeenStore(store).articles(map(address_key, urls))),
        }


@pytest.mark.any_scrapy("Scrapy 2.13 begins with items later, when more pages have been learned")
def test_a_killed_crawl_loses_at_most_what_came_after_its_last_checkpoint(
    tmp_path: Path, folder: Path, site: Site
) -> None:
    """Killed at its 29th page, with a checkpoint every ten pages."""
    urls = site.urls("wrapped", range(30))

    code = exit_code(tmp_path, job(folder, urls, 10, at=29, disturbance="kill"))
    kept = kept_of(folder, urls)
    (again,) = crawl(tmp_path, [job(folder, urls)])

    assert code == -signal.SIGKILL
    assert kept["model"] == 20
    for part in PARTS:  # a page is learned while it is downloaded, and seen later
        assert 20 - 3 <= kept[part] <= 20, kept
    assert again.mss("train/learned") == 10
    assert len(again.items) == 30 - kept["seen"]
    assert_same_counts(stored_model(folder), learned(range(30)))


@pytest.mark.slow("crawls at once, each in a process of its own")
def test_crawls_at_once_add_up_to_what_one_would_have_kept(
    tmp_path: Path, folder: Path, site: Site
) -> None:
    urls = site.urls("wrapped", range(60))

    def share(number: int) -> Crawl:
        own = tmp_path / str(number)
        own.mkdir()
        (done,) = crawl(own, [job(folder, urls[number::4], checkpoint_pages=3)])
        return done

    with ThreadPoolExecutor(4) as threads:
        crawls = list(threads.map(share, range(4)))

    for done in crawls:
        assert done.error == ""
        assert done.mss("train/learned") == 15
        assert [done.mss(f"{part}/failed") for part in PARTS] == [0] * len(PARTS)
        assert done.logged("ERROR") == []
    assert_same_counts(stored_model(folder), learned(range(60)))
    assert kept_of(folder, urls) == dict.fromkeys(PARTS, 60)
    assert sum(done.mss("model/checkpoints") for done in crawls) > 4


def test_time_alone_brings_a_checkpoint(tmp_path: Path, site: Site) -> None:
    started = time.monotonic()
    timed = fetching(site.urls("slow", range(8)), CONCURRENT_REQUESTS=1, MSS_WRAPPERS=RULES)

    (done,) = crawl(tmp_path, [replace(timed, checkpoint_seconds=0.1)])

    assert time.monotonic() - started > 0.8
    assert done.mss("model/checkpoints") > 1
    assert_same_counts(stored_model(tmp_path / "0.store"), learned(range(8)))


# Stores that fail while a crawl runs


@pytest.mark.any_scrapy("Scrapy 2.13 begins with items later, when more pages have been learned")
def test_a_crawl_whose_store_fails_goes_on_and_says_what_is_lost(
    tmp_path: Path, folder: Path, site: Site
) -> None:
    urls = site.urls("wrapped", range(20))

    (done,) = crawl(tmp_path, [job(folder, urls, at=1, disturbance="block")])

    assert len(done.items) == 20
    assert done.mss("train/learned") == done.mss("model/pages") == 20
    assert done.mss("model/checkpoints") == 0
    assert all(done.mss(f"{part}/failed") >= 2 for part in PARTS)
    (lost,) = done.logged("ERROR")
    assert f"the counts of 20 learned pages ({folder / FILE})" in lost
    for part in ("counts of 1 sites and days", "memory of 1 sites", "that 20 addresses were seen"):
        assert part in lost
    warned = done.logged("WARNING")
    assert len(warned) == len(PARTS)
    assert all("another one in MSS_STORE" in line for line in warned)


def test_nothing_is_lost_where_a_full_disk_has_room_again(
    tmp_path: Path, folder: Path, site: Site
) -> None:
    """At the end of the crawl."""
    urls = site.urls("wrapped", range(20))

    (done,) = crawl(tmp_path, [job(folder, urls, at=8, disturbance="fill")])

    assert len(done.items) == 20
    assert done.mss("model/failed") > 0
    assert "Free space on its disk" in " ".join(done.logged("WARNING"))
    assert done.logged("ERROR") == []
    assert kept_of(folder, urls) == dict.fromkeys(PARTS, 20)


def test_a_store_that_cannot_be_used_stops_the_crawl_at_its_start(
    tmp_path: Path, folder: Path, site: Site
) -> None:
    """With one line that names the store, the fault and the remedy; the store stays as it is."""
    store_model(folder, learned(range(2)))
    rows = {MODEL.key("delta 1"): Row(to_bytes(learned(range(2)))[:-9], 30_000_000)}
    with closing(SQLiteStore(folder)) as store:
        store.write([Change((), lambda _: rows)])
    before = (folder / FILE).read_bytes()

    (done,) = crawl(tmp_path, [job(folder, [site.url("/wrapped/1")])])

    for part in (str(folder), "damaged", "Use a copy"):
        assert part in done.error
    assert "\n" not in done.error
    assert "downloader/request_count" not in done.stats
    assert (folder / FILE).read_bytes() == before
