"""What comes of naming a node of a cluster: one clear line, or what one slot can do."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from research.benchmarks.redis_server import RedisServer, free_port, running
from scrapy_mss.storage.opening import store_at
from scrapy_mss.storage.tables import StoreError
from tests.helpers.redis import client, needs_redis
from tests.storage.test_stores import counted, counts

pytestmark = needs_redis


def clustered() -> tuple[str, ...]:
    """The options of a node; the port of its bus would be 10,000 beyond its own."""
    return "--cluster-enabled", "yes", "--cluster-port", str(free_port())


@pytest.fixture(scope="module")
def cluster() -> Iterator[RedisServer]:
    """A node that holds no slot yet."""
    with running(*clustered()) as node:
        yield node


@pytest.fixture(scope="module")
def whole_cluster() -> Iterator[RedisServer]:
    """A cluster of one node, which holds all slots."""
    with running(*clustered()) as node:
        client(node).execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        while b"cluster_state:ok" not in client(node).execute_command("CLUSTER", "INFO"):
            time.sleep(0.05)
        yield node


def test_a_cluster_that_is_not_ready_is_refused_in_one_line(cluster: RedisServer) -> None:
    with pytest.raises(StoreError, match=r"not served. It is one of a cluster, .*name a server"):
        store_at(cluster.address()).check()


def test_a_cluster_is_refused_in_one_line(whole_cluster: RedisServer) -> None:
    with pytest.raises(StoreError, match=r"same slot. It is one of a cluster, .*name a server"):
        store_at(whole_cluster.address()).check()


def test_a_prefix_in_braces_is_in_one_slot_whose_node_can_be_named(
    whole_cluster: RedisServer,
) -> None:
    store = store_at(whole_cluster.address("{news}"))

    store.check()
    store.write([counted()])

    assert counts(store) == [1, 1, 1]
    found = client(whole_cluster)
    assert len({found.execute_command("CLUSTER KEYSLOT", key) for key in found.scan_iter()}) == 1
