"""A server for tests, and the mark of tests that need one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from research.benchmarks.redis_server import RedisServer, program, running

needs_redis = pytest.mark.skipif(
    program() is None, reason="no redis-server or valkey-server is installed: make test-redis"
)


@pytest.fixture(scope="session")
def shared_server() -> Iterator[RedisServer]:
    """A server that runs while the tests do."""
    with running() as server:
        yield server


@pytest.fixture
def server(shared_server: RedisServer) -> RedisServer:
    """That server, without any data."""
    client(shared_server).flushall()
    return shared_server


def client(server: RedisServer | str) -> Any:  # noqa: ANN401 - redis-py's types are of all its answers
    """What puts data at a server, or an address, that is not ours."""
    from redis import Redis

    address = server if isinstance(server, str) else server.address()
    return Redis.from_url(address.partition("?")[0])
