"""A Redis server of our own on loopback, which can be killed and started again.

Each write is on the disk before it is answered, so that what a kill loses is a fault.
"""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

PROGRAMS = ("valkey-server", "redis-server")
LONGEST_START = 30.0  # seconds; it takes a tenth of one


def program() -> str | None:
    """The server that is installed; None if there is none."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class RedisServer:
    """A server with the files of its data in *folder*."""

    def __init__(self, folder: Path, *options: str) -> None:
        """Start it with further *options* of its command line."""
        self._folder = folder
        self._options = options
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def address(self, prefix: str = "test") -> str:
        """What a setting names."""
        return f"redis://127.0.0.1:{self.port}/0?prefix={prefix}"

    def start(self) -> None:
        """Start it with what it has stored, and wait until it answers."""
        found = program()
        assert found is not None
        arguments = {
            "--port": str(self.port),
            "--bind": "127.0.0.1",
            "--dir": str(self._folder),
            "--appendonly": "yes",
            "--appendfsync": "always",
            "--save": "",
            "--loglevel": "warning",
            "--logfile": str(self._folder / "server.log"),
        }
        command = [found, *(each for pair in arguments.items() for each in pair), *self._options]
        self._process = subprocess.Popen(command)  # noqa: S603 - our own
        until = time.monotonic() + LONGEST_START
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > until:
                log = (self._folder / "server.log").read_text("utf-8", "replace")
                raise RuntimeError(f"{found} does not start: {log[-500:]}")
            time.sleep(0.01)

    def kill(self) -> None:
        """End it as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def hang(self) -> None:
        """Let it accept connections and answer nothing, until `go_on` or `kill`."""
        if self._process is not None:
            self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """End what `hang` has begun."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)

    def restart(self) -> None:
        """Kill it, and start it again."""
        self.kill()
        self.start()

    def _answers(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as asked:
            asked.sendall(b"PING\r\n")
            answer = asked.recv(100)
            return answer.startswith((b"+PONG", b"-NOAUTH"))
        return False


def free_port() -> int:
    """A port of loopback that nobody uses now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def running(*options: str) -> Iterator[RedisServer]:
    """A server in a folder of its own, which is removed with it."""
    with TemporaryDirectory(prefix="scrapy-mss-redis-") as folder:
        server = RedisServer(Path(folder), *options)
        try:
            yield server
        finally:
            server.kill()
