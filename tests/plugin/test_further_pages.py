"""Articles of several pages, in real crawls of a real server; each page with a near miss."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from scrapy_mss.crawl.further_pages import _may_go_on, joined_article
from scrapy_mss.items import Article
from tests.plugin.crawling import ADDON, Crawl, Job, crawl
from tests.plugin.site import story


@dataclass(slots=True)
class Server:
    """Pages by their address, and how often each was asked for."""

    pages: dict[str, str] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    failing: dict[str, int] = field(default_factory=dict)  # with which status
    moved: dict[str, str] = field(default_factory=dict)  # where to
    port: int = 0

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def put(self, path: str, number: int, head: str = "", paragraphs: int = 6) -> None:
        """Have the page *number* of the article at *path*."""
        told = story("paged", number, paragraphs)
        body = "".join(f"<p>{text}</p>" for text in told.paragraphs)
        image = f"<figure><img src=/{number}.jpg></figure>"
        self.pages[path] = (
            f"<html lang=en><head><title>Ferry</title>{head}</head><body><nav>Home</nav>"
            f"<article><h1>Ferry sails {number}</h1>{body[:-4]}{image}</p>{body[:3]}"
            f"{told.paragraphs[0]} Page {number} ends.</p></article></body></html>"
        )

    def put_chain(self, path: str, length: int) -> list[str]:
        """Have an article of *length* pages."""
        paths = [path, *(f"{path}?page={n}" for n in range(2, length + 1))]
        for number, (each, after) in enumerate(zip(paths, [*paths[1:], ""], strict=True), 1):
            self.put(each, number, f"<link rel=next href='{after}'>" if after else "")
        return paths


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.asked[self.path] += 1
            moved = server.moved.get(self.path)
            status = 302 if moved else server.failing.get(self.path)
            body = None if status else server.pages.get(self.path)
            kind = "text/plain" if self.path == "/robots.txt" else "text/html; charset=utf-8"
            data = (body or "").encode()
            self.send_response(200 if body else status or 404)
            self.send_header("Content-Type", kind)
            if moved:
                self.send_header("Location", moved)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        server.port = listening.server_address[1]
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        yield server
        listening.shutdown()


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(Server()) as served:
        yield served


def read(folder: Path, server: Server, *paths: str, **settings: Any) -> Crawl:
    given = {**ADDON, "MSS_WORKERS": 0, **settings}
    (found,) = crawl(
        folder, [Job(arguments={"urls": list(map(server.url, paths))}, settings=given)]
    )
    assert not found.error
    return found


def numbers(text: str) -> list[int]:
    return [n for n in range(1, 30) if f"Page {n} ends." in text]


def test_the_pages_of_an_article_are_one_article(server: Server, tmp_path: Path) -> None:
    paths = server.put_chain("/ferry", 3)

    found = read(tmp_path, server, "/ferry")

    (item,) = found.items
    assert numbers(item.fields["text"]) == numbers(item.fields["html"]) == [1, 2, 3]
    assert item.fields["pages"] == [server.url(path) for path in paths[1:]]
    assert item.fields["title"] == "Ferry sails 1"
    assert len(item.fields["image_urls"]) == 3
    assert found.mss("join/pages") == 2
    assert found.mss("extract/pages") == 1
    assert set(server.asked.values()) == {1}


def test_workers_join_pages_too_and_the_last_may_be_short(server: Server, tmp_path: Path) -> None:
    server.put_chain("/ferry", 2)
    server.put("/ferry?page=2", 2, paragraphs=1)

    (item,) = read(tmp_path, server, "/ferry", MSS_WORKERS=1).items

    assert numbers(item.fields["text"]) == [1, 2]


def test_pages_are_joined_up_to_a_limit(server: Server, tmp_path: Path) -> None:
    server.put_chain("/ferry", 6)

    found = read(tmp_path, server, "/ferry", MSS_JOIN_PAGES=3)

    assert numbers(found.items[0].fields["text"]) == [1, 2, 3]
    assert found.mss("join/stopped/limit") == 1


def test_with_a_limit_of_one_nothing_is_joined(server: Server, tmp_path: Path) -> None:
    server.put_chain("/ferry", 3)

    (item,) = read(tmp_path, server, "/ferry", MSS_JOIN_PAGES=1).items

    assert numbers(item.fields["text"]) == [1]
    assert server.asked["/ferry?page=2"] == 0


def test_a_joined_page_comes_not_again(server: Server, tmp_path: Path) -> None:
    """The spider asks for the second page, too, when the first has its article."""
    paths = server.put_chain("/ferry", 2)
    given = {**ADDON, "MSS_WORKERS": 0, "CONCURRENT_REQUESTS": 1, "CONCURRENT_ITEMS": 1}
    arguments = {"urls": [server.url("/ferry")], "links": [server.url(paths[1])]}

    (found,) = crawl(tmp_path, [Job("following", arguments, {**given, "DOWNLOAD_DELAY": 1})])

    assert [item.url for item in found.items] == [server.url("/ferry")]
    assert found.mss("extract/dropped/further_page") == 1


def test_the_next_article_is_no_further_page(server: Server, tmp_path: Path) -> None:
    server.put("/ferry", 1, "<link rel=next href=/harbour>")
    server.put("/harbour", 2)

    (item,) = read(tmp_path, server, "/ferry").items

    assert numbers(item.fields["text"]) == [1]
    assert server.asked["/harbour"] == 0


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


@pytest.mark.parametrize(
    ("reason", "second"),
    [
        ("other_article", (2, "<link rel=canonical href=/harbour>")),
        ("repeated", (1, "")),
        ("no_article", "<html><body></body></html>"),
        ("failed", ""),
        ("", (2, "<link rel=canonical href=/ferry>")),
        ("", (2, "<link rel=canonical href='/ferry?page=2'>")),
    ],
)
def test_what_is_not_the_next_page_ends_the_article(
    server: Server, tmp_path: Path, reason: str, second: str | tuple[int, str]
) -> None:
    server.put_chain("/ferry", 2)
    if isinstance(second, tuple):
        server.put("/ferry?page=2", *second)
    else:
        server.pages["/ferry?page=2"] = second

    found = read(tmp_path, server, "/ferry")

    assert numbers(found.items[0].fields["text"]) == ([1] if reason else [1, 2])
    assert found.mss(f"join/stopped/{reason}") == bool(reason)


def test_the_next_page_of_comments_is_no_page_of_the_article(
    server: Server, tmp_path: Path
) -> None:
    server.put_chain("/ferry", 2)
    first = server.pages["/ferry"]
    server.pages["/ferry?page=2"] = first.replace("</article>", "<p>Nobody said so.</p></article>")

    found = read(tmp_path, server, "/ferry")

    assert numbers(found.items[0].fields["text"]) == [1]
    assert found.mss("join/stopped/repeated") == 1


def test_robots_txt_applies_to_further_pages(server: Server, tmp_path: Path) -> None:
    server.put_chain("/ferry", 2)
    server.pages["/robots.txt"] = "User-agent: *\nDisallow: /ferry?page=2\n"

    found = read(tmp_path, server, "/ferry", ROBOTSTXT_OBEY=True)

    assert numbers(found.items[0].fields["text"]) == [1]
    assert server.asked["/ferry?page=2"] == 0
    assert found.mss("join/stopped/failed") == 1


RULE = {"site": "127.0.0.1", "body": "article", "exclude": "h1", "next_page": "a.more"}


def test_a_wrapper_says_where_the_next_page_is(server: Server, tmp_path: Path) -> None:
    """Whatever its address is; a circle has an end, and another site is none of its pages."""
    more = "<a class=more href={}>More</a>"
    for number, after in ((1, "/b"), (2, "/c"), (3, "/a")):
        server.put(f"/{'-abc'[number]}", number, more.format(after))
    server.put("/other", 4, more.format(server.url("/a", "localhost")))

    found = read(tmp_path, server, "/a", "/other", MSS_WRAPPERS=[RULE])

    texts = {item.url: numbers(item.fields["text"]) for item in found.items}
    assert texts == {server.url("/a"): [1, 2, 3], server.url("/other"): [4]}
    assert found.mss("join/stopped/repeated") == 1
    assert found.mss("join/stopped/other_site") == 1


@pytest.mark.parametrize(
    ("moved", "stopped"),
    [({"/b": "/c", "/c": "/b"}, "failed"), ({"/b": "/a"}, "repeated")],
    ids=["each_other", "first_page"],
)
def test_a_next_page_that_redirects_in_a_circle_ends_the_article(
    server: Server, tmp_path: Path, moved: dict[str, str], stopped: str
) -> None:
    server.put("/a", 1, "<a class=more href=/b>More</a>")
    server.moved.update(moved)

    found = read(tmp_path, server, "/a", MSS_WRAPPERS=[RULE])

    assert [numbers(item.fields["text"]) for item in found.items] == [[1]]
    assert found.mss(f"join/stopped/{stopped}") == 1
    assert sum(server.asked.values()) <= 22  # Scrapy follows 20 redirects


def test_articles_that_are_each_other_s_next_pages_do_not_wait_for_each_other(
    server: Server, tmp_path: Path
) -> None:
    """In a ring, all of whose pages the spider asks for at once."""
    paths = [f"/{number}" for number in range(1, 13)]
    for number, (path, after) in enumerate(zip(paths, [*paths[1:], paths[0]], strict=True), 1):
        server.put(path, number, f"<a class=more href={after}>More</a>")

    found = read(tmp_path, server, *paths, MSS_WRAPPERS=[RULE], MSS_WORKERS=1)

    assert {n for item in found.items for n in numbers(item.fields["text"])} == set(range(1, 13))
    assert sum(server.asked.values()) <= 10 * len(paths)  # MSS_JOIN_PAGES of each


def test_an_article_of_one_page_stays_what_it_is() -> None:
    article = Article("https://news.example/a", text="One.", confidence=0.5)

    assert joined_article(article, []) is article


def test_the_confidence_of_all_pages_is_the_least() -> None:
    first = Article("https://news.example/a", text="One.", confidence=0.9, published="2024-03-05")
    second = Article("https://news.example/a?page=2", text="Two.", confidence=0.4, title="Other")

    joined = joined_article(first, [second])

    assert joined == Article(
        "https://news.example/a",
        text="One.\n\nTwo.",
        confidence=0.4,
        published="2024-03-05",
        pages=["https://news.example/a?page=2"],
    )


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("copies", ["keep", "drop"])
def test_pages_that_the_spider_follows_too_are_no_articles(
    server: Server, tmp_path: Path, workers: int, copies: str
) -> None:
    server.put_chain("/ferry", 3)
    given = {**ADDON, "MSS_WORKERS": workers, "MSS_COPIES": copies, "MSS_STORE": "store"}
    arguments = {"urls": [server.url("/ferry")]}

    (found,) = crawl(tmp_path, [Job("following-next", arguments, given)])

    assert not found.error
    told = {item.url: numbers(item.fields["text"]) for item in found.items}
    assert told == {server.url("/ferry"): [1, 2, 3]}
    assert found.mss("extract/dropped/further_page") == 2
    assert found.mss("extract/pages") == 1


def test_a_page_that_is_not_joined_is_an_article_of_its_own(server: Server, tmp_path: Path) -> None:
    server.put_chain("/ferry", 2)
    server.put("/ferry?page=2", 2, "<link rel=canonical href=/harbour>")
    arguments = {"urls": [server.url("/ferry")]}

    (found,) = crawl(tmp_path, [Job("following-next", arguments, {**ADDON, "MSS_WORKERS": 0})])

    assert sorted(numbers(item.fields["text"]) for item in found.items) == [[1], [2]]


def test_an_article_is_no_copy_of_its_own_page(server: Server, tmp_path: Path) -> None:
    """The second page comes first, when nothing tells yet whose it is."""
    paths = server.put_chain("/ferry", 2)
    server.put("/ferry", 1, "<link rel=next href='/ferry?page=2'>", paragraphs=2)
    given = {**ADDON, "MSS_WORKERS": 0, "MSS_COPIES": "drop", "MSS_STORE": "store"}
    arguments = {"urls": [server.url(paths[1])], "links": [server.url("/ferry")]}

    (found,) = crawl(tmp_path, [Job("following", arguments, {**given, "DOWNLOAD_DELAY": 1})])

    assert [numbers(item.fields["text"]) for item in found.items] == [[2], [1, 2]]


@pytest.mark.parametrize(("status", "comes_again"), [(503, True), (404, False)])
def test_an_article_without_a_page_that_failed_comes_again(
    server: Server, tmp_path: Path, status: int, comes_again: bool
) -> None:
    server.put_chain("/ferry", 2)
    server.failing["/ferry?page=2"] = status
    given = {**ADDON, "MSS_WORKERS": 0, "MSS_ONLY_NEW": True, "MSS_STORE": "store"}
    job = Job(arguments={"urls": [server.url("/ferry")]}, settings=given)

    first, second = crawl(tmp_path, [job, job])
    server.failing.clear()
    (third,) = crawl(tmp_path, [job])

    assert [numbers(item.fields["text"]) for item in first.items] == [[1]]
    assert [numbers(item.fields["text"]) for item in second.items] == [[1]] * comes_again
    (whole,) = third.items
    assert numbers(whole.fields["text"]) == [1, 2]
    assert whole.fields["revision"] == (1 if comes_again else 2)


def test_an_article_does_not_change_by_a_page_that_fails_for_once(
    server: Server, tmp_path: Path
) -> None:
    server.put_chain("/ferry", 2)
    given = {**ADDON, "MSS_WORKERS": 0, "MSS_ONLY_NEW": True, "MSS_STORE": "store"}
    job = Job(arguments={"urls": [server.url("/ferry")]}, settings=given)

    (whole,) = crawl(tmp_path, [job])
    server.failing["/ferry?page=2"] = 503
    (lacking,) = crawl(tmp_path, [job])
    server.failing.clear()
    (again,) = crawl(tmp_path, [job])

    assert [numbers(item.fields["text"]) for item in whole.items] == [[1, 2]]
    assert (lacking.items, again.items) == ([], [])
