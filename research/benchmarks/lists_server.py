"""Sites each of which has one list that is dear to read, on addresses of this machine.

    with serving() as fronts:
        fronts["feed of 12 MB"]

Every site is in one process, which ends when its standard input does. Articles are not found there:
what is measured is what their lists cost.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final, NamedTuple

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


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one packet
    server: _Server

    def do_GET(self) -> None:
        sent = self.server.pages.get(self.path)
        body, kind, encoding = sent or Sent(b"", TEXT)
        self.send_response(200 if sent else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if encoding:
            self.send_header("Content-Encoding", encoding)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    """One of the sites."""

    daemon_threads = True

    def __init__(self, number: int, name: str) -> None:
        super().__init__((f"127.0.0.{number}", 0), _Handler)
        self.url = f"http://127.0.0.{number}:{self.server_port}/"
        path, make = LISTS[name]
        link = b"<link rel=alternate type=application/rss+xml href=/feed><p>A site"
        self.pages = {
            "/": Sent(link if path == "/feed" else b"<p>A site", HTML),
            "/robots.txt": Sent(b"Sitemap: /map.xml" if path == "/map.xml" else b"", TEXT),
            path: make(self.url),
        }

    def handle_error(self, *_: object) -> None:
        """A crawl that has had enough closes its connection; that is no news."""


@contextmanager
def serving() -> Iterator[dict[str, str]]:
    """The addresses of all sites by their names in `LISTS`, as long as the context lasts."""
    command = [sys.executable, "-m", "research.benchmarks.lists_server"]
    with subprocess.Popen(  # noqa: S603 - our own program
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            yield json.loads(server.stdout.readline())
        finally:
            server.stdin.close()
            server.wait()


def main() -> None:
    servers = {name: _Server(number, name) for number, name in enumerate(LISTS, 1)}
    for server in servers.values():
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({name: each.url for name, each in servers.items()}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
