"""Servers of made-up sites in a process of their own, which ends when its standard input does."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Handler(BaseHTTPRequestHandler):
    """Sends whole answers over connections that stay open, and logs nothing."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one packet

    def send(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Send *body*; headers with an empty value are left out."""
        self.send_response(status)
        for name, value in headers.items():
            if value:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """A site on an address of this machine that is its own."""

    daemon_threads = True
    request_queue_size = 128

    @property
    def url(self) -> str:
        """The address of its front page."""
        return f"http://{self.server_address[0]!s}:{self.server_port}/"

    def handle_error(self, *_: object) -> None:
        """A crawl that is killed, or has had enough, closes its connections; that is no news."""


@contextmanager
def serving(module: str, *arguments: object) -> Iterator[Any]:
    """What the *module* prints first, run with *arguments* as long as the context lasts."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
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


def serve(servers: Sequence[Server], described: object) -> None:
    """Run *servers* until standard input ends; *described* is printed as JSON for `serving`."""
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps(described), flush=True)
    sys.stdin.read()
