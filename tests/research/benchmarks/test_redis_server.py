"""The server of tests and campaigns is always our own, whatever others do with ports."""

from __future__ import annotations

from pathlib import Path

import pytest

from research.benchmarks import redis_server
from research.benchmarks.redis_server import RedisServer, free_port, running
from tests.helpers.redis import client, needs_redis

pytestmark = needs_redis


def test_a_port_that_another_server_took_just_now_is_left_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running() as other:
        free = free_port()
        ports = iter([other.port, free])
        monkeypatch.setattr(redis_server, "free_port", lambda: next(ports))

        server = RedisServer(tmp_path)

        client(server).set("whose", "ours")
        server.kill()
        assert server.port == free
        assert client(other).get("whose") is None


def test_a_server_that_was_killed_is_started_again_where_it_was() -> None:
    with running() as server:
        port = server.port
        client(server).set("what", "is stored")

        server.restart()

        assert server.port == port
        assert client(server).get("what") == b"is stored"
