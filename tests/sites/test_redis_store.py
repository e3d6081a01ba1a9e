"""The memories of sites on a server are what they would be in a file."""

from __future__ import annotations

import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scrapy_mss.sites.redis_store import RedisSiteStore
from scrapy_mss.storage.redis_server import ForeignDataError, LostConnectionError

from research.benchmarks.redis_server import RedisServer, running
from scrapy_mss.sites.memory import SiteMemory
from scrapy_mss.sites.store import SiteStore
from tests.helpers.memories import NOW, page_memory
from tests.helpers.redis import client, needs_redis, server, shared_server

pytestmark = needs_redis
__all__ = ["server", "shared_server"]  # fixtures

PAGE, OTHER = page_memory("<p>One two</p>"), page_memory("<p>Three</p>", path="a/b")
SITES = ("a.example", "b.example")
STEPS = st.lists(
    st.tuples(
        st.dictionaries(st.sampled_from(SITES), st.sampled_from([PAGE, OTHER]), min_size=1),
        st.sets(st.sampled_from(SITES)),
    ),
    max_size=6,
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_the_server_has_what_a_file_would_have(
    server: RedisServer, steps: list[tuple[dict[str, SiteMemory], set[str]]]
) -> None:
    client(server).flushall()
    store = RedisSiteStore(server.address())
    with TemporaryDirectory() as folder:
        file = SiteStore(Path(folder) / "sites")

        for learned, anew in steps:
            store.add(learned, NOW, anew)
            file.add(learned, NOW, anew)

        for site in SITES:
            assert store.load(site) == file.load(site)
    store.close()


def test_crawls_at_once_add_up(server: RedisServer) -> None:
    def add_often() -> None:
        store = RedisSiteStore(server.address())
        for _ in range(10):
            store.add({"a.example": PAGE, "b.example": OTHER}, NOW)
        store.close()

    crawls = [threading.Thread(target=add_often) for _ in range(4)]
    for each in crawls:
        each.start()
    for each in crawls:
        each.join()

    store = RedisSiteStore(server.address())
    assert [store.load(site).pages for site in SITES] == [40, 40]


def test_an_addition_whose_answer_is_lost_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scrapy_mss.storage.redis_server.sleep", lambda _seconds: None)
    with running() as server:
        store = RedisSiteStore(server.address())
        store.add({"a.example": PAGE}, NOW)
        server.kill()
        store.add({"a.example": PAGE}, NOW)
        with pytest.raises(LostConnectionError):
            store.add({"a.example": PAGE}, NOW)
        server.start()

        store.close()

        assert RedisSiteStore(server.address()).load("a.example").pages == 2


def test_other_data_is_refused(server: RedisServer) -> None:
    client(server).set("test:sites", "theirs")

    with pytest.raises(ForeignDataError, match="expected 'scrapy-mss sites"):
        RedisSiteStore(server.address()).add({"a.example": PAGE}, NOW)


def test_a_damaged_memory_is_replaced_and_costs_no_other_site_its_own(
    server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    client(server).set("test:sites:of:a.example", "half")
    store = RedisSiteStore(server.address())

    assert store.load("a.example") == SiteMemory()
    store.add({"a.example": PAGE, "b.example": OTHER}, NOW)

    assert [store.load(site) for site in SITES] == [PAGE, OTHER]
    (message,) = caplog.messages
    assert "'a.example' is damaged: the checksum is wrong" in message
