"""Serves the sites on loopback, for crawlers and browsers that use it as their HTTP proxy.

The sites' hosts exist in no name service. A proxy is asked for whole addresses
(`GET http://www.daily-harbour.example/ HTTP/1.1`), so that no name is ever looked up.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar, NamedTuple

from demo_web.feeds import FEEDS, entries
from demo_web.rendering import render
from demo_web.site import SITES, Site

LOOPBACK = "127.0.0.1"
SECONDS = 30  # an idle connection is closed after so long


class Answer(NamedTuple):
    """What is sent for an address."""

    status: int
    content_type: str
    body: bytes


HOSTS = ", ".join(site.host for site in SITES.values())
MISSING = Answer(404, "text/plain", f"Use this server as HTTP proxy, and visit {HOSTS}".encode())
# All pictures are the same grey box.
PICTURE = Answer(
    200,
    "image/svg+xml",
    b'<svg xmlns="http://www.w3.org/2000/svg" width="320" height="180">'
    b'<rect width="320" height="180" fill="#9ab"/></svg>',
)


def answers(sites: Iterable[Site], now: datetime) -> dict[str, Answer]:
    """The answer for each address; what a site's encoding lacks is sent as character references."""
    return {url: answer for site in sites for url, answer in _answers(site, now)}


def _answers(site: Site, now: datetime) -> Iterator[tuple[str, Answer]]:
    for page in site.pages:
        body = render(site, page).encode(site.encoding, "xmlcharrefreplace")
        yield f"http://{site.host}{page.path}", Answer(200, site.content_type, body)
    feed = FEEDS[site.feed]
    url = f"http://{site.host}{feed.path}"
    yield url, Answer(200, feed.content_type, feed.write(site, [*entries(site, now)]).encode())
    if site.feed == "sitemap":
        robots = f"Sitemap: {url}\n".encode()
        yield f"http://{site.host}/robots.txt", Answer(200, "text/plain", robots)


class Handler(BaseHTTPRequestHandler):
    """Answers GET, as a proxy is asked."""

    protocol_version = "HTTP/1.1"
    timeout = SECONDS
    wbufsize = 1 << 16  # headers and body leave together
    disable_nagle_algorithm = True
    answers: ClassVar[Mapping[str, Answer]]

    def do_GET(self) -> None:
        """Look the address up and send what is there."""
        found = PICTURE if self.path.endswith(".svg") else self.answers.get(self.path, MISSING)
        self.send_response(found.status)
        self.send_header("Content-Type", found.content_type)
        self.send_header("Content-Length", str(len(found.body)))
        self.end_headers()
        self.wfile.write(found.body)

    def log_message(self, *args: object) -> None:
        """Print nothing: a crawl asks for hundreds of pages."""


@contextmanager
def serving(
    port: int = 0, sites: Mapping[str, Site] = SITES, now: datetime | None = None
) -> Iterator[str]:
    """Serve all *sites* while the block runs, on a free port unless *port* names one.

    Feeds are as they are *now*, by default really. The value is the address of the server, which
    is that of the proxy.
    """
    found = answers(sites.values(), now or datetime.now(timezone.utc))
    handler = type("SiteHandler", (Handler,), {"answers": found})
    with ThreadingHTTPServer((LOOPBACK, port), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://{LOOPBACK}:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
