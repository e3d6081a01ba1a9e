"""Crawls with workers: what comes of them, pages that misbehave, and that no process stays.

The query of an address says what its page does to the process that labels it. Pages that hang have
half a second; no other page is too late on a busy machine.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import scrapy
from scrapy.settings import default_settings

from scrapy_mss.crawl.jobs import PAGES_A_WORKER
from tests.plugin.crawling import Crawl, Job, crawl_all, environment, fetching
from tests.plugin.models import assert_same_counts, learned, stored_model
from tests.plugin.processes import LIMIT, eventually, worker_processes
from tests.plugin.site import RULES, Site, story
from tests.plugin.spiders import ScraperMeter

HELD_BACK = default_settings.CONCURRENT_REQUESTS  # responses at most, with their downloads
N_PAGES, N_QUEUED, N_MANY = 30, 12, 200
FAULTS = {"hang": "timeout", "killed": "crash", "greedy": "memory", "error": "error"}
MISBEHAVING = """
import os, signal, sys, time
sys.modules["py3langid"] = None  # processes start in half the time
from scrapy_mss.crawl.page_work import PageWork
from scrapy_mss.crawl.pool import WorkerPool

sound, sound_answer = PageWork._labelled, WorkerPool._first_answer

def labelled(self, page, wrapper):
    if "hang" in page.url:
        time.sleep(600)
    if "killed" in page.url:
        os.kill(os.getpid(), signal.SIGKILL)
    if "greedy" in page.url:
        held = [bytearray(2**24) for _ in range(100)]
    if "error" in page.url:
        raise ZeroDivisionError(page.url)
    if "slow" in page.url:
        time.sleep(0.2)
    return sound(self, page, wrapper)

def first_answer(self, worker):
    self._seconds = 0.5 if b"?hang" in worker.jobs[0].data else 600
    return sound_answer(self, worker)

PageWork._labelled = labelled
WorkerPool._first_answer = first_answer
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("workers")
    (made / "sitecustomize.py").write_text(MISBEHAVING)
    return made


@pytest.fixture(scope="module")
def crawls(folder: Path, site: Site) -> dict[str, Crawl]:
    urls = site.urls("wrapped", range(N_PAGES))
    slow = [f"{url}?slow" for url in urls[:N_QUEUED]]
    faulty = [f"{urls[0]}?{fault}" for fault in FAULTS]

    def job(name: str, urls: list[str], workers: int, **settings: object) -> Job:
        kept = {"MSS_WRAPPERS": RULES, "MSS_STORE": str(folder / name), "MSS_WORKERS": workers}
        return replace(fetching(urls, **kept, **settings), checkpoint_pages=7)

    many = site.urls("small", range(100, 100 + N_MANY))
    disturbed = {"tests.plugin.spiders.WorkerKiller": 1, "tests.plugin.spiders.ScraperMeter": 1}
    queued, skipped = job("queue", slow, 1), {"mss_skip_extraction": 1}
    asked = {
        "none": job("none", urls, 0),
        "two": job("two", urls, 2),
        "queue": replace(queued, arguments={**queued.arguments, "meta": skipped}),
        "faults": job("faults", [*urls[:4], *faulty, *urls[4:8]], 1, MSS_TIMEOUT=600),
        "killed": job("killed", many, 2, EXTENSIONS=disturbed, MSS_TRAIN=False),
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder))
        return crawl_all(folder, asked)


def test_every_page_is_learned_once_wherever_it_is_labelled(
    crawls: dict[str, Crawl], folder: Path
) -> None:
    for name in ("none", "two"):
        done, stored = crawls[name], stored_model(folder / name)

        assert done.mss("train/seen") == done.mss("train/learned") == N_PAGES
        assert done.mss("wrapper/127.0.0.1/hit") == N_PAGES
        assert done.mss("extract/pages") == done.mss("extract/source/wrapper") == N_PAGES
        assert done.mss("train/tokens") == crawls["none"].mss("train/tokens") > 0
        assert_same_counts(stored, learned(range(N_PAGES)))
        assert len(stored.learned_pages) == N_PAGES


def test_items_do_not_depend_on_workers(crawls: dict[str, Crawl]) -> None:
    here, elsewhere = (
        {url: {**fields, "crawled": ""} for url, fields in crawls[name].by_url().items()}
        for name in ("none", "two")
    )

    assert len(here) == N_PAGES
    assert elsewhere == here


def test_pages_in_the_queue_are_learned_before_the_crawl_closes(
    crawls: dict[str, Crawl], folder: Path
) -> None:
    assert crawls["queue"].mss("train/learned") == N_QUEUED
    assert_same_counts(stored_model(folder / "queue"), learned(range(N_QUEUED)))


