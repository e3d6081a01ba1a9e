"""Pages that only scripts fill, in crawls with a real Chromium; and the proxy that it has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import Message
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from research.rendering.browser import chromium
from scrapy_mss.crawl.rendering import MAX_OPENED
from tests.helpers.local_server import Answer, answering
from tests.plugin.crawling import ADDON, Crawl, Job, crawl
from tests.plugin.site import HTML, story

pytestmark = [
    pytest.mark.skipif(
        chromium() is None, reason="there is no chromium here: make test-browser installs it"
    ),
    pytest.mark.skipif(
        find_spec("scrapy_playwright") is None, reason="scrapy-playwright is not installed"
    ),
    pytest.mark.slow("a browser"),
    pytest.mark.any_scrapy("what is asked of Scrapy is shown by further pages, too"),
]
N_PAGES = 5
APP, STATIC = (f"/{kind}/the-storm-of-number-" for kind in ("app", "static"))
FILL = """<html lang=en><head><title>App</title></head><body><div id=root></div><script>
fetch("/api" + location.pathname).then(found => found.text()).then(
  text => { document.getElementById("root").innerHTML = text; history.pushState(0, "", "/shown"); })
</script></body></html>"""
ENDLESS = "<html><body><div id=root></div><script>while (true) {}</script></body></html>"
EMPTY = "<html><body><div id=root></div><script>var nothing</script></body></html>"
MOVED = EMPTY.replace("var nothing", f"location.replace('{APP}1')")
REACHING = """<html><body><div id=root></div><script>
fetch("PRIVATE/fetched", {mode: "no-cors"}); new WebSocket("PRIVATE/socket".replace("http", "ws"));
open("PRIVATE/opened"); fetch("/elsewhere", {mode: "no-cors"});
</script><iframe src="PRIVATE/framed"></iframe><img src="/elsewhere"></body></html>"""
# Each window opens more, which no longer belong to the one before them.
OPENING = """<html><body><div id=root></div><script>
for (let n = 0; n < 3; n++) open("/opening/" + Math.random(), "_blank", "noopener")
</script></body></html>"""
FILLING = FILL.replace(
    "fetch(",
    "const all = []; for (let n = 0; n < 12; n++)"
    " all.push(new Uint8Array(2 ** 28).fill(1)); fetch(",
)


@dataclass(slots=True)
class Server:
    """Sites at the addresses of the loopback; all can be asked for all pages."""

    is_static: bool = False
    asked: Counter[str] = field(default_factory=Counter)
    port: int = 0

    def url(self, path: str, host: str = "127.0.0.2") -> str:
        return f"http://{host}:{self.port}{path}"

    def urls(self, kind: str, host: str = "127.0.0.2") -> list[str]:
        return [self.url(f"/{kind}/the-storm-of-number-{n}", host) for n in range(N_PAGES)]

    def answer(self, path: str, headers: Message) -> Answer:
        self.asked[f"{headers['Host'].partition(':')[0]}{path}"] += 1
        if path == "/elsewhere":
            return 302, {"Location": self.url("/moved", "127.0.0.4")}, b""
        return 200, {"Content-Type": HTML}, self.page(path).encode()

    def page(self, path: str) -> str:
        _, kind, _ = path.split("/", 2)
        if kind == "api":
            return self.article(path)
        if kind == "static" or (kind == "app" and self.is_static):
            return f"<html lang=en><body>{self.article(path)}</body></html>"
        other = self.url("", "127.0.0.4")
        pages = {
            "app": FILL,
            "endless": ENDLESS,
            "moved": MOVED,
            "opening": OPENING,
            "filling": FILLING,
            "reaching": REACHING.replace("PRIVATE", other),
        }
        return pages.get(kind, EMPTY)

    def article(self, path: str) -> str:
        number = int(path.rpartition("-")[2])
        found = story("rendered", number)
        body = "".join(f"<p>{text}</p>" for text in found.paragraphs)
        return f"<article><h1>{found.title}</h1>{body}</article>"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server()
    every = "0.0.0.0"  # noqa: S104 - each loopback address is a site
    with answering(server.answer, every) as address:
        server.port = int(address.rpartition(":")[2])
        yield server


def job(urls: list[str], store: str, **settings: Any) -> Job:
    options = {
        **ADDON,
        "MSS_RENDER": "auto",
        "MSS_STORE": store,
        "CONCURRENT_REQUESTS": 1,
        "PLAYWRIGHT_LAUNCH_OPTIONS": {"executable_path": chromium()},
        "PLAYWRIGHT_DEFAULT_NAVIGATION_TIMEOUT": 3000,
        **settings,
    }
    named = ["127.0.0.2", "127.0.0.3", "127.0.0.5"]
    return Job("silent", {"urls": urls, "named_hosts": named}, options)


def counted(found: Crawl) -> dict[str, int]:
    names = ("pages", "at_once", "in_vain", "failed", "left_out")
    return {name: int(found.mss(f"render/{name}")) for name in names}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rendered")


@pytest.fixture(scope="module")
def crawls(server: Server, folder: Path) -> tuple[Crawl, Crawl]:
    """Two sites, of which one needs a browser; and what a browser should not be asked for."""
    odd = [server.url(f"/{kind}/a") for kind in ("endless", "reaching", "empty")]
    greedy = [server.urls(kind, "127.0.0.5")[0] for kind in ("opening", "filling")]
    private = server.urls("app", "127.0.0.4")[:1]
    jobs = (
        job([*server.urls("app"), *server.urls("static", "127.0.0.3")], "sites"),
        job(
            [
                *greedy,
                *odd,
                *private,
                server.url("/moved/a", "127.0.0.3"),
                *server.urls("app", "127.0.0.3")[:1],
            ],
            "odd",
        ),
    )
    first, second = crawl(folder, jobs)
    return first, second


def test_pages_that_scripts_fill_come_once_and_with_their_text(
    crawls: tuple[Crawl, Crawl], server: Server
) -> None:
    found, _ = crawls
    urls = [*server.urls("app"), *server.urls("static", "127.0.0.3")]

    texts = {url: fields["text"] for url, fields in found.by_url().items()}
    assert set(texts) == set(urls)
    for url, text in texts.items():
        assert text.endswith(story("rendered", int(url[-1])).paragraphs[-1])
    assert server.asked[f"127.0.0.3{STATIC}0"] == 1


def test_the_memory_of_a_site_asks_at_once_and_now_and_then_plainly(
    crawls: tuple[Crawl, Crawl], server: Server
) -> None:
    """Three pages are enough; the next is asked for plainly, and needed the browser again."""
    asked = [server.asked[f"127.0.0.2{APP}{number}"] for number in range(N_PAGES)]

    assert asked == [2, 2, 2, 2, 1]
    expected = {"pages": N_PAGES, "at_once": 1, "in_vain": 0, "failed": 0, "left_out": 0}
    assert counted(crawls[0]) == expected


def test_what_a_browser_cannot_show_costs_one_page(crawls: tuple[Crawl, Crawl]) -> None:
    """Two that take what they can, one without an end, one without more, one on a private host.

    And then two that it can, of which one leads to another.
    """
    _, found = crawls

    assert [item.url.rpartition("/")[2] for item in found.items] == [
        "the-storm-of-number-1",
        "the-storm-of-number-0",
    ]
    counts = counted(found)
    assert counts.pop("failed") in (2, 3, 4)  # those that take what they can may be soon through
    assert counts == {"pages": 8, "at_once": 0, "in_vain": 6, "left_out": 0}


def test_windows_that_windows_open_end_with_the_page(
    crawls: tuple[Crawl, Crawl], server: Server
) -> None:
    asked = sum(n for url, n in server.asked.items() if "/opening/" in url)

    assert asked < 5 * MAX_OPENED
    assert crawls[1].stats["playwright/page_count/max_concurrent"] <= MAX_OPENED


def test_scripts_reach_no_private_host(crawls: tuple[Crawl, Crawl], server: Server) -> None:
    """Neither by frames, sockets and windows, nor by redirects of their own site."""
    assert server.asked["127.0.0.2/reaching/a"] == server.asked["127.0.0.2/elsewhere"] == 2
    assert {asked for asked in server.asked if "127.0.0.4" in asked} == {f"127.0.0.4{APP}0"}


def test_a_site_that_needs_a_browser_no_more_is_soon_known(
    crawls: tuple[Crawl, Crawl], server: Server, folder: Path
) -> None:
    server.is_static = True
    (found,) = crawl(folder, [job(server.urls("app"), "sites")])

    assert counted(found)["pages"] == 0
    assert len(found.by_url()) == N_PAGES
