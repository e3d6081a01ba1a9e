"""A store for tests: in a folder, and on a server where one is installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from research.benchmarks.redis_server import program, running
from tests.helpers.redis import client

SQLITE, REDIS = "sqlite", "redis"


@pytest.fixture(scope="module")
def redis_address() -> Iterator[str]:
    """A server that runs while the tests of a module do; empty where none is installed."""
    if program() is None:
        yield ""
        return
    with running() as server:
        yield server.address()


@pytest.fixture(params=[SQLITE, REDIS])
def store_name(request: pytest.FixtureRequest, tmp_path: Path, redis_address: str) -> str:
    """What names an empty store of each kind."""
    if request.param == SQLITE:
        return str(tmp_path / "store")
    if not redis_address:
        pytest.skip("no redis-server or valkey-server is installed: make test-redis")
    client(redis_address).flushall()
    return redis_address
