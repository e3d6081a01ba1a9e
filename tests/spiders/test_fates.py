"""What becomes of announced addresses: each has one fate, whatever happens, and they add up."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from scrapy import Request
from scrapy.statscollectors import StatsCollector
from scrapy.utils.test import get_crawler

from scrapy_mss.crawl.fates import Fates
from scrapy_mss.crawl.site_quality import SiteQuality, this_hour
from scrapy_mss.quality.alarms import DAY
from scrapy_mss.quality.counts import ANNOUNCED, ASKED, FATE, OUT, Counts
from scrapy_mss.quality.fates import BY_NAME, FATES, FED
from scrapy_mss.quality.report import as_json, report_of
from scrapy_mss.quality.store import QualityStore
from scrapy_mss.stats import CrawlStats
from scrapy_mss.storage.checkpoints import Checkpoints
from scrapy_mss.storage.sqlite_store import SQLiteStore
from tests.plugin.crawling import ADDON, Crawl, Job, crawl, crawl_news
from tests.spiders.faulty import ANSWERS, COMPONENTS, LARGE, OTHERWISE, RELEASED, Faulty, path_of
from tests.spiders.paper import printing

GONE = BY_NAME["failed/gone"]
LIMIT = 30
BEYOND = 3  # articles of the large paper
N_SLOW = 30
PLACES = ("feed", "front", "sitemap", "sport")
SETTINGS: dict[str, Any] = {
    **COMPONENTS,
    "DOWNLOAD_MAXSIZE": LARGE,
    "ROBOTSTXT_OBEY": True,
}


class Papers(NamedTuple):
    """One with every fault, one with more than the limit, one that is slow."""

    faulty: Faulty
    large: Faulty
    slow: Faulty


@pytest.fixture
def papers() -> Iterator[Papers]:
    with ExitStack() as stack:
        hosts = ("127.0.0.2", "127.0.0.3", "127.0.0.4")
        found = Papers(*map(Faulty.on, hosts))
        for paper in found:
            stack.enter_context(printing(paper))
        _publish(*found)
        yield found


def _publish(faulty: Faulty, large: Faulty, slow: Faulty) -> None:
    stories = [faulty.publish(n, place) for n, place in enumerate(PLACES)]
    faulty.publish_faults()
    faulty.again = faulty.twice = stories[0]
    faulty.elsewhere = large.url("/elsewhere")
    faulty.moved[faulty.publish(5, "feed")] = stories[0]
    faulty.stories[path_of("dropped/duplicate")] = faulty.stories[stories[0]]
    faulty.publish(6, "feed", hours=24 * 30)
    for number in range(LIMIT + BEYOND):
        # One that another paper prints, too.
        large.publish(100 + number, "feed", words_of=1 if number == 0 else None)
    for number in range(N_SLOW):
        slow.publish(200 + number, "feed")


def fates(counted: Counts) -> Counts:
    found = {name.removeprefix(FATE): n for name, n in counted.items() if name.startswith(FATE)}
    assert sum(found.values()) == counted[ANNOUNCED]
    return Counter(found)


FAULTS = Counter((*ANSWERS, *OTHERWISE))


def crawled(folder: Path, papers: Papers, **settings: Any) -> tuple[Crawl, list[Counts]]:
    """A crawl of the *papers*, and what was counted of each in all crawls of *folder*."""
    sites = ",".join(paper.url("/") for paper in papers)
    done = crawl_news(folder, sites, limit=LIMIT, **SETTINGS, **settings)
    with closing(SQLiteStore(folder / "store")) as opened:
        counted = QualityStore(opened).sites(0)
    return done, [sum(counted[paper.host].values(), Counter()) for paper in papers]


def reported(folder: Path) -> dict[str, dict[str, Any]]:
    """The coverage of each site, as the report has it."""
    with closing(SQLiteStore(folder / "store")) as opened:
        report = as_json(report_of(opened, this_hour()))
    return {site["site"]: site["coverage"] for site in report["sites"]}


@pytest.mark.slow("crawls that wait for timeouts")
@pytest.mark.parametrize("only_new", [True, False])
def test_each_announced_address_has_one_fate_with_every_fault_at_once(
    papers: Papers, tmp_path: Path, *, only_new: bool
) -> None:
    """An article is also behind a redirect, and at another address.

    The crawl is closed when it has got some articles of the slow paper.
    """
    expected = FAULTS + Counter({"article/new": 3 + LIMIT, "article/copy": 1, "dropped/age": 1})
    expected += Counter(["dropped/duplicate", "dropped/duplicate" if only_new else "article/copy"])
    expected["dropped/limit"] = BEYOND
    n_items = sum(n for fate, n in expected.items() if fate.startswith("article/"))
    done, (faulty, large, slow) = crawled(
        tmp_path,
        papers,
        MSS_ONLY_NEW=only_new,
        MSS_WORKERS=int(only_new),
        CLOSESPIDER_ITEMCOUNT=n_items + RELEASED,
        HELD=[papers.slow.host, expected.total() + N_SLOW, N_SLOW + 1],
    )

    assert done.stats["finish_reason"] == "closespider_itemcount"
    assert fates(faulty) + fates(large) == expected
    assert fates(faulty)["article/copy"] + fates(large)["article/copy"] == expected["article/copy"]
    assert fates(slow) == {"article/new": RELEASED, "not_yet": N_SLOW - RELEASED}
    by_stats = Counter({fate: int(done.mss(f"fate/{fate}")) for fate in fates(slow) | expected})
    assert by_stats == fates(slow) + expected
    assert faulty[ASKED] + large[ASKED] == sum(
        n for fate, n in expected.items() if fate.startswith(("article/", "other/", "failed/"))
    )
    assert faulty[OUT] + large[OUT] == n_items
    coverage = reported(tmp_path)[papers.faulty.host]
    assert coverage["fates"] == fates(faulty)
    assert all(each["examples"] for each in coverage["losses"])
    if only_new:
        _test_next(papers, tmp_path, expected, faulty)


def _test_next(papers: Papers, folder: Path, first: Counts, faulty: Counts) -> None:
    """In the next crawl, what has failed fails again, and counts as one loss with the first."""
    papers.slow.stories.clear()
    known = fates(faulty)
    _, (again, large, _slow) = crawled(folder, papers, HELD=["nowhere", 0, 0])
    later = fates(again) - known

    pages = ("failed/challenge", "failed/off_site")  # which were read, and are not due
    failed = Counter({fate: n for fate, n in first.items() if fate.startswith("failed/")})
    failed -= Counter(pages)
    assert Counter({fate: later[fate] for fate in failed}) == failed
    assert later["dropped/ignored"] == known["dropped/ignored"] + known["not_yet"]
    assert (fates(again)["not_yet"], again[ASKED]) == (known["not_yet"], faulty[ASKED])
    assert fates(large)["article/new"] + fates(large)["article/copy"] == LIMIT + BEYOND


def test_a_spider_of_ones_own_marks_what_was_announced(papers: Papers, tmp_path: Path) -> None:
    paths = (next(iter(papers.large.stories)), "/no-story.html")
    urls = [papers.large.url(path) for path in paths]
    settings = {**ADDON, "MSS_STORE": str(tmp_path / "store")}
    marked = {"urls": urls, "meta": {"mss_announced": True}}
    crawl(tmp_path, [Job("silent", each, settings) for each in (marked, {"urls": urls})])

    expected = {"article/new": 1, "failed/gone": 1}
    assert reported(tmp_path)[papers.large.host]["fates"] == expected


def counting_in(store: SQLiteStore, *, only_new: bool) -> tuple[Fates, Checkpoints]:
    """What counts fates, and writes them to the *store*."""
    quality = SiteQuality(QualityStore(store), lambda: DAY)
    numbers = CrawlStats(StatsCollector(get_crawler()))
    counted = Fates(QualityStore(store), quality, numbers, only_new=only_new)
    return counted, Checkpoints(store, [quality, counted])


def test_what_came_out_after_all_is_no_loss(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path)
    counted, checkpoints = counting_in(store, only_new=True)
    for number, later in enumerate((FED, GONE)):
        request = Request(f"https://a.example/{number}", meta={"mss_announced": True})
        counted.announce(request)
        counted.decide(request, GONE)
        counted.decide(request, later)
    checkpoints.close(finished=True)

    losses = QualityStore(store).losses(["a.example"])["a.example"]
    assert [*losses.examples[GONE.name]] == ["https://a.example/1"]
    assert len(losses.keys) == 1


@pytest.mark.parametrize("seed", range(20))
def test_fates_add_up_in_the_store_whenever_a_crawl_is_killed(seed: int, tmp_path: Path) -> None:
    """Whatever is said of addresses, in any order, with checkpoints in between."""
    chance = random.Random(seed)  # noqa: S311 - made-up fates
    store = SQLiteStore(tmp_path)
    counted, checkpoints = counting_in(store, only_new=bool(seed % 2))
    requests = [Request(f"https://a.example/{n}", meta={"mss_announced": True}) for n in range(9)]
    for _ in range(100):
        request = chance.choice(requests)
        counted.announce(request)
        counted.decide(request, chance.choice(FATES))
        if chance.random() < 0.1:
            checkpoints.begin()
            checkpoints.settle()
            stored = sum(QualityStore(store).sites(0)["a.example"].values(), Counter())
            assert fates(stored).total() == stored[ANNOUNCED]
            assert stored[OUT] <= stored[ASKED] <= stored[ANNOUNCED]
            assert all(number >= 0 for number in stored.values())
    checkpoints.close(finished=True)
    assert not counted.has_failed
