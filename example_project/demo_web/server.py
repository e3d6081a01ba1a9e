"""A small HTTP server for the sites, on loopback, for crawlers and browsers.

Strategy: all pages are made once, before the server says that it is ready, and kept by host and
path; a request is one lookup. The sites' hosts exist in no name service, so the server is meant to
be used as an HTTP proxy (`GET http://www.daily-harbour.example/ HTTP/1.1`), which Scrapy and
browsers speak without looking a name up. A direct request with the site's name in `Host` works too,
and so does `<name>.localhost`. Connections stay open; gzip goes to those who accept it, from sites
that compress. HTTPS through the proxy (`CONNECT`) is refused.
"""

from __future__ import annotations

import gzip
import signal
import sys
import threading
from collections.abc import Iterable, Mapping
from functools import cached_property
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import ClassVar
from urllib.parse import urlsplit

from demo_web import publishing
from demo_web.markup import escape, items, link
from demo_web.page import Page
from demo_web.site import Site
from demo_web.sites import SITES

LOOPBACK = "127.0.0.1"
GZIP_LEVEL = 1  # fast: on loopback the size does not matter, only that clients must unpack
SECONDS = 30  # an idle connection is closed after so long


class Shelf:
    """The pages of one site, by path."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.pages = {page.path: page for page in publishing.pages(site)}
        self._packed: dict[str, bytes] = {}

    def find(self, path: str) -> Page:
        """The page at *path*, or the site's apology."""
        return self.pages.get(path) or publishing.missing(self.site, path)

    def packed(self, page: Page) -> bytes:
        """The page's body after gzip, made when first asked for."""
        if page.path not in self.pages:
            return gzip.compress(page.body, GZIP_LEVEL, mtime=0)
        if page.path not in self._packed:
            self._packed[page.path] = gzip.compress(page.body, GZIP_LEVEL, mtime=0)
        return self._packed[page.path]


class Library:
    """The sites by the hosts that they answer to."""

    def __init__(self, names: Iterable[str]) -> None:
        self.shelves = {name: Shelf(SITES[name]) for name in names}
        self.hosts: Mapping[str, Shelf] = MappingProxyType(
            {
                host: shelf
                for name, shelf in self.shelves.items()
                for host in (shelf.site.host, f"{name}.example", f"{name}.localhost")
            }
        )

    @property
    def size(self) -> int:
        """How many pages there are."""
        return sum(len(shelf.pages) for shelf in self.shelves.values())

    @cached_property
    def entrance(self) -> Page:
        """What a direct request without a site's name sees: where the sites are."""
        links = items(
            link(f"http://{shelf.site.host}/", shelf.site.title) for shelf in self.shelves.values()
        )
        text = (
            '<!DOCTYPE html><meta charset="utf-8"><title>Demo web</title><h1>Demo web</h1>'
            f"<ul>{links}</ul><p>{escape('Use this server as your HTTP proxy to visit them.')}</p>"
        )
        headers = (("Content-Type", "text/html; charset=utf-8"),)
        return Page("/", 200, headers, text.encode(), None, "entrance")


class Handler(BaseHTTPRequestHandler):
    """Answers GET and HEAD, of proxies and others."""

    protocol_version = "HTTP/1.1"
    server_version = "demo-web"
    sys_version = ""
    timeout = SECONDS
    wbufsize = 1 << 16  # headers and body leave together
    disable_nagle_algorithm = True
    library: ClassVar[Library]

    def do_GET(self) -> None:
        """Look the page up and send it."""
        host, path = self._target()
        shelf = self.library.hosts.get(host)
        if shelf:
            page = shelf.find(path)
            packed = shelf.site.compressed and "gzip" in self.headers.get("Accept-Encoding", "")
            self._send(page, shelf.packed(page) if packed else page.body, packed=packed)
        elif host.endswith((".example", ".localhost")):
            self.send_error(HTTPStatus.BAD_GATEWAY, f"No site {host} in the demo web")
        else:
            page = self.library.entrance
            self._send(page, page.body)

    def do_HEAD(self) -> None:
        """The same without the body."""
        self.do_GET()

    def do_CONNECT(self) -> None:
        """Refuse: the demo web has no certificates."""
        self.send_error(HTTPStatus.NOT_IMPLEMENTED, "The demo web speaks plain HTTP only")

    def log_message(self, *args: object) -> None:
        """Say nothing: a crawl asks for a thousand pages."""

    def _target(self) -> tuple[str, str]:
        """Host and path of the request, whether it came as to a proxy or directly."""
        address = self.path if self.path.startswith("http://") else f"//{self._host()}{self.path}"
        parts = urlsplit(address)
        query = f"?{parts.query}" if parts.query else ""
        return (parts.hostname or "").lower(), (parts.path or "/") + query

    def _host(self) -> str:
        return str(self.headers.get("Host", LOOPBACK))

    def _send(self, page: Page, body: bytes, *, packed: bool = False) -> None:
        self.send_response(page.status)
        for name, value in page.headers:
            self.send_header(name, value)
        if packed:
            self.send_header("Content-Encoding", "gzip")
            self.send_header("Vary", "Accept-Encoding")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


class Server(ThreadingHTTPServer):
    """A thread for each connection; a lost connection is no news."""

    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_: object) -> None:
        """Pass over clients that went away; show anything else."""
        error = sys.exc_info()[1]
        if not isinstance(error, ConnectionError | TimeoutError):
            raise  # noqa: PLE0704 - called from an except clause


def serve(names: Iterable[str], port: int, *, while_input: bool = False) -> None:
    """Serve the sites until SIGTERM, SIGINT, or with *while_input* the end of standard input."""
    library = Library(names)
    handler = type("SiteHandler", (Handler,), {"library": library})
    with Server((LOOPBACK, port), handler) as server:

        def stop(*_: object) -> None:
            # shutdown() waits for serve_forever(), which the signal has interrupted in this thread
            threading.Thread(target=server.shutdown).start()

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, stop)
        if while_input:
            threading.Thread(target=lambda: stop(sys.stdin.read()), daemon=True).start()
        address = f"http://{LOOPBACK}:{server.server_port}"
        counts = f"{len(library.shelves)} sites, {library.size} pages"
        line = f"demo web: {address} ({counts})"
        print(line, flush=True)  # noqa: T201 - those who started the server wait for it
        server.serve_forever(poll_interval=0.1)
