"""Counts by day on a server are what they would be in a file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scrapy_mss.quality.redis_store import RedisQualityStore
from scrapy_mss.storage.redis_server import ForeignDataError, LostConnectionError

from research.benchmarks.redis_server import RedisServer, running
from scrapy_mss.quality.store import Key, QualityStore
from tests.helpers.redis import client, needs_redis, server, shared_server

pytestmark = needs_redis
__all__ = ["server", "shared_server"]  # fixtures

TODAY = 30_000  # in the year 2052: what is of the past ends at once
NAMES = st.one_of(
    st.sampled_from(["pages", "articles", "selector/h1 \ud800 é"]),
    st.integers(0, 24).map(lambda number: f"place/{number:08x}"),
    st.integers(0, 24).map(lambda number: f"failed/{number:02} HTTP 503"),
)
COUNTS = st.dictionaries(NAMES, st.integers(0, 9), min_size=1).map(Counter)
KEYS = st.tuples(st.sampled_from(["a.example", "b.example"]), st.integers(TODAY, TODAY + 3))
STEPS = st.lists(st.dictionaries(KEYS, COUNTS, min_size=1, max_size=3), max_size=6)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, since=st.integers(TODAY, TODAY + 3), kept=st.integers(TODAY, TODAY + 4))
def test_the_server_has_what_a_file_would_have(
    server: RedisServer, steps: list[dict[Key, Counter[str]]], since: int, kept: int
) -> None:
    client(server).flushall()
    store = RedisQualityStore(server.address())
    with TemporaryDirectory() as folder:
        file = QualityStore(Path(folder) / "quality.db")

        for counted in steps:
            store.add(counted)
            file.add(counted)

        for each in ("before", "after"):
            assert store.sites(since) == file.sites(since), each
            asked = ["a.example", "b.example", "c.example"]
            assert dict(store.days(asked, since)) == dict(file.days(asked, since)), each
            store.forget_before(kept)
            file.forget_before(kept)


def test_an_addition_whose_answer_is_lost_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scrapy_mss.storage.redis_server.sleep", lambda _seconds: None)
    with running() as server:
        store = RedisQualityStore(server.address())
        store.check()
        server.kill()
        store.add({("a.example", TODAY): Counter(pages=1)})
        with pytest.raises(LostConnectionError):
            store.add({("a.example", TODAY): Counter(pages=10)})
        server.start()

        store.close()

        found = RedisQualityStore(server.address()).sites(TODAY)
        assert found == {"a.example": {TODAY: Counter(pages=1)}}


def test_other_data_is_refused(server: RedisServer) -> None:
    client(server).set("test:quality", "theirs")

    with pytest.raises(ForeignDataError, match="expected 'scrapy-mss counts by day"):
        RedisQualityStore(server.address()).check()
