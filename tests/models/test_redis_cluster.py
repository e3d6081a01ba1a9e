"""What comes of naming a node of a cluster: one clear line, or what one slot can do."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from scrapy_mss.models.redis_store import RedisModelStore
from scrapy_mss.quality.redis_store import RedisQualityStore
from scrapy_mss.seen.redis_store import RedisSeenStore
from scrapy_mss.sites.redis_store import RedisSiteStore

from research.benchmarks.redis_server import RedisServer, free_port, running
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.quality.counts import of_page
from scrapy_mss.seen.store import Seen
from scrapy_mss.sites.memory import SiteMemory
from scrapy_mss.storage.server_address import ServerError
from tests.helpers.redis import client, needs_redis
from tests.models.test_redis_store import trained

pytestmark = needs_redis

DAY = 40_000  # in the year 2079
SEEN = Seen(1, 2, 3, 4, 40_000_000, 40_000_000)
ADDITIONS: dict[str, Callable[[str], object]] = {
    "model": lambda named: RedisModelStore(named, DEFAULT).add(trained(1)),
    "seen": lambda named: RedisSeenStore(named, 0).add({1: SEEN}),
    "quality": lambda named: RedisQualityStore(named).add({("a.example", DAY): of_page(None)}),
    "sites": lambda named: RedisSiteStore(named).add({"a.example": SiteMemory()}, 1),
}


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


@pytest.mark.parametrize("store", ADDITIONS)
def test_a_cluster_that_is_not_ready_is_refused_in_one_line(
    cluster: RedisServer, store: str
) -> None:
    with pytest.raises(ServerError, match=r"not served. It is one of a cluster, .*name a server"):
        ADDITIONS[store](cluster.address())


@pytest.mark.parametrize("store", ADDITIONS)
def test_a_cluster_is_refused_in_one_line(whole_cluster: RedisServer, store: str) -> None:
    with pytest.raises(ServerError, match=r"same slot. It is one of a cluster, .*name a server"):
        ADDITIONS[store](whole_cluster.address())


def test_a_prefix_in_braces_is_in_one_slot_whose_node_can_be_named(
    whole_cluster: RedisServer,
) -> None:
    named = whole_cluster.address("{news}")

    for addition in ADDITIONS.values():
        addition(named)

    assert RedisModelStore(named, DEFAULT).load().bayes.pages == 1
    assert RedisSeenStore(named, 0).article(1) == SEEN
    assert RedisQualityStore(named).sites(0) == {"a.example": {DAY: of_page(None)}}
    found = client(whole_cluster)
    assert len({found.execute_command("CLUSTER KEYSLOT", key) for key in found.scan_iter()}) == 1
