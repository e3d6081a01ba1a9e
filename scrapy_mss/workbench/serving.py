"""Serves the workbench on two free ports of the loopback until interrupted."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

import uvicorn

from scrapy_mss.workbench.app import application
from scrapy_mss.workbench.bench import Bench
from scrapy_mss.workbench.security import HOST, Origins


class Server(NamedTuple):
    """A server whose sockets listen already: who connects before it runs waits for a moment."""

    origins: Origins
    server: uvicorn.Server
    sockets: list[socket.socket]

    def run(self) -> None:
        """Answer until the server is told to end."""
        self.server.run(sockets=self.sockets)


def serve(bench: Bench, ready: Callable[[str], None], port: int = 0) -> None:
    """Serve *bench*, the desk on *port* or a free one; *ready* gets the address to open."""
    with prepared(bench, port) as server:
        ready(server.origins.address)
        server.run()


@contextmanager
def prepared(bench: Bench, port: int = 0) -> Iterator[Server]:
    """A server for *bench* that is still to run; at the end its sockets are closed."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(_listening(each)) for each in (port, 0)]
        desk, frame = (each.getsockname()[1] for each in sockets)
        origins = Origins(desk, frame)
        config = uvicorn.Config(
            application(bench, origins),
            log_config=None,  # uvicorn's own would close the handlers that this process has
            log_level="warning",
            access_log=False,
            lifespan="off",
            server_header=False,
            ws="none",
            timeout_graceful_shutdown=1,
        )
        yield Server(origins, uvicorn.Server(config), sockets)


def _listening(port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":  # elsewhere it would let another program listen there, too
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.bind((HOST, port))
    found.listen()
    return found
