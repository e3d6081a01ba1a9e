"""Made-up news sites that name their articles in feeds, sitemaps and fronts; requests are counted.

    with serving(20, 1_000) as web:
        web.fronts, web.counts()

Each site has an address of its own on this machine. Its robots.txt names a sitemap of all articles,
its fronts link to the latest and to sections, its feed has the latest with their dates. The lists
of every other site have an ETag, those of the rest nothing to tell by whether they have changed.
All sites are in one process, which ends when its standard input does.
"""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from hashlib import blake2b
from urllib.request import urlopen

from research.benchmarks import local_server
from research.benchmarks.soak_server import story

SECTIONS = ("sport", "culture", "science")
SHOWN = 40  # articles on a front and in the feed
SPREAD = timedelta(days=5)  # of the dates: what is older than a week is an archive
COUNTS, PUBLISH = "/-/counts", "/-/publish"  # what the benchmark asks for
NAMESPACES = (
    "xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' "
    "xmlns:n='http://www.google.com/schemas/sitemap-news/0.9'"
)


@dataclass(frozen=True, slots=True)
class Web:
    """The sites while they are served."""

    fronts: list[str]

    def counts(self) -> Counter[str]:
        """What was asked for since the last time, by kind and status."""
        return Counter(json.loads(self._asked(COUNTS)))

    def publish(self) -> None:
        """Have each site publish one more article."""
        self._asked(PUBLISH)

    def _asked(self, path: str) -> bytes:
        with urlopen(self.fronts[0].rstrip("/") + path) as answer:  # noqa: S310 - our own server
            body: bytes = answer.read()
        return body


class _State:
    """What all sites share."""

    def __init__(self, articles: int) -> None:
        self.articles = articles  # of each site
        self.at_first = articles
        self.begin = datetime.now(timezone.utc).replace(microsecond=0)
        self.asked: Counter[str] = Counter()
        self.lock = threading.Lock()

    def moment(self, number: int) -> datetime:
        """When the article was published; what comes later, comes last."""
        return self.begin - SPREAD * (1 - number / self.at_first)

    def count(self, kind: str, status: int) -> None:
        with self.lock:
            self.asked[f"{kind} {status}"] += 1

    def counted(self) -> Counter[str]:
        with self.lock:
            asked, self.asked = self.asked, Counter()
        return asked


class _Handler(local_server.Handler):
    state: _State
    server: _Server  # the site

    def do_GET(self) -> None:  # noqa: N802 - the base class calls it so
        path = self.path.partition("?")[0]
        if path in {COUNTS, PUBLISH}:
            self.state.articles += path == PUBLISH
            counted = self.state.counted() if path == COUNTS else {}
            self._send("application/json", json.dumps(counted).encode())
            return
        kind, content_type, text = self._page(path)
        body = text.encode()
        etag = ""
        if kind != "article" and self.server.number % 2 == 0:
            etag = f'"{blake2b(body, digest_size=8).hexdigest()}"'
        status = 200 if text else 404
        if etag and self.headers.get("If-None-Match") == etag:
            status, body = 304, b""
        self.state.count(kind, status)
        self._send(content_type, body, status, etag)

    def _page(self, path: str) -> tuple[str, str, str]:
        """The kind of what is at *path*, its content type, and the text."""
        lists: dict[str, tuple[str, str, Callable[[], str]]] = {
            "/robots.txt": ("robots.txt", "text/plain", self._robots),
            "/news.xml": ("sitemap", "application/xml", self._sitemap),
            "/feed": ("feed", "application/rss+xml", self._feed),
            "/": ("front", "text/html", lambda: self._front(SECTIONS)),
        }
        lists |= {f"/{each}": ("section", "text/html", self._front) for each in SECTIONS}
        if path in lists:
            kind, content_type, make = lists[path]
            return kind, content_type, make()
        number = path.rpartition("-")[2].removesuffix(".html")
        if number.isdecimal() and int(number) < self.state.articles:
            return "article", "text/html", story(1_000_000 * self.server.number + int(number))
        return "other", "text/html", ""

    def _robots(self) -> str:
        return f"Sitemap: {self.server.url}news.xml\n"

    def _path(self, number: int) -> str:
        return f"{self.state.moment(number):%Y/%m/%d}/the-story-of-number-{number}.html"

    def _latest(self) -> range:
        count = self.state.articles
        return range(count - 1, max(count - SHOWN, 0) - 1, -1)

    def _front(self, sections: tuple[str, ...] = ()) -> str:
        links = [f"<li><a href='/{name}'>{name}</a>" for name in sections]
        links += [f"<p><a href='/{self._path(each)}'>Story {each}</a>" for each in self._latest()]
        head = "<link rel=alternate type=application/rss+xml href=/feed>"
        return f"<html><head><title>Site</title>{head}</head><body>{''.join(links)}</body></html>"

    def _feed(self) -> str:
        items = "".join(
            f"<item><title>Story {each}</title><link>{self.server.url}{self._path(each)}</link>"
            f"<pubDate>{format_datetime(self.state.moment(each))}</pubDate></item>"
            for each in self._latest()
        )
        return f"<rss version='2.0'><channel><title>Site</title>{items}</channel></rss>"

    def _sitemap(self) -> str:
        urls = "".join(
            f"<url><loc>{self.server.url}{self._path(each)}</loc><n:news><n:publication_date>"
            f"{self.state.moment(each).isoformat()}</n:publication_date></n:news></url>"
            for each in range(self.state.articles)
        )
        return f"<urlset {NAMESPACES}>{urls}</urlset>"

    def _send(self, content_type: str, body: bytes, status: int = 200, etag: str = "") -> None:
        self.send(status, {"ETag": etag, "Content-Type": content_type}, body)


class _Server(local_server.Server):
    """One of the sites."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__((f"127.0.0.{number}", 0), _Handler)


@contextmanager
def serving(sites: int, articles: int) -> Iterator[Web]:
    """So many sites with so many articles each, served as long as the context lasts."""
    with local_server.serving("research.benchmarks.again_server", sites, articles) as fronts:
        yield Web(fronts)


def main(sites: int, articles: int) -> None:
    _Handler.state = _State(articles)
    servers = [_Server(each) for each in range(1, sites + 1)]
    local_server.serve(servers, [each.url for each in servers])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