def test_pages_that_misbehave_are_given_up_and_logged_once_and_the_others_learned(
    crawls: dict[str, Crawl], folder: Path
) -> None:
    done = crawls["faults"]

    for fault, reason in FAULTS.items():
        assert done.mss(f"train/refused/{reason}") == done.mss(f"extract/failed/{reason}") == 1
        assert not [url for url in done.by_url() if fault in url]
    assert done.mss("train/learned") == len(done.items) == 8
    assert_same_counts(stored_model(folder / "faults"), learned(range(8)))
    assert done.stats["finish_reason"] == "finished"
    assert len([text for text in done.logged("WARNING") if "gave up on" in text]) == 3
    (error,) = done.logged("ERROR")
    assert "?error" in error
    assert "ZeroDivisionError" in error


def test_a_worker_that_is_killed_fails_at_most_its_page(crawls: dict[str, Crawl]) -> None:
    done = crawls["killed"]

    assert done.mss("extract/failed/crash") <= 1
    assert len(done.items) == N_MANY - done.mss("extract/failed/crash")


@pytest.mark.skipif(
    scrapy.version_info < (2, 14),
    reason="Scrapy 2.13 begins with items later, so that more pages are let through before",
)
def test_downloads_wait_for_the_workers(crawls: dict[str, Crawl]) -> None:
    """Two workers start for a second or more, in which all pages would be downloaded.

    When half of what the workers may have is done, all responses that were held back are let
    through at once: as many as Scrapy has requests in its downloader, which hold their place
    there. The pages let through before may still be in the scraper: most of them read, and none
    of their items out, if that happened in one turn of the event loop; they were as many again,
    beside the other half of what the workers may have.
    """
    in_scraper = crawls["killed"].stats[ScraperMeter.STAT]
    half = 2 * PAGES_A_WORKER // 2
    assert 0 < in_scraper <= half + 2 * HELD_BACK < N_MANY / 2


def test_crawls_without_misbehaving_pages_log_nothing_and_leave_no_process(
    crawls: dict[str, Crawl], folder: Path
) -> None:
    for name in ("none", "two", "queue"):
        assert crawls[name].logged("ERROR") == crawls[name].logged("WARNING") == [], name
    assert worker_processes(folder) == []


# As people run them

UNGUARDED = """
import sys
from scrapy.crawler import CrawlerProcess
from tests.plugin.crawling import ADDON, QUIET
from tests.plugin.site import RULES
from tests.plugin.spiders import Silent

print("the script runs", flush=True)
feeds = {"items.jsonl": {"format": "jsonlines"}}
ours = {**ADDON, "MSS_WORKERS": 2, "MSS_STORE": "store", "MSS_WRAPPERS": RULES}
process = CrawlerProcess({**QUIET, **ours, "FEEDS": feeds})
process.crawl(Silent, urls=sys.argv[1:])
process.start()
"""


@contextmanager
def script(folder: Path, urls: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A script that crawls *urls*, while it runs."""
    (folder / "unguarded.py").write_text(UNGUARDED)
    with subprocess.Popen(
        [sys.executable, "unguarded.py", *urls],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        yield process


def test_a_script_needs_no_guard(tmp_path: Path, site: Site) -> None:
    """Workers are no copies of the script, so nothing in it runs twice."""
    with script(tmp_path, site.urls("plain", range(4))) as process:
        printed, log = process.communicate(timeout=LIMIT)

    assert process.returncode == 0, log
    lines = (tmp_path / "items.jsonl").read_text().splitlines()
    assert len(lines) == 4
    assert any(story("plain", 3).paragraphs[0] in line for line in lines)
    assert printed.count("the script runs") == 1
    assert worker_processes(tmp_path) == []


@pytest.mark.slow("a crawl that is interrupted")
def test_an_interrupted_crawl_learns_what_it_has_fetched(tmp_path: Path, site: Site) -> None:
    with script(tmp_path, site.urls("slow", range(400))) as process:
        assert process.stderr is not None
        for _ in range(6):
            while "Crawled (200)" not in process.stderr.readline():
                pass
        process.send_signal(signal.SIGINT)
        _, log = process.communicate(timeout=LIMIT)

    counted = {name: int(n) for name, n in re.findall(r"'mss/train/(seen|learned)': (\d+)", log)}
    assert 6 <= counted["learned"] == counted["seen"] < 400
    assert stored_model(tmp_path / "store").bayes.pages == counted["learned"]


@pytest.mark.slow("a crawl that is killed")
def test_workers_end_when_the_crawl_is_killed(tmp_path: Path, site: Site) -> None:
    with script(tmp_path, site.urls("slow", range(400))) as process:
        began = eventually(lambda: len(worker_processes(tmp_path)) == 2)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()

    assert began
    assert process.returncode == -signal.SIGKILL
    assert eventually(lambda: worker_processes(tmp_path) == [])
