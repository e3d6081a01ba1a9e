"""The workbench on two free ports of the loopback, until it is interrupted."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import ExitStack

import uvicorn

from scrapy_mss.workbench.app import application
from scrapy_mss.workbench.bench import Bench
from scrapy_mss.workbench.security import HOST, Origins


def serve(bench: Bench, ready: Callable[[str], None], port: int = 0) -> None:
    """Serve *bench*, the desk on *port* or a free one; *ready* gets the address to open."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(_listening(each)) for each in (port, 0)]
        desk, frame = (each.getsockname()[1] for each in sockets)
        origins = Origins(desk, frame)
        config = uvicorn.Config(
            application(bench, origins),
            log_level="warning",
            access_log=False,
            lifespan="off",
            server_header=False,
            ws="none",
            timeout_graceful_shutdown=1,
        )
        ready(origins.address)  # the sockets listen: who connects now waits for a moment
        uvicorn.Server(config).run(sockets=sockets)


def _listening(port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.bind((HOST, port))
    found.listen()
    return found
