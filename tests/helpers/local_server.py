"""A server on the loopback, for as long as a test needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

POLL_SECONDS = 0.02  # how long the end of a server may take


@contextmanager
def serving(
    handler: Callable[..., BaseHTTPRequestHandler], host: str = "127.0.0.1"
) -> Iterator[str]:
    """The address of a server whose requests *handler* answers, without a slash at its end."""
    with ThreadingHTTPServer((host, 0), handler) as server:
        thread = Thread(target=server.serve_forever, args=(POLL_SECONDS,), daemon=True)
        thread.start()
        try:
            yield f"http://{host}:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def serving_files(folder: Path) -> AbstractContextManager[str]:
    """The same for the files of *folder*."""
    return serving(partial(SimpleHTTPRequestHandler, directory=folder))
