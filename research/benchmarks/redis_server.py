"""A Redis server of our own on loopback, which can be killed and started again.

Each write is on the disk before it is answered, so that what a kill loses is a fault.

It is started again at its old port, which nobody may take meanwhile: it is none of those that a
system usually gives to clients. One that tries such a port again and again, while the server is
away, may even come to be connected with itself.
"""

from __future__ import annotations

import secrets
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
LONGEST_START = 120.0  # seconds; it takes a tenth of one
PORTS = range(10_000, 32_000)  # below those that Linux, macOS and Windows usually give to clients
ANSWER_BYTES = 4096
TRIES = 10  # ports that others may have taken just now


def program() -> str | None:
    """The server that is installed; None if there is none."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class RedisServer:
    """A server with the files of its data in *folder*."""

    def __init__(self, folder: Path, *options: str) -> None:
        """Start it with further *options* of its command line."""
        self._folder = folder
        self._options = options
        self.port = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._start_at_a_free_port()

    def address(self, prefix: str = "test") -> str:
        """What a setting names."""
        return f"redis://127.0.0.1:{self.port}/0?prefix={prefix}"

    def _start_at_a_free_port(self) -> None:
        for _ in range(TRIES - 1):
            self.port = free_port()
            with suppress(RuntimeError):
                self.start()
                return
        self.port = free_port()
        self.start()

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
                self.kill()
                raise RuntimeError(f"{found} does not start: {self._log()[-500:]}")
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

    def _log(self) -> str:
        with suppress(OSError):
            return (self._folder / "server.log").read_text("utf-8", "replace")
        return ""

    def _answers(self) -> bool:
        """Whether it answers, and no server of somebody else's at its port."""
        assert self._process is not None
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as asked:
            asked.sendall(b"PING\r\nINFO server\r\n")
            answer, ours = asked.recv(ANSWER_BYTES), b"process_id:%d\r" % self._process.pid
            return answer.startswith(b"-NOAUTH") or (answer[:5] == b"+PONG" and ours in answer)
        return False


def free_port() -> int:
    """A port of loopback that nobody uses now, nor a client soon."""
    while True:
        port = secrets.choice(PORTS)
        with suppress(OSError), socket.socket() as found:
            found.bind(("127.0.0.1", port))
            return port


@contextmanager
def running(*options: str) -> Iterator[RedisServer]:
    """A server in a folder of its own, which is removed with it."""
    with TemporaryDirectory(prefix="scrapy-mss-redis-") as folder:
        server = RedisServer(Path(folder), *options)
        try:
            yield server
        finally:
            server.kill()
