"""Quality by site and day in real crawls: what is counted, and what tells of a decline."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from email.message import Message
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from scrapy_mss.crawl import site_quality
from scrapy_mss.crawl.site_quality import this_hour
from scrapy_mss.quality.alarms import DAY
from scrapy_mss.quality.counts import (
    ARTICLES,
    LABELLED,
    PAGES,
    TRIED,
    WRAPPED,
    Counts,
    of_answer,
    of_new,
)
from scrapy_mss.quality.store import QualityStore, SiteDay
from scrapy_mss.storage.sqlite_store import SQLiteStore
from scrapy_mss.storage.tables import Change
from tests.helpers.checkpoints import alone, checkpoints_of, finish
from tests.helpers.local_server import Answer, answering
from tests.plugin.crawling import Crawl, Done, Job, crawl_all, crawl_news, fetching, run_scrapy
from tests.plugin.site import RULES, Site
from tests.spiders.paper import Paper, printing

HOST = "127.0.0.1"
N = 24  # pages of a crawl, which are enough to be evaluated
SPIDERMON: dict[str, Any] = {
    "SPIDERMON_ENABLED": True,
    "EXTENSIONS": {"spidermon.contrib.scrapy.extensions.Spidermon": 500},
    "SPIDERMON_SPIDER_CLOSE_MONITORS": ["scrapy_mss.monitors.QualitySuite"],
}
# As pages of this site were, except for the image, which they have never had.
USUAL = Counter(dict.fromkeys((PAGES, ARTICLES, "title", "authors", "published"), 200))
YESTERDAY = this_hour() // DAY - 1


def put(store: Path, counted: Mapping[SiteDay, Counts]) -> None:
    with closing(SQLiteStore(store)) as opened:
        QualityStore(opened).add(counted)


def counts_in(store: Path) -> Counts:
    """What was counted of the site on all days."""
    with closing(SQLiteStore(store)) as opened:
        found = QualityStore(opened).sites(0)
    assert found.keys() == {HOST}
    return sum(found[HOST].values(), Counter())


def job(site: Site, store: Path, kind: str = "plain", **settings: Any) -> Job:
    return fetching(site.urls(kind, range(N)), MSS_STORE=str(store), **settings)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of the stores, each of which has the name of its crawl."""
    return tmp_path_factory.mktemp("quality")


@pytest.fixture(scope="module")
def crawls(folder: Path, site: Site) -> dict[str, Crawl]:
    put(folder / "usual", {(HOST, YESTERDAY): USUAL})
    put(folder / "fallen", {(HOST, YESTERDAY): USUAL | Counter({"main_image": 198})})
    rule = [{"site": HOST, "body": "article.story", "title": "h1"}]
    failing = job(site, folder / "failing", **SPIDERMON)
    unfilled = {"scrapy_mss.pipelines.ArticlePipeline": None}
    disturbed = {**failing.arguments, "at": 1, "disturbance": "block"}
    asked = {
        "labelled": job(site, folder / "labelled", "wrapped", MSS_WRAPPERS=RULES, MSS_WORKERS=1),
        "first": job(site, folder / "several"),
        "off": job(site, folder / "several", MSS_REPORT="off"),
        "last": job(site, folder / "several"),
        "usual": job(site, folder / "usual", **SPIDERMON),
        "without the pipeline": job(
            site, folder / "unfilled", **SPIDERMON, ITEM_PIPELINES=unfilled
        ),
        "fallen": job(site, folder / "fallen", **SPIDERMON),
        "failing": Job("disturbing", disturbed, failing.settings),
        # Two crawls of one day, of pages before a redesign and of pages after it.
        "before": job(site, folder / "redesigned", "wrapped", MSS_WRAPPERS=rule),
        "after": job(site, folder / "redesigned", "plain", MSS_WRAPPERS=rule),
    }
    return crawl_all(folder, asked)


def test_pages_are_counted_once_with_what_their_rule_selects(
    crawls: dict[str, Crawl], folder: Path
) -> None:
    found = counts_in(folder / "labelled")

    for measure in (PAGES, ARTICLES, WRAPPED, LABELLED, "title", "authors", "published"):
        assert found[measure] == N, measure
    assert sum(count for measure, count in found.items() if measure.startswith("place/")) == N
    assert found["field/title"] == N


