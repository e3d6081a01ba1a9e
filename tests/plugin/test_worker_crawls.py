"""Crawls with workers: what comes of them, and that no process stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import scrapy

from scrapy_mss.article import ModelState, read_article
from scrapy_mss.crawl.jobs import PAGES_A_WORKER
from scrapy_mss.models.bundled import with_bundled
from scrapy_mss.models.model import Model
from tests.plugin.crawling import ADDON, QUIET, Crawl, Job, crawl, environment
from tests.plugin.models import assert_same_counts, learned, store_model, stored_model
from tests.plugin.processes import LIMIT, eventually, worker_processes
from tests.plugin.site import RULES, Site, plain, story
from tests.plugin.spiders import ScraperMeter

DOWNLOADS = QUIET["CONCURRENT_REQUESTS_PER_DOMAIN"]  # at once, in crawls of these tests
PLAIN = range(24)
N_BIG = 2
HANGS = {"EXTENSIONS": {"tests.plugin.spiders.HangingWorkers": 0}}
N_MIXED = 30
N_MANY = 200


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("workers")


@pytest.fixture(scope="module")
def crawls(folder: Path, site: Site, trained_once: Model) -> dict[str, Crawl]:
    store_model(folder / "store", trained_once)
    mixed = [site.url(f"/{kind}/{n}") for n in range(N_MIXED) for kind in ("slow", "long")]
    urls, big = site.urls("plain", PLAIN), site.urls("big", range(N_BIG))
    known = {
        **ADDON,
        "MSS_STORE": str(folder / "store"),
        "MSS_TRAIN": False,
        "MSS_WORKERS": 2,
        "MSS_SITE_MEMORY": 0,
    }
    killer = {"EXTENSIONS": {"tests.plugin.spiders.WorkerKiller": 1}}
    meter = {"EXTENSIONS": {"tests.plugin.spiders.ScraperMeter": 1}}
    asked = {
        "none": Job(arguments={"urls": urls}, settings={**known, "MSS_WORKERS": 0}),
        "two": Job(arguments={"urls": urls}, settings=known),
        "big": Job(
            arguments={"urls": big + urls},
            settings={**known, **HANGS, "MSS_TIMEOUT": 2},
        ),
        "at once": Job(arguments={"urls": big}, settings={**known, "MSS_TIMEOUT": 0.001}),
        "learning": Job(
            arguments={"urls": mixed},
            settings={
                **known,
                "MSS_STORE": str(folder / "learning"),
                "MSS_TRAIN": True,
                "MSS_WRAPPERS": RULES,
                "CONCURRENT_REQUESTS": 1,
            },
        ),
        "killed": Job(arguments={"urls": urls}, settings={**known, **killer}),
        "many": Job(
            arguments={"urls": site.urls("small", range(N_MANY))}, settings={**known, **meter}
        ),
    }
    return dict(zip(asked, crawl(folder, asked.values()), strict=True))


def articles(done: Crawl) -> dict[str, dict[str, object]]:
    return {url: {**fields, "crawled": ""} for url, fields in done.by_url().items()}


def test_a_crawl_with_workers_gives_the_same_items(crawls: dict[str, Crawl]) -> None:
    assert len(crawls["none"].items) == len(PLAIN)
    assert articles(crawls["two"]) == articles(crawls["none"])


@pytest.mark.skipif(
    scrapy.version_info < (2, 14),
    reason="Scrapy 2.13 begins with items later, so that more pages are let through before",
)
def test_downloads_wait_for_the_workers(crawls: dict[str, Crawl]) -> None:
    """Two workers start for a second or more, in which all pages would be downloaded.

    Beyond what the workers have there are pages that were let through before theirs began.
    """
    in_scraper = crawls["many"].stats[ScraperMeter.STAT]
    assert 0 < in_scraper <= 2 * PAGES_A_WORKER + 3 * DOWNLOADS < N_MANY / 2


def test_an_item_names_the_state_of_the_model_that_read_its_page(crawls: dict[str, Crawl]) -> None:
    """Pages come one by one, so that what each state has learned is known; reading takes longer."""
    done = crawls["learning"].by_url()
    of_model = {url: fields for url, fields in done.items() if "/long/" in url}
    order = [int(url.rpartition("/")[2]) for url in done if "/slow/" in url]
    states = {}
    for n in range(len(order) + 1):
        model = with_bundled(learned(order[:n]))
        states[f"mss:{model.identifier}"] = model

    assert len(of_model) == len(order) == N_MIXED
    for url, fields in of_model.items():
        html = plain(int(url.rpartition("/")[2]), paragraphs=1_000)
        expected = read_article(html, url, ModelState.of(states[fields["extractor"]]))
        assert expected.article is not None
        assert fields["probability"] == expected.article.probability


def test_pages_that_take_too_long_are_counted_and_the_crawl_goes_on(
    crawls: dict[str, Crawl], site: Site
) -> None:
    done = crawls["big"]

    late = done.mss("extract/failed/timeout")
    assert late >= N_BIG
    assert done.mss("extract/articles") + late == N_BIG + len(PLAIN)
    assert done.mss("extract/articles") >= len(PLAIN) / 2
    assert not set(site.urls("big", range(N_BIG))) & set(done.by_url())
    assert done.stats["finish_reason"] == "finished"


def test_a_crawl_whose_pages_all_take_too_long_finishes(crawls: dict[str, Crawl]) -> None:
    done = crawls["at once"]

    assert done.items == []
    assert done.mss("extract/failed/timeout") == N_BIG
    assert len([text for text in done.logged("WARNING") if "gave up on" in text]) == N_BIG


def test_a_worker_that_is_killed_costs_a_crawl_at_most_its_page(crawls: dict[str, Crawl]) -> None:
    done = crawls["killed"]

    assert done.mss("extract/failed/crash") <= 1
    assert len(done.items) == len(PLAIN) - done.mss("extract/failed/crash")


def test_no_process_is_left_after_the_crawls(crawls: dict[str, Crawl], folder: Path) -> None:
    assert worker_processes(folder) == []


def test_no_crawl_logs_an_error(crawls: dict[str, Crawl]) -> None:
    for name, done in crawls.items():
        assert done.error == "", name
        assert done.logged("ERROR") == [], name


# As people run them

UNGUARDED = """
import sys
from scrapy.crawler import CrawlerProcess
from tests.plugin.crawling import ADDON, QUIET
from tests.plugin.spiders import Silent

