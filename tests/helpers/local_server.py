"""A server on the loopback, for as long as a test needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from email.message import Message
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TypeAlias

from research.benchmarks.local_server import Handler

Answer: TypeAlias = tuple[int, Mapping[str, str], bytes]  # status, headers and body

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


def answering(
    answer: Callable[[str, Message], Answer], host: str = "127.0.0.1"
) -> AbstractContextManager[str]:
    """The same for a server that sends what *answer* says of a path and the request's headers."""

    class Answering(Handler):
        def do_GET(self) -> None:  # noqa: N802 - its name there
            self.send(*answer(self.path, self.headers))

        do_POST = do_GET  # noqa: N815 - the base class calls it so

    return serving(Answering, host)


def serving_files(folder: Path) -> AbstractContextManager[str]:
    """The same for the files of *folder*."""
    return serving(partial(SimpleHTTPRequestHandler, directory=folder))