def test_crawls_add_up_and_counting_can_be_turned_off(
    crawls: dict[str, Crawl], folder: Path
) -> None:
    assert counts_in(folder / "several")[PAGES] == 2 * N


def spidermon(done: Crawl, level: str) -> list[str]:
    return [line for line in done.logged(level) if "[Spidermon]" in line]


@pytest.mark.parametrize("name", ["usual", "without the pipeline"])
def test_a_site_that_is_as_it_was_is_no_alarm(crawls: dict[str, Crawl], name: str) -> None:
    """Whatever evaluates it does so before Spidermon looks, which else fails."""
    done = crawls[name]

    assert done.stats["mss/quality/alarms"] == 0
    assert not done.logged("WARNING")
    assert any("OK" in line for line in spidermon(done, "INFO"))
    assert not spidermon(done, "ERROR")


def test_a_decline_is_reported_by_log_stats_and_spidermon(crawls: dict[str, Crawl]) -> None:
    done = crawls["fallen"]

    (line,) = (line for line in done.logged("WARNING") if "quality" in line)
    assert line == (
        f"scrapy-mss: quality has declined on {HOST}: articles with an image: 99% to 0% (of {N})"
    )
    assert done.mss("quality/alarms") == done.mss(f"quality/alarm/{HOST}/main_image") == 1
    failed = spidermon(done, "ERROR")
    assert any(f"alarms: {HOST}/main_image" in line for line in failed), failed


def test_a_store_that_fails_in_the_crawl_is_reported_by_spidermon(
    crawls: dict[str, Crawl],
) -> None:
    done = crawls["failing"]

    assert len(done.items) == N
    assert done.mss("quality/failed") >= 1
    assert sum("quality counts cannot be stored" in line for line in done.logged("WARNING")) == 1
    failed = spidermon(done, "ERROR")
    assert any("the store of the quality of sites failed" in line for line in failed)


def test_a_redesign_is_in_the_report_of_the_same_day(
    crawls: dict[str, Crawl], folder: Path
) -> None:
    printed = report(folder, "redesigned")

    assert [crawls[name].mss("quality/alarms") > 0 for name in ("before", "after")] == [False, True]
    declined = "quality has declined on 127.0.0.1: pages that the site's rule matches: 100% to 0%"
    assert any(declined in line for line in crawls["after"].logged("WARNING"))
    assert printed.code == 1
    for what in ("fewer pages that the site's rule matches", "the layout has changed"):
        assert f"127.0.0.1: {what} (since " in printed.out


def test_the_report_says_what_the_labels_of_a_site_taught(
    crawls: dict[str, Crawl], folder: Path
) -> None:
    (row,) = json.loads(report(folder, "redesigned", "--json").out)["sites"]
    report(folder, "redesigned", "-o", "page.html")
    shown = (folder / "page.html").read_text(encoding="utf-8")
    info = run_scrapy(folder, "mss", "info", "--site", "127.0.0.1", "redesigned").out

    learned, crawled = row["learned"], [crawls[name] for name in ("before", "after")]
    assert learned["pages"] == sum(each.mss("train/learned") for each in crawled) > 0
    assert f"Labels: {learned['pages']:,.0f} pages, F1 " in shown
    assert f"labels     {learned['pages']:,.0f} pages, F1 " in info


# The command


def report(folder: Path, store: str, *arguments: str, sites: str = "") -> Done:
    named = ["-s", f"MSS_SITES={sites}"] if sites else []
    return run_scrapy(folder, "mss", *named, "report", "-s", store, *arguments)


def rows(folder: Path, sites: str = "") -> dict[str, dict[str, Any]]:
    found = json.loads(report(folder, "store", "--json", sites=sites).out)
    return {row["site"]: row for row in found["sites"]}