print("the script runs", flush=True)
feeds = {"items.jsonl": {"format": "jsonlines"}}
process = CrawlerProcess({**QUIET, **ADDON, "MSS_WORKERS": 2, "MSS_STORE": "store", "FEEDS": feeds})
process.crawl(Silent, urls=sys.argv[1:])
process.start()
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "unguarded.py"
    path.write_text(UNGUARDED)
    return path


def test_a_script_needs_no_guard(script: Path, site: Site) -> None:
    """Workers are no copies of the script, so nothing in it runs twice."""
    done = subprocess.run(
        [sys.executable, str(script), *site.urls("plain", range(4))],
        cwd=script.parent,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=True,
    )

    lines = (script.parent / "items.jsonl").read_text().splitlines()
    assert len(lines) == 4
    assert any(story("plain", 3).paragraphs[0] in line for line in lines)
    assert done.stdout.count("the script runs") == 1
    assert worker_processes(script.parent) == []


def test_workers_end_when_the_crawl_is_killed(script: Path, site: Site) -> None:
    urls = site.urls("slow", range(400))
    with subprocess.Popen(
        [sys.executable, str(script), *urls],
        cwd=script.parent,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        began = eventually(lambda: len(worker_processes(script.parent)) == 2)
        os.kill(process.pid, signal.SIGKILL)

    assert began
    assert process.returncode == -signal.SIGKILL
    assert eventually(lambda: worker_processes(script.parent) == [])


def test_a_model_is_not_touched_by_workers(folder: Path, crawls: dict[str, Crawl]) -> None:
    assert_same_counts(stored_model(folder / "store"), learned(range(60)))
