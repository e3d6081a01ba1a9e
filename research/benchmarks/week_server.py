"""The made-up sites of the week, served in a process of their own, which ends with its input.

    with serving() as served:
        served.at(17)  # what was asked for before the hour 17 of the week: site, path, status

Each site has an address of this machine that is its own. One that is dead refuses connections.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from itertools import count
from typing import NamedTuple
from urllib.request import urlopen

from research.benchmarks import local_server
from research.benchmarks.week_pages import HTML, answer
from research.benchmarks.week_world import Paper, World


class Asked(NamedTuple):
    """A request that was answered."""

    site: str
    path: str
    status: int


@dataclass(frozen=True, slots=True)
class Served:
    """Where the sites are, and what moves their clock."""

    ports: dict[str, int]
    clock: str

    def at(self, hour: int) -> list[Asked]:
        """Begin the *hour*; what was asked for in the one before."""
        with urlopen(f"{self.clock}{hour}") as got:  # noqa: S310 - our own server
            return [Asked(*each) for each in json.load(got)]


class _State:
    """What all sites share."""

    def __init__(self) -> None:
        self.hour = 0
        self.asked: list[Asked] = []
        self.lock = threading.Lock()
        self.requests = count()


class _Handler(local_server.Handler):
    state: _State
    server: _Server  # the site

    def do_GET(self) -> None:  # noqa: N802 - the base class calls it so
        paper, path, state = self.server.paper, self.path.partition("?")[0], self.state
        with state.lock:  # stories are made as they are asked for
            sent = answer(paper, path, state.hour, next(state.requests))
        time.sleep(sent.seconds)
        body = sent.body.encode()
        etag, status = "", sent.status
        if sent.kind != HTML and paper.number % 2 == 0:
            etag = f'"{blake2b(body, digest_size=8).hexdigest()}"'
        if etag and self.headers.get("If-None-Match") == etag:
            status, body = 304, b""
        state.asked.append(Asked(paper.name, path, status))
        headers = {"ETag": etag, "Content-Type": sent.kind, "Location": sent.location}
        self.send(status, headers, body)


class _Server(local_server.Server):
    """One of the sites; it keeps its port while it is dead."""

    def __init__(self, paper: Paper) -> None:
        self.paper = paper
        super().__init__((paper.host, 0), _Handler)


class _Clock(local_server.Handler):
    state: _State
    servers: list[_Server]

    def do_GET(self) -> None:  # noqa: N802 - the base class calls it so
        hour = int(self.path.strip("/"))
        for each in self.servers:
            if each.paper.has("dead", hour) and not each.paper.has("dead", hour - 1):
                each.shutdown()
                each.server_close()
        self.state.hour = hour
        asked, self.state.asked = self.state.asked, []
        self.send(200, {"Content-Type": "application/json"}, json.dumps(asked).encode())


@contextmanager
def serving() -> Iterator[Served]:
    """The sites, served as long as the context lasts."""
    with local_server.serving("research.benchmarks.week_server") as described:
        yield Served(**described)


def main() -> None:
    world = World()
    servers = [_Server(paper) for paper in world.papers.values()]
    ports = {each.paper.name: each.server_port for each in servers}
    world.at(ports)
    _Handler.state = _Clock.state = _State()
    _Clock.servers = servers
    clock = local_server.Server(("127.0.0.1", 0), _Clock)
    local_server.serve([*servers, clock], {"ports": ports, "clock": clock.url})


if __name__ == "__main__":
    main()