def test_the_exit_code_of_the_report_says_whether_something_has_declined(tmp_path: Path) -> None:
    today = YESTERDAY + 1
    put(tmp_path / "store", {(HOST, day): USUAL for day in (YESTERDAY, today)})
    good, as_json = report(tmp_path, "store"), report(tmp_path, "store", "--json")
    put(tmp_path / "store", {(HOST, today): Counter({PAGES: 9_000, ARTICLES: 9_000})})
    declined = report(tmp_path, "store", "-o", "page.html")

    page = tmp_path / "mss-report.html"
    assert (good.code, good.err) == (0, "")
    assert good.out == f"0 of 1 sites have alarms; the report is {page}\n"
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert as_json.code == 0
    assert json.loads(as_json.out)["sites"][0]["articles"] == 400
    assert declined.code == 1
    assert f"{HOST}: articles with a title: 100% to 2% (of 9,200)" in declined.out
    assert HOST in (tmp_path / "page.html").read_text(encoding="utf-8")


# Every site of the list is accounted for

FOUND: Answer = (200, {}, b"")
FORBIDDING: Answer = (200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow: /\n")


def silence(stopped: Event, *_: object) -> Answer:
    stopped.wait(60)
    return FOUND


def moved(url: str) -> Answer:
    return 302, {"Location": url}, b""


def test_sites_that_fail_from_the_first_day_are_alarms_after_the_first_crawl(
    tmp_path: Path,
) -> None:
    paper = Paper(host="127.0.0.1")
    paper.publish(1, "feed")
    stopped = Event()
    with ExitStack() as servers:

        def at(host: str, answer: Answer) -> str:
            return f"{servers.enter_context(answering(lambda *_: answer, host))}/"

        servers.enter_context(printing(paper))
        consent = at("127.0.0.9", FOUND)
        closed = at("127.0.0.7", FOUND)
        silent = servers.enter_context(answering(partial(silence, stopped), "127.0.0.6"))
        slow = f"{silent}/robots.txt-news/"  # its errors name it
        sites = [
            paper.url("/"),
            at("127.0.0.2", (500, {}, b"")),
            at("127.0.0.3", moved(f"{consent}consent?return=1")),
            at("127.0.0.4", FORBIDDING),
            "http://nowhere.invalid/",
            closed.replace("127.0.0.7", "127.0.0.8"),
            at("127.0.0.5", moved("/again")),
            at("127.0.0.10", FOUND),
            "http://127.99/",  # a name of 127.0.0.99, which the list does not have
        ]
        servers.callback(stopped.set)
        strict = {"ROBOTSTXT_OBEY": True, "DNS_TIMEOUT": 5}
        found = crawl_news(tmp_path, ",".join(sites), **SPIDERMON, **strict)
        other = crawl_news(tmp_path, slow, DOWNLOAD_TIMEOUT=1)
    listed = ",".join([*sites, slow, "https://later.example/"])
    printed = report(tmp_path, "store", sites=listed)
    of = rows(tmp_path, listed)

    errors = {
        "127.0.0.2": "HTTP 500",
        "127.0.0.3": "redirected to 127.0.0.9",
        "127.0.0.4": "forbidden by robots.txt",
        "nowhere.invalid": "DNS: host not found",
        "127.0.0.6": "timeout",
        "127.0.0.8": "connection refused",
        "127.99": "refused: its host is not public, see the log",
        "127.0.0.5": None,
    }
    assert {site: of[site]["error"] for site in errors} == errors
    for site, error in errors.items():
        (alarm,) = of[site]["alarms"]
        reason = error or "no response, or redirects without end"
        assert (alarm["measure"], of[site]["last_success"]) == ("unreachable", None)
        assert f"{site}: never answered: {reason}" in printed.out
        warning = f"scrapy-mss: {site}: never answered: {reason} (since "
        of_site = other if site == "127.0.0.6" else found
        assert any(line.startswith(warning) for line in of_site.logged("WARNING"))
        assert of_site.mss(f"quality/alarm/{site}/unreachable") == 1
    assert [alarm["measure"] for alarm in of["127.0.0.10"]["alarms"]] == ["empty"]
    good = of["127.0.0.1"]
    assert (good["articles"], good["alarms"], good["error"]) == (1, [], None)
    assert good["lists"] > 1
    assert good["last_success"]
    later = of["later.example"]
    assert (later["last_success"], later["error"], later["alarms"]) == (None, None, [])
    assert printed.code == 1
    assert len(of) == len(sites) + 2
    assert found.mss("quality/alarms") == len(errors)  # with that of the empty one, not of the slow
    failed = [line for line in found.logged("ERROR") if "[Spidermon]" in line]
    assert any("127.0.0.2/unreachable" in line for line in failed)


@pytest.mark.slow("lists that wait for one another")
def test_a_site_that_redirects_all_to_one_address_says_where_whichever_list_is_first(
    tmp_path: Path,
) -> None:
    """The front page is redirected when the redirect of robots.txt was followed."""

    def redirecting(path: str, _: Message) -> Answer:
        time.sleep(0 if path == "/robots.txt" else 0.5)
        return moved("http://127.0.0.9:1/consent")

    with answering(redirecting, "127.0.0.3") as site:
        crawl_news(tmp_path, f"{site}/")

    assert rows(tmp_path)["127.0.0.3"]["error"] == "redirected to 127.0.0.9"


def remember(folder: Path, site: str, *, until: int, a_day: int = 10) -> None:
    """Four weeks of crawls every hour, and *a_day* new articles in the first hours of each day."""
    counted: dict[tuple[str, int], Counter[str]] = {}
    for hour in range(until - 28 * DAY, until + 1):
        counts = counted.setdefault((site, hour // DAY), Counter())
        counts.update({TRIED: 1, **of_answer(hour % DAY)})
        if (until - hour) % DAY < a_day:
            counts.update({PAGES: 1, ARTICLES: 1, **of_new(hour % DAY)})
    put(folder / "store", counted)


def test_a_site_that_falls_silent_is_an_alarm_within_a_day(tmp_path: Path) -> None:
    """Of two sites with ten articles a day, one had its last a day ago, the other just now."""
    now = this_hour()
    remember(tmp_path, "127.0.0.1", until=now - DAY)
    remember(tmp_path, "127.0.0.2", until=now - 1)
    frozen, alive = Paper(host="127.0.0.1"), Paper(host="127.0.0.2")
    with printing(frozen), printing(alive):
        found = crawl_news(tmp_path, f"{frozen.url('/')},{alive.url('/')}")
    printed = report(tmp_path, "store")

    (alarm,) = rows(tmp_path)["127.0.0.1"]["alarms"]
    assert alarm["measure"] == "silent"
    assert "127.0.0.1: no new article for 2" in printed.out  # 24 hours, or 25
    assert rows(tmp_path)["127.0.0.2"]["alarms"] == []
    assert (printed.code, found.mss("quality/alarms")) == (1, 1)


# What a crawl counts before it is stored


def quality_in(store: SQLiteStore) -> site_quality.SiteQuality:
    return alone(site_quality.SiteQuality(QualityStore(store)), store)


def pages_in(store: SQLiteStore) -> dict[str, int]:
    """How many pages of each site were counted."""
    found = QualityStore(store).sites(0)
    return {site: sum(day[PAGES] for day in days.values()) for site, days in found.items()}


def test_sites_that_are_counted_go_on_when_there_is_no_room_for_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site_quality, "MAX_SITES", 2)
    store = SQLiteStore(tmp_path)
    quality = quality_in(store)

    for host in ("a.example", "b.example", "c.example", "a.example", "b.example"):
        quality.page(f"https://{host}/1", None)
    finish(quality)

    assert pages_in(store) == {"a.example": 2, "b.example": 2}


class SlowStore(SQLiteStore):
    """Writes when `go_on` is set, like a server that does not answer."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.go_on = Event()

    def write(self, changes: Sequence[Change]) -> None:
        assert self.go_on.wait(60)
        super().write(changes)


def test_the_end_of_a_crawl_does_not_wait_long_for_what_has_declined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The event loop waits for it, that of other crawls in the process, too."""
    monkeypatch.setattr(site_quality, "EVALUATION_SECONDS", 0.05)
    store = SlowStore(tmp_path)
    quality = quality_in(store)
    quality.page("https://a.example/1", None)

    assert quality.evaluated_at_once() == []

    assert quality.failures == 1
    assert "no answer in 0.05 seconds" in caplog.text
    store.go_on.set()
    asyncio.run(checkpoints_of(quality).finish(finished=True))
    finish(quality)
    assert pages_in(store) == {"a.example": 1}
