"""Every site of the list is accounted for: real crawls of sites that fail in each way."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from scrapy_mss.crawl.site_quality import this_hour
from scrapy_mss.quality.counts import ARTICLES, PAGES, TRIED, Counts, of_answer, of_new
from scrapy_mss.quality.incidents import DAY
from scrapy_mss.quality.store import QualityStore, SiteDay
from scrapy_mss.storage.sqlite_store import SQLiteStore
from tests.plugin.crawling import ADDON, Crawl, Done, Job, crawl, run_scrapy
from tests.plugin.site import Site
from tests.plugin.test_quality import SPIDERMON
from tests.spiders.paper import Paper, printing

KINDS = ("wrapped", "plain")  # of pages, before a redesign and after it
Answer = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def answering(host: str, answer: Answer) -> Iterator[str]:
    """The address of a server at *host* that answers each request with *answer*."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            """Say nothing."""

    server = ThreadingHTTPServer((host, 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://{host}:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def with_status(status: int, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def forbidding(handler: BaseHTTPRequestHandler) -> None:
    body = b"User-agent: *\nDisallow: /\n"
    handler.send_response(200)
    handler.send_header("Content-Type", "text/plain")
    handler.end_headers()
    handler.wfile.write(body)


def waiting(stopped: threading.Event) -> Answer:
    def answer(_: BaseHTTPRequestHandler) -> None:
        stopped.wait(60)

    return answer


@pytest.fixture
def stopped() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def read(folder: Path, sites: list[str], **settings: Any) -> Crawl:
    values = {
        "MSS_STORE": str(folder / "store"),
        "MSS_WORKERS": 0,
        "DNS_TIMEOUT": 5,
        **settings,
    }
    found, *_ = crawl(folder, [Job("news", {"sites": ",".join(sites)}, values)])
    assert not found.error
    return found


def report(folder: Path, *arguments: str, sites: str = "") -> Done:
    named = ["-s", f"MSS_SITES={sites}"] if sites else []
    return run_scrapy(folder, "mss", *named, "report", "-s", "store", *arguments)


def rows(folder: Path, sites: str = "") -> dict[str, dict[str, Any]]:
    found = json.loads(report(folder, "--json", sites=sites).out)
    return {row["site"]: row for row in found["sites"]}


def test_sites_that_fail_from_the_first_day_are_alarms_after_the_first_crawl(
    tmp_path: Path, stopped: threading.Event
) -> None:
    paper = Paper(host="127.0.0.1")
    paper.tell(1, "feed")
    with ExitStack() as servers:

        def at(host: str, answer: Answer) -> str:
            return servers.enter_context(answering(host, answer))

        servers.enter_context(printing(paper))
        consent = at("127.0.0.9", with_status(200))
        closed = at("127.0.0.7", with_status(200))
        slow = f"{at('127.0.0.6', waiting(stopped))}robots.txt-news/"  # its errors name it
        sites = [
            paper.url("/"),
            at("127.0.0.2", with_status(500)),
            at("127.0.0.3", with_status(302, Location=f"{consent}consent?return=1")),
            at("127.0.0.4", forbidding),
            "http://nowhere.invalid/",
            closed.replace("127.0.0.7", "127.0.0.8"),
            at("127.0.0.5", with_status(302, Location="/again")),
            at("127.0.0.10", with_status(200)),
            "http://127.99/",  # a name of 127.0.0.99, which the list does not have
        ]
        found = read(tmp_path, sites, ROBOTSTXT_OBEY=True, **SPIDERMON)
        other = read(tmp_path, [slow], DOWNLOAD_TIMEOUT=1)
        stopped.set()
    listed = ",".join([*sites, slow, "https://later.example/"])
    told = report(tmp_path, sites=listed)
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
        assert f"{site}: never answered: {reason}" in told.out
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
    assert told.code == 1
    assert len(of) == len(sites) + 2
    assert found.mss("quality/alarms") == len(errors)  # with that of the empty one, not of the slow
    failed = [line for line in found.logged("ERROR") if "[Spidermon]" in line]
    assert any("127.0.0.2/unreachable" in line for line in failed)


@pytest.mark.slow("lists that wait for one another")
def test_a_site_that_redirects_all_to_one_address_says_where_whichever_list_is_first(
    tmp_path: Path,
) -> None:
    asked = threading.Event()

    def consent(handler: BaseHTTPRequestHandler) -> None:
        asked.set()
        with_status(200)(handler)

    with answering("127.0.0.9", consent) as elsewhere:

        def redirecting(handler: BaseHTTPRequestHandler) -> None:
            if handler.path != "/robots.txt":
                asked.wait(10)
            with_status(302, Location=f"{elsewhere}consent")(handler)

        with answering("127.0.0.3", redirecting) as site:
            read(tmp_path, [site])

    assert rows(tmp_path)["127.0.0.3"]["error"] == "redirected to 127.0.0.9"


def put(folder: Path, counted: Mapping[SiteDay, Counts]) -> None:
    with closing(SQLiteStore(folder / "store")) as store:
        QualityStore(store).add(counted)


def remember(folder: Path, site: str, *, until: int, a_day: int = 10) -> None:
    """Four weeks of crawls every hour, and *a_day* new articles in the first hours of each day."""
    counted: dict[tuple[str, int], Counter[str]] = {}
    for hour in range(until - 28 * DAY, until + 1):
        counts = counted.setdefault((site, hour // DAY), Counter())
        counts.update({TRIED: 1, **of_answer(hour % DAY)})
        if (until - hour) % DAY < a_day:
            counts.update({PAGES: 1, ARTICLES: 1, **of_new(hour % DAY)})
    put(folder, counted)


def test_a_site_that_falls_silent_is_an_alarm_within_a_day(tmp_path: Path) -> None:
    """Of two sites with ten articles a day, one had its last a day ago, the other just now."""
    now = this_hour()
    remember(tmp_path, "127.0.0.1", until=now - DAY)
    remember(tmp_path, "127.0.0.2", until=now - 1)
    frozen, alive = Paper(host="127.0.0.1"), Paper(host="127.0.0.2")
    with printing(frozen), printing(alive):
        found = read(tmp_path, [frozen.url("/"), alive.url("/")])
    told = report(tmp_path)

    (alarm,) = rows(tmp_path)["127.0.0.1"]["alarms"]
    assert alarm["measure"] == "silent"
    assert "127.0.0.1: no new article for 2" in told.out  # 24 hours, or 25
    assert rows(tmp_path)["127.0.0.2"]["alarms"] == []
    assert (told.code, found.mss("quality/alarms")) == (1, 1)


def test_a_site_that_stops_answering_is_an_alarm_within_a_day(tmp_path: Path) -> None:
    """One with an article a week, too, whose silence alone would prove nothing."""
    now = this_hour()
    day = Counter({PAGES: 1, ARTICLES: 1, TRIED: 1, **of_answer(0), **of_new(0)})
    counted = {("127.0.0.1", (now - DAY) // DAY - days): day for days in (1, 8, 15)}
    counted["127.0.0.1", now // DAY - 1] = Counter({"failed/23 HTTP 500": 1, TRIED: 1})
    put(tmp_path, counted)
    with answering("127.0.0.1", with_status(503)) as dead:
        read(tmp_path, [dead])
    (alarm,) = rows(tmp_path)["127.0.0.1"]["alarms"]

    assert alarm["measure"] == "unreachable"
    assert "no answer: HTTP 503 (since " in alarm["summary"]


def test_nothing_is_wrong_where_nobody_crawled(tmp_path: Path) -> None:
    remember(tmp_path, "127.0.0.1", until=this_hour() - 10 * DAY)
    told = report(tmp_path)

    assert "no new article" not in told.out
    assert told.code == 0


def test_a_redesign_is_in_the_report_of_the_same_day(tmp_path: Path, site: Site) -> None:
    """Two crawls of one day, of pages before a redesign and of pages after it."""
    rule = {"site": "127.0.0.1", "body": "article.story", "title": "h1"}
    of_both = {"MSS_STORE": str(tmp_path / "store"), "MSS_WRAPPERS": [rule]}
    values = {**ADDON, **of_both, "MSS_WORKERS": 0}
    pages = [{"urls": [site.url(f"/{kind}/{n}") for n in range(24)]} for kind in KINDS]
    crawls = crawl(tmp_path, [Job("silent", urls, values) for urls in pages])
    told = report(tmp_path)

    assert [found.mss("quality/alarms") > 0 for found in crawls] == [False, True]
    declined = "quality has declined on 127.0.0.1: pages that the site's rule matches: 100% to 0%"
    assert any(declined in line for line in crawls[1].logged("WARNING"))
    assert told.code == 1
    for what in ("fewer pages that the site's rule matches", "the layout has changed"):
        assert f"127.0.0.1: {what} (since " in told.out
