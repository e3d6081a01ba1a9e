"""A newspaper on a loopback port, which a test changes between crawls; it counts requests."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from email.message import Message
from email.utils import format_datetime
from hashlib import blake2b
from html import escape

from tests.helpers.local_server import Answer, answering
from tests.plugin.site import Story, story

NOW = datetime.now(timezone.utc).replace(microsecond=0)
# In the paths of stories, which are an hour old: shortly after midnight that was yesterday.
DAY = f"{NOW - timedelta(hours=1):%Y/%m/%d}"
SECTIONS = ("sport", "culture")


@dataclass(slots=True)
class Published:
    """A story of the paper."""

    story: Story
    moment: datetime  # when it was published or changed
    where: str  # feed, sitemap, front or a section


@dataclass(slots=True)
class Paper:
    """The paper: its stories by path, and what was asked for."""

    stories: dict[str, Published] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)  # paths that are answered by an error
    faults: dict[str, tuple[int, str]] = field(default_factory=dict)  # status and HTML of paths
    headers: dict[str, dict[str, str]] = field(default_factory=dict)  # further ones of paths
    robots: str = ""  # what its robots.txt has beside the sitemap
    texts: dict[str, str] = field(default_factory=dict)  # of other files, by their paths
    fed: dict[str, str] = field(default_factory=dict)  # HTML that the feed has of paths
    moved: dict[str, str] = field(default_factory=dict)  # paths that are redirected
    asked: Counter[str] = field(default_factory=Counter)
    unchanged: Counter[str] = field(default_factory=Counter)
    sitemap: str = "/sitemaps.xml"  # the one in robots.txt
    host: str = "127.0.0.1"  # each loopback address is a site
    port: int = 0

    def publish(
        self, number: int, where: str, *, hours: float = 1, words_of: int | None = None
    ) -> str:
        """Publish story *number*, so many *hours* ago, perhaps in the words of another one."""
        published = story("paper", number if words_of is None else words_of)
        path = f"/{DAY}/the-story-of-number-{number}.html"
        self.stories[path] = Published(published, NOW - timedelta(hours=hours), where)
        return path

    def url(self, path: str) -> str:
        return f"http://{self.host}:{self.port}{path}"

    def answer(self, path: str, known: str | None) -> Answer:
        """Status, headers and body for *path*, of which the client has the ETag *known*."""
        self.asked[path] += 1
        if path in self.moved:
            return 302, {"Location": self.moved[path]}, b""
        if path in self.faults:
            status, html = self.faults[path]
            return status, {"Content-Type": "text/html"}, html.encode()
        found = self.page(path)
        if found is None or path in self.refused:
            return 503 if found else 404, {}, b""
        kind, body = found
        if path in self.stories:
            return 200, {"Content-Type": kind, **self.headers.get(path, {})}, body
        etag = f'"{blake2b(body, digest_size=8).hexdigest()}"'
        if known == etag:
            self.unchanged[path] += 1
            return 304, {}, b""
        return 200, {"Content-Type": kind, "ETag": etag}, body

    def page(self, path: str) -> tuple[str, bytes] | None:
        """The content type and the body of what is at *path*."""
        if path in self.stories:
            return "text/html", self._article(path).encode()
        if path == "/" or path.strip("/") in SECTIONS:
            return "text/html", self._front(path.strip("/") or "front").encode()
        if path == "/news.xml.gz":
            return "application/gzip", gzip.compress(self._sitemap().encode(), mtime=0)
        if path.startswith("/endless-"):
            number = int(path.removeprefix("/endless-").removesuffix(".xml"))
            return "application/xml", self._index(f"/endless-{number + 1}.xml").encode()
        texts = {
            "/rss.xml": ("application/rss+xml", self._rss()),
            "/robots.txt": ("text/plain", f"Sitemap: {self.url(self.sitemap)}\n{self.robots}"),
            "/sitemaps.xml": ("application/xml", self._index()),
        }
        kind, text = texts.get(path, ("text/plain" if path in self.texts else "", ""))
        text = self.texts.get(path, text)
        return (kind, text.encode()) if kind else None

    def _article(self, path: str) -> str:
        published = self.stories[path].story
        body = "".join(f"<p>{text}</p>" for text in published.paragraphs)
        return (
            f"<html lang=en><head><title>{published.title}</title>"
            f'<link rel="canonical" href="{self.url(path)}"></head><body>'
            f"<article><h1>{published.title}</h1>{body}</article></body></html>"
        )

    def _front(self, where: str) -> str:
        sections = "".join(f"<li><a href=/{name}>{name}</a>" for name in (*SECTIONS, "login"))
        links = "".join(
            f"<p><a href='{path}?utm_source=front'>{published.story.title}</a></p>"
            for path, published in self.stories.items()
            if published.where == where
        )
        head = "<link rel=alternate type=application/rss+xml href=/rss.xml>"
        return f"<html><head><title>Paper</title>{head}</head><body>{sections}{links}</body></html>"

    def _rss(self) -> str:
        items = "".join(
            f"<item><title>{published.story.title}</title><link>{self.url(path)}</link>"
            f"<pubDate>{format_datetime(published.moment)}</pubDate>"
            f"<content:encoded>{escape(self.fed.get(path, ''))}</content:encoded></item>"
            for path, published in self.stories.items()
            if published.where == "feed" or path in self.fed
        )
        content = "xmlns:content='http://purl.org/rss/1.0/modules/content/'"
        return f"<rss version='2.0' {content}><channel><title>Paper</title>{items}</channel></rss>"

    def _index(self, named: str = "/news.xml.gz") -> str:
        return (
            "<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
            f"<sitemap><loc>{self.url(named)}</loc></sitemap></sitemapindex>"
        )

    def _sitemap(self) -> str:
        urls = "".join(
            f"<url><loc>{self.url(path)}</loc><n:news><n:publication_date>"
            f"{published.moment.isoformat()}</n:publication_date></n:news></url>"
            for path, published in self.stories.items()
            if published.where == "sitemap"
        )
        return (
            "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9' "
            f"xmlns:n='http://www.google.com/schemas/sitemap-news/0.9'>{urls}</urlset>"
        )


@contextmanager
def printing(paper: Paper) -> Iterator[Paper]:
    """Serve *paper*; lists have an ETag."""

    def answer(path: str, headers: Message) -> Answer:
        return paper.answer(path.partition("?")[0], headers["If-None-Match"])

    with answering(answer, paper.host) as address:
        paper.port = int(address.rpartition(":")[2])
        yield paper
