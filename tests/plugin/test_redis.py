"""Crawls that share a store on a server, which is killed, or hangs, while they run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from research.benchmarks.redis_server import RedisServer, running
from scrapy_mss.models.files import ModelFile, bundled_model
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import StoredModel
from scrapy_mss.quality.store import QualityStore
from scrapy_mss.sites.store import SiteStore
from scrapy_mss.storage.opening import store_at
from scrapy_mss.storage.redis_store import END_SECONDS
from tests.helpers.redis import client, needs_redis
from tests.plugin.crawling import LONGEST, Crawl, Done, Job, crawl, fetching, run_scrapy
from tests.plugin.models import assert_same_counts, learned
from tests.plugin.site import RULES, Site

pytestmark = needs_redis
NO_CRAWL = pytest.mark.any_scrapy("commands that read and write what is stored; there is no crawl")
TIMEOUTS = pytest.mark.any_scrapy(
    "how long the server's client waits; a crawl whose server goes away runs on each"
)

N_PAGES = 60


def learning(server: RedisServer, urls: list[str], **more: Any) -> Job:
    """A crawl that keeps all that it learns of the pages at *urls* on the server."""
    stored = {"MSS_STORE": server.address(), "MSS_ONLY_NEW": True, "MSS_COPIES": "mark"}
    return replace(fetching(urls, MSS_WRAPPERS=RULES, **stored, **more), checkpoint_pages=3)


def shared_model(server: RedisServer) -> StoredModel:
    return StoredModel(store_at(server.address()), DEFAULT)


@contextmanager
def disturbed(server: RedisServer, disturb: Callable[[], None]) -> Iterator[list[float]]:
    """From the first checkpoint on, *disturb* the server every half a second; when that was."""
    over, moments = threading.Event(), list[float]()

    def go_on() -> None:
        while not client(server).exists("test:model:head") and not over.wait(0.05):
            pass
        while not over.wait(0.5):
            disturb()
            moments.append(time.monotonic())

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield moments
    finally:
        over.set()
        thread.join()


def crawled(
    folder: Path, site: Site, server: RedisServer, disturb: Callable[[], None], **on: str
) -> Crawl:
    """A crawl of slow pages, one after the other, while its *server* is disturbed."""
    job = learning(
        server, site.urls("slow", range(N_PAGES)), CONCURRENT_REQUESTS_PER_DOMAIN=1, **on
    )
    with disturbed(server, disturb) as moments:
        (done,) = crawl(folder, [job])
    assert moments
    assert done.error == ""
    assert done.mss("train/learned") == len(done.items) == N_PAGES
    return done


def test_crawls_share_all_that_they_learn_on_a_server(
    tmp_path: Path, site: Site, server: RedisServer
) -> None:
    urls = site.urls("wrapped", range(20))

    first, second = crawl(tmp_path, [learning(server, urls[:12]), learning(server, urls[8:])])

    assert first.error == second.error == ""
    assert first.mss("train/learned") == 12
    assert second.mss("train/learned") == 8
    assert second.mss("model/pages") == 20
    assert [len(each.items) for each in (first, second)] == [12, 8]
    store = store_at(server.address())
    assert_same_counts(shared_model(server).load(), learned(range(20)))
    assert SiteStore(store).load("127.0.0.1").pages > 0
    ((_, days),) = QualityStore(store).sites(0).items()
    assert sum(counts["pages"] for counts in days.values()) >= 20
    failures = {**first.stats, **second.stats}.items()
    assert [name for name, number in failures if "/failed" in name and number] == []
    assert not list(tmp_path.glob("redis*"))  # no path is made of an address
    pages = bundled_model().bayes.pages + 20
    assert f"default@{pages}p-" in "".join(second.logged("INFO"))


def test_nothing_is_lost_or_counted_twice_if_the_server_is_killed_in_the_crawl(
    tmp_path: Path, site: Site
) -> None:
    with running() as server:
        crawled(tmp_path, site, server, server.restart)
        stored = shared_model(server).load()
        ((_, days),) = QualityStore(store_at(server.address())).sites(0).items()

    assert stored.bayes.pages == len(stored.learned_pages) == N_PAGES
    assert sum(counts["pages"] for counts in days.values()) == N_PAGES


def test_a_crawl_whose_server_goes_away_ends_well_and_says_what_is_lost(
    tmp_path: Path, site: Site
) -> None:
    with running() as server:
        done = crawled(tmp_path, site, server, server.kill)
        server.start()
        stored = shared_model(server).load().bayes.pages

    assert done.mss("model/failed") > 0
    assert done.mss("seen/failed") > 0
    assert sum("articles may come again" in text for text in done.logged("WARNING")) == 1
    (lost,) = done.logged("ERROR")
    assert n_lost(lost) >= N_PAGES - stored > 0


def n_lost(line: str) -> int:
    """The number of learned pages that a crawl says are lost."""
    return int(line.partition(" learned pages")[0].rpartition("the counts of ")[2])


@pytest.mark.slow("waits for a server that does not answer")
@TIMEOUTS
@pytest.mark.parametrize("reactor", ["asyncioreactor.AsyncioSelector", "selectreactor.Select"])
def test_a_server_that_hangs_holds_up_neither_the_crawl_nor_its_end(
    tmp_path: Path, site: Site, reactor: str
) -> None:
    """It accepts connections and answers nothing."""
    on = {"TWISTED_REACTOR": f"twisted.internet.{reactor}Reactor"}
    with running() as server:
        done = crawled(tmp_path, site, server, server.hang, **on)
        server.go_on()
        stored = shared_model(server).load().bayes.pages

    assert done.longest_pause < END_SECONDS / 2  # the event loop does not wait with it
    (lost,) = done.logged("ERROR")
    for part in (
        "learned pages (redis://",
        "memory of 1 sites",
        "addresses were",
        "the counts of 1 sites and days",
    ):
        assert part in lost
    assert n_lost(lost) >= N_PAGES - stored


@TIMEOUTS
def test_a_server_that_is_slow_to_answer_at_the_end_has_all(
    tmp_path: Path, site: Site, server: RedisServer
) -> None:
    """The near miss: what answers is waited for."""
    pause = threading.Thread(target=_hang_shortly, args=(server,))
    pause.start()
    (done,) = crawl(tmp_path, [learning(server, site.urls("wrapped", range(6)))])
    pause.join()

    assert done.logged("ERROR") == []
    assert shared_model(server).load().bayes.pages == 6


def _hang_shortly(server: RedisServer) -> None:
    """Let the server hang for a second from the first checkpoint on."""
    until = time.monotonic() + LONGEST  # or a crawl that fails would never end this thread
    while not client(server).exists("test:model:head") and time.monotonic() < until:
        time.sleep(0.01)
    server.hang()
    time.sleep(1)
    server.go_on()


def refusal(tmp_path: Path, address: str) -> Crawl:
    (done,) = crawl(tmp_path, [fetching([], MSS_STORE=address)])
    return done


def test_a_server_that_cannot_be_used_stops_the_crawl_at_its_start(
    tmp_path: Path, server: RedisServer
) -> None:
    client(server).set("test", "theirs")

    foreign = refusal(tmp_path, server.address())
    absent = refusal(tmp_path, "redis://me:secret@127.0.0.1:1/0?prefix=news")

    assert "expected 'scrapy-mss store" in foreign.error
    assert "redis://127.0.0.1:1/0?prefix=news: no answer from the server" in absent.error
    assert "secret" not in absent.error


@pytest.mark.parametrize(
    "line", ["merge ADDRESS -o redis://h/0", "bulk pages.jsonl -o redis://h/0"]
)
@NO_CRAWL
def test_an_address_is_no_place_for_files(tmp_path: Path, server: RedisServer, line: str) -> None:
    done = scrapy_mss(tmp_path, *line.replace("ADDRESS", server.address()).split())

    assert done.code == 2
    assert "expected a file or folder, got the address of a server" in done.err
    assert not list(tmp_path.glob("redis*"))


@NO_CRAWL
def test_archives_are_read_with_a_model_that_does_not_change_meanwhile(
    tmp_path: Path, server: RedisServer
) -> None:
    pytest.importorskip("fastwarc")
    (tmp_path / "pages.jsonl").write_text("")
    bulk = ["bulk", "pages.jsonl", "-o", "articles", "-m", server.address()]
    shared_model(server).add(learned(range(2)))

    first = scrapy_mss(tmp_path, *bulk)
    shared_model(server).add(learned(range(2, 5)))
    second = scrapy_mss(tmp_path, *bulk)

    assert first.code == second.code == 0
    kept = ModelFile(tmp_path / "articles" / "learned.model", DEFAULT).load()
    assert_same_counts(kept, learned(range(2)))


def scrapy_mss(folder: Path, *arguments: str) -> Done:
    return run_scrapy(folder, "mss", *arguments)
