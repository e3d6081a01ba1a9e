"""Articles of several pages, in real crawls of a real server; each page with a near miss."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import Message
from typing import Any

import pytest
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Request, Response
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.test import get_crawler

from scrapy_mss.article import ArticleResult
from scrapy_mss.crawl.further_pages import FurtherPages, _may_go_on, joined_article
from scrapy_mss.crawl.pages import PROXY_LOGIN
from scrapy_mss.items import WRAPPER, Article
from scrapy_mss.stats import CrawlStats
from tests.helpers.local_server import Answer, answering
from tests.plugin.crawling import ADDON, Crawl, Job, crawl_all
from tests.plugin.site import HTML, story


@dataclass(slots=True)
class Server:
    """Pages by their address, and how often each was requested."""

    pages: dict[str, str] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    statuses: dict[str, list[int]] = field(default_factory=dict)  # of the first requests
    moved: dict[str, str] = field(default_factory=dict)  # where to
    address: str = ""

    def url(self, path: str) -> str:
        return f"{self.address}{path}"

    def answer(self, path: str, _: Message) -> Answer:
        self.asked[path] += 1
        if path in self.moved:
            return 302, {"Location": self.moved[path]}, b""
        if not self.pages.get(path):
            return 404, {}, b""
        kind = "text/plain" if path == "/robots.txt" else HTML
        status = self.statuses[path].pop(0) if self.statuses.get(path) else 200
        page = self.pages[path] if status == 200 else ""
        return status, {"Content-Type": kind}, page.encode()

    def put(self, path: str, number: int, head: str = "", paragraphs: int = 6) -> None:
        """Have the page *number* of the article at *path*."""
        article = story("paged", number, paragraphs)
        body = "".join(f"<p>{text}</p>" for text in article.paragraphs)
        image = f"<figure><img src=/{number}.jpg></figure>"
        self.pages[path] = (
            f"<html lang=en><head><title>Ferry</title>{head}</head><body><nav>Home</nav>"
            f"<article><h1>Ferry sails {number}</h1>{body[:-4]}{image}</p>{body[:3]}"
            f"{article.paragraphs[0]} Page {number} ends.</p></article></body></html>"
        )

    def put_chain(self, path: str, length: int) -> list[str]:
        """Have an article of *length* pages."""
        paths = [path, *(f"{path}?page={n}" for n in range(2, length + 1))]
        for number, (each, after) in enumerate(zip(paths, [*paths[1:], ""], strict=True), 1):
            self.put(each, number, f"<link rel=next href='{after}'>" if after else "")
        return paths


# What is at the address of a second page, and why it is not part of the article; "" if it is.
SECONDS: dict[str, tuple[str, str | tuple[int, str]]] = {
    "/canonical": ("other_article", (2, "<link rel=canonical href=/harbour>")),
    "/same": ("repeated", (1, "")),
    "/comments": ("repeated", "of the first"),
    "/list": ("no_article", "<html><body></body></html>"),
    "/missing": ("failed", ""),
    "/first": ("", (2, "<link rel=canonical href=/first>")),
    "/itself": ("", (2, "<link rel=canonical href='/itself?page=2'>")),
}
RING = [f"/ring/{number}" for number in range(1, 13)]
MORE = "<a class=more href={}>More</a>"
RULE = {"site": "127.0.0.1", "body": "article", "exclude": "h1", "next_page": "a.more"}
# The statuses of a second page in three crawls.
CHANGING = {"/unavailable": [503, 503, 200], "/gone": [404, 404, 200], "/once": [200, 503, 200]}


def put_pages(server: Server) -> None:
    for path in ("/ferry", "/followed", "/dropped"):
        server.put_chain(path, 3)
    for path in ("/joined", "/short", "/forbidden", "/separate", "/later", *CHANGING):
        server.put_chain(path, 2)
    server.put_chain("/long", 6)
    server.put_chain("/longer", 6)
    server.put("/short?page=2", 2, paragraphs=1)
    server.put("/separate?page=2", 2, "<link rel=canonical href=/harbour>")
    server.put("/later", 1, "<link rel=next href='/later?page=2'>", paragraphs=2)
    server.pages["/robots.txt"] = "User-agent: *\nDisallow: /forbidden?page=2\n"
    for path, (_, second) in SECONDS.items():
        server.put_chain(path, 2)
        if isinstance(second, tuple):
            server.put(f"{path}?page=2", *second)
        else:
            server.pages[f"{path}?page=2"] = second
    said = server.pages["/comments"].replace("</article>", "<p>Nobody said so.</p></article>")
    server.pages["/comments?page=2"] = said
    server.put("/next-article", 1, "<link rel=next href=/harbour>")
    server.put("/harbour", 2)
    for number, after in ((1, "/b"), (2, "/c"), (3, "/a")):
        server.put(f"/{'-abc'[number]}", number, MORE.format(after))
    elsewhere = server.url("/a").replace("127.0.0.1", "localhost")
    server.put("/other", 4, MORE.format(elsewhere))
    server.put("/circle", 1, MORE.format("/moved-1"))
    server.put("/back", 1, MORE.format("/moved-3"))
    server.moved.update({"/moved-1": "/moved-2", "/moved-2": "/moved-1", "/moved-3": "/back"})
    for number, (path, after) in enumerate(zip(RING, [*RING[1:], RING[0]], strict=True), 1):
        server.put(path, number, MORE.format(after))
    server.statuses.update({f"{path}?page=2": [*each] for path, each in CHANGING.items()})


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server()
    with answering(server.answer) as server.address:
        put_pages(server)
        yield server


@pytest.fixture(scope="module")
def crawls(server: Server, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Crawl]:
    def job(*paths: str, spider: str = "silent", links: str = "", **settings: Any) -> Job:
        arguments: dict[str, Any] = {"urls": list(map(server.url, paths))}
        arguments |= {"links": [server.url(links)]} if links else {}
        return Job(spider, arguments, {**ADDON, "MSS_SITE_MEMORY": 0, **settings})

    one_by_one = {"CONCURRENT_REQUESTS": 1, "CONCURRENT_ITEMS": 1, "DOWNLOAD_DELAY": 0.3}
    again = job(*CHANGING, MSS_ONLY_NEW=True, MSS_STORE="again")
    asked = {
        "ends": job("/ferry", "/next-article", *SECONDS),
        "workers": job("/short", *RING, MSS_WRAPPERS=[{**RULE, "url": "/ring/*"}], MSS_WORKERS=1),
        "limit 1": job("/long", MSS_JOIN_PAGES=1),
        "limit 3": job("/longer", MSS_JOIN_PAGES=3),
        "robots": job("/forbidden", ROBOTSTXT_OBEY=True),
        "rule": job("/a", "/other", "/circle", "/back", MSS_WRAPPERS=[RULE]),
        "joined": job("/joined", spider="following", links="/joined?page=2", **one_by_one),
        # The second page comes first, when nothing says yet whose it is.
        "later": job(
            "/later?page=2", spider="following", links="/later", MSS_COPIES="drop", **one_by_one
        ),
        "followed": job("/followed", spider="following-next"),
        "dropped": job("/dropped", spider="following-next", MSS_COPIES="drop", MSS_WORKERS=1),
        "separate": job("/separate", spider="following-next"),
        **dict.fromkeys(["first", "second", "third"], again),
    }
    return crawl_all(tmp_path_factory.mktemp("further"), asked)


def numbers(text: str) -> list[int]:
    return [n for n in range(1, 30) if f"Page {n} ends." in text]


def joined_pages(done: Crawl) -> dict[str, list[int]]:
    """The numbers of the pages in each article, by its path."""
    return {
        item.url.partition("127.0.0.1:")[2].partition("/")[2]: numbers(item.fields["text"])
        for item in done.items
    }


def test_the_pages_of_an_article_are_one_article(crawls: dict[str, Crawl], server: Server) -> None:
    item = crawls["ends"].by_url()[server.url("/ferry")]

    further = ["/ferry?page=2", "/ferry?page=3"]
    assert numbers(item["text"]) == numbers(item["html"]) == [1, 2, 3]
    assert item["pages"] == list(map(server.url, further))
    assert item["title"] == "Ferry sails 1"
    assert len(item["image_urls"]) == 3
    assert [server.asked[path] for path in ("/ferry", *further)] == [1, 1, 1]
    assert crawls["ends"].mss("extract/pages") == len(SECONDS) + 2


def test_what_is_not_the_next_page_ends_the_article(
    crawls: dict[str, Crawl], server: Server
) -> None:
    done = crawls["ends"]

    found = joined_pages(done)
    assert found.pop("ferry") == [1, 2, 3]
    assert found.pop("next-article") == [1]
    assert server.asked["/harbour"] == 0
    assert found == {path[1:]: [1] if reason else [1, 2] for path, (reason, _) in SECONDS.items()}
    for reason, times in Counter(reason for reason, _ in SECONDS.values() if reason).items():
        assert done.mss(f"join/stopped/{reason}") == times


@pytest.mark.parametrize(("limit", "path"), [(1, "long"), (3, "longer")])
def test_pages_are_joined_up_to_a_limit(
    crawls: dict[str, Crawl], server: Server, limit: int, path: str
) -> None:
    done = crawls[f"limit {limit}"]

    assert joined_pages(done) == {path: [*range(1, limit + 1)]}
    assert done.mss("join/stopped/limit") == (limit > 1)
    assert sum(n for asked, n in server.asked.items() if asked.split("?")[0] == f"/{path}") == limit


def test_robots_txt_applies_to_further_pages(crawls: dict[str, Crawl], server: Server) -> None:
    assert joined_pages(crawls["robots"]) == {"forbidden": [1]}
    assert server.asked["/forbidden?page=2"] == 0
    assert crawls["robots"].mss("join/stopped/failed") == 1


def test_workers_join_pages_too_and_the_last_may_be_short(crawls: dict[str, Crawl]) -> None:
    assert joined_pages(crawls["workers"])["short"] == [1, 2]


def test_articles_that_are_each_other_s_next_pages_do_not_wait_for_each_other(
    crawls: dict[str, Crawl], server: Server
) -> None:
    """In a ring, all of whose pages the spider requests at once."""
    found = joined_pages(crawls["workers"])

    assert {n for path, each in found.items() if path != "short" for n in each} == {*range(1, 13)}
    assert sum(server.asked[path] for path in RING) <= 10 * len(RING)  # MSS_JOIN_PAGES of each


def test_a_wrapper_says_where_the_next_page_is(crawls: dict[str, Crawl], server: Server) -> None:
    """Whatever its address is; a circle has an end, and pages of other sites are not joined."""
    done = crawls["rule"]

    assert joined_pages(done) == {"a": [1, 2, 3], "other": [4], "circle": [1], "back": [1]}
    assert done.mss("join/stopped/repeated") == 2
    assert done.mss("join/stopped/other_site") == 1
    assert done.mss("join/stopped/failed") == 1
    assert server.asked["/moved-1"] + server.asked["/moved-2"] <= 21  # Scrapy follows 20 redirects


@pytest.mark.parametrize("name", ["followed", "dropped"])
def test_pages_that_the_spider_follows_too_are_no_articles(
    crawls: dict[str, Crawl], name: str
) -> None:
    done = crawls[name]

    assert joined_pages(done) == {name: [1, 2, 3]}
    assert done.mss("extract/dropped/further_page") == done.mss("join/pages") == 2
    assert done.mss("extract/pages") == 1


def test_a_joined_page_does_not_come_again(crawls: dict[str, Crawl]) -> None:
    """The spider requests the second page, too, when the first has its article."""
    assert joined_pages(crawls["joined"]) == {"joined": [1, 2]}
    assert crawls["joined"].mss("extract/dropped/further_page") == 1


def test_a_page_that_is_not_joined_is_an_article_of_its_own(crawls: dict[str, Crawl]) -> None:
    found = joined_pages(crawls["separate"])

    assert found == {"separate": [1], "separate?page=2": [2]}


def test_an_article_is_no_copy_of_its_own_page(crawls: dict[str, Crawl]) -> None:
    assert joined_pages(crawls["later"]) == {"later?page=2": [2], "later": [1, 2]}


def test_an_article_comes_again_if_a_page_failed_and_does_not_change_by_a_page_that_fails(
    crawls: dict[str, Crawl], server: Server
) -> None:
    """A page that does not exist has not failed."""
    first, second, third = (crawls[name] for name in ("first", "second", "third"))

    assert joined_pages(first) == {"unavailable": [1], "gone": [1], "once": [1, 2]}
    assert joined_pages(second) == {"unavailable": [1]}
    assert joined_pages(third) == {"unavailable": [1, 2], "gone": [1, 2]}
    revisions = {url: fields["revision"] for url, fields in third.by_url().items()}
    assert revisions == {server.url("/unavailable"): 1, server.url("/gone"): 2}


@pytest.mark.parametrize(
    ("title", "published", "goes_on"),
    [
        ("Weekly roundup", "2026-03-05T10:00:00Z", True),
        ("Page 2 of 3: Weekly roundup", None, True),
        ("Weekly roundup (2)", "2026-03-05", True),
        (None, None, True),
        ("Weekly roundup", "2026-03-12", False),
        ("Another story", None, False),
    ],
)
def test_an_article_of_another_headline_or_day_is_no_further_page(
    title: str | None, published: str | None, *, goes_on: bool
) -> None:
    """As where a blog calls two of one title `/weekly-roundup/` and `/weekly-roundup-2/`."""
    first = Article("u", title="Weekly roundup", published="2026-03-05")

    assert _may_go_on(first, Article("u-2", title=title, published=published)) is goes_on


def test_the_confidence_of_all_pages_is_the_least() -> None:
    first = Article("https://news.example/a", text="One.", confidence=0.9, published="2024-03-05")
    second = Article("https://news.example/a?page=2", text="Two.", confidence=0.4, title="Other")

    joined = joined_article(first, [second])

    assert joined_article(first, []) is first
    assert joined == Article(
        "https://news.example/a",
        text="One.\n\nTwo.",
        confidence=0.4,
        published="2024-03-05",
        pages=["https://news.example/a?page=2"],
    )


def test_further_pages_are_requested_as_the_first_was() -> None:
    """By the same proxy, with its password, and the same browser."""
    meta = {"proxy": "http://p.example", "cookiejar": 2, "playwright": True}
    of_one = {"_auth_proxy": "http://p.example", "redirect_times": 1, "depth": 3, "mss_listed": 7}
    first = Request("http://a.example/1", headers={PROXY_LOGIN: "Basic x"}, meta={**meta, **of_one})
    asked: list[Request] = []

    async def fetch(request: Request) -> Response:
        asked.append(request)
        raise IgnoreRequest

    async def read(_: HtmlResponse) -> ArticleResult:
        raise AssertionError

    pages = FurtherPages(fetch, CrawlStats(MemoryStatsCollector(get_crawler())), 2, 1000)
    result = ArticleResult(Article(first.url), source=WRAPPER, next_page="http://a.example/2")
    asyncio.run(pages.joined(HtmlResponse(first.url, request=first), result, read))

    assert asked[0].meta == {**meta, "_auth_proxy": "http://p.example"}
    assert asked[0].headers[PROXY_LOGIN] == b"Basic x"
