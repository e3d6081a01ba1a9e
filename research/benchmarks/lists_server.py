"""Sites each of which has one list that is dear to read, on addresses of this machine.

    with serving() as fronts:
        fronts["feed of 12 MB"]

Every site is in one process, which ends when its standard input does. Articles are not found there:
what is measured is what their lists cost.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import Final, NamedTuple

from research.benchmarks import local_server

RSS, XML, HTML, TEXT = "application/rss+xml", "application/xml", "text/html", "text/plain"
STORY: Final = "news/the-long-headline-of-story-{}.html"
NOW: Final = datetime.now(timezone.utc).isoformat(timespec="seconds")
TEXT_OF_STORY = "<p>Some text of the story, which goes on for a while, and is escaped.</p>" * 40


class Sent(NamedTuple):
    """The body of an answer, its type, and how it is packed."""

    body: bytes
    kind: str
    encoding: str = ""


def sitemap(url: str, count: int) -> Sent:
    """A sitemap of so many addresses, all of today."""
    entries = "".join(
        f"<url><loc>{url}{STORY.format(number)}</loc><lastmod>{NOW}</lastmod></url>\n"
        for number in range(count)
    )
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return Sent(f"<urlset xmlns='{space}'>{entries}</urlset>".encode(), XML)


def front(url: str, count: int) -> Sent:
    """A front page with so many links."""
    links = "".join(
        f"<p><a href='{url}{STORY.format(number)}'>Story</a></p>" for number in range(count)
    )
    return Sent(f"<html><body>{links}</body></html>".encode(), HTML)


def feed(url: str, size: int) -> Sent:
    """A feed of some *size* in bytes with whole articles."""
    entries: list[str] = []
    length = 0
    while length < size:
        entries.append(
            f"<item><link>{url}{STORY.format(len(entries))}</link>"
            f"<pubDate>{NOW}</pubDate><description><![CDATA[{TEXT_OF_STORY}]]></description></item>"
        )
        length += len(entries[-1])
    return Sent(f"<rss><channel>{''.join(entries)}</channel></rss>".encode(), RSS)


def nested(_: str) -> Sent:
    """Entries within entries."""
    return Sent(b"<rss><channel>" + b"<item><link>" * 10**6, RSS)


def bomb(_: str) -> Sent:
    """A gigabyte that comes as one megabyte."""
    packer = zlib.compressobj(9, wbits=31)
    parts = [packer.compress(b"<rss><channel>")]
    parts += [packer.compress(bytes(2**20)) for _ in range(2**10)]
    return Sent(b"".join((*parts, packer.flush())), RSS, "gzip")


# Each: where a site has it, and what makes it, given the address of the site.
LISTS: Final[dict[str, tuple[str, Callable[[str], Sent]]]] = {
    "sitemap of 50,000": ("/map.xml", lambda url: sitemap(url, 50_000)),
    "sitemap of 300,000": ("/map.xml", lambda url: sitemap(url, 300_000)),
    "front of 60,000 links": ("/", lambda url: front(url, 60_000)),
    "feed of 12 MB": ("/feed", lambda url: feed(url, 12_000_000)),
    "nested entries": ("/feed", nested),
    "gzip bomb": ("/feed", bomb),
}


class _Handler(local_server.Handler):
    server: _Server

    def do_GET(self) -> None:  # noqa: N802 - the base class calls it so
        sent = self.server.pages.get(self.path)
        body, kind, encoding = sent or Sent(b"", TEXT)
        headers = {"Content-Type": kind, "Content-Encoding": encoding}
        self.send(200 if sent else 404, headers, body)


class _Server(local_server.Server):
    """One of the sites."""

    def __init__(self, number: int, name: str) -> None:
        super().__init__((f"127.0.0.{number}", 0), _Handler)
        path, make = LISTS[name]
        link = b"<link rel=alternate type=application/rss+xml href=/feed><p>A site"
        self.pages = {
            "/": Sent(link if path == "/feed" else b"<p>A site", HTML),
            "/robots.txt": Sent(b"Sitemap: /map.xml" if path == "/map.xml" else b"", TEXT),
            path: make(self.url),
        }


@contextmanager
def serving() -> Iterator[dict[str, str]]:
    """The addresses of all sites by their names in `LISTS`, as long as the context lasts."""
    with local_server.serving("research.benchmarks.lists_server") as fronts:
        yield fronts


def main() -> None:
    servers = {name: _Server(number, name) for number, name in enumerate(LISTS, 1)}
    local_server.serve([*servers.values()], {name: each.url for name, each in servers.items()})


if __name__ == "__main__":
    main()
