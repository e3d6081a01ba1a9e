"""A store for tests: in a folder, and on a server where one is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from itertools import count
from pathlib import Path

import pytest

from research.benchmarks.redis_server import program
from scrapy_mss.storage.opening import store_at
from scrapy_mss.storage.tables import Change, Key, Row, Store

SQLITE, REDIS = "sqlite", "redis"


@pytest.fixture
def redis_address(request: pytest.FixtureRequest) -> str:
    """Where a server without any data is; empty where none is installed."""
    if program() is None:
        return ""
    address: str = request.getfixturevalue("server").address()
    return address


@pytest.fixture(params=[SQLITE, REDIS])
def store_name(request: pytest.FixtureRequest, tmp_path: Path, redis_address: str) -> str:
    """What names an empty store of each kind."""
    if request.param == SQLITE:
        return str(tmp_path / "store")
    if not redis_address:
        pytest.skip("no redis-server or valkey-server is installed: make test-redis")
    return redis_address


@pytest.fixture
def store(store_name: str) -> Iterator[Store]:
    """An empty store of each kind."""
    with closing(store_at(store_name)) as store:
        yield store


@pytest.fixture
def new_store(store_name: str) -> Iterator[Callable[[], Store]]:
    """Makes empty stores of each kind, one for each example of a property."""
    numbers = count()
    with ExitStack() as stores:
        yield lambda: stores.enter_context(closing(store_at(f"{store_name}-{next(numbers)}")))


def put(store: Store, key: Key, value: bytes, used: int) -> None:
    """Write a row, which need not be what the library would write."""
    store.write([Change((), lambda _found: {key: Row(value, used)})])
