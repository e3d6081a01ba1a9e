"""What was seen is on a server what it would be in a file."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scrapy_mss.seen.redis_store import RedisSeenStore
from scrapy_mss.storage.redis_server import ForeignDataError, LostConnectionError, SilentServerError

from research.benchmarks.redis_server import RedisServer, running
from scrapy_mss.seen.crawled import SeenArticles, Times
from scrapy_mss.seen.store import Seen, SeenList, SeenStore
from tests.helpers.redis import client, needs_redis, server, shared_server

pytestmark = needs_redis
__all__ = ["server", "shared_server"]  # fixtures

KEPT = 400 * 24 * 60  # minutes
NUMBERS = st.integers(-(2**63), 2**63 - 1)
MINUTES = st.integers(40_000_000, 40_000_003)  # in the year 2046
SEEN = st.builds(
    Seen, NUMBERS, st.integers(-(2**31), 2**31 - 1), st.integers(0, 3), MINUTES, MINUTES, MINUTES
)
KEYS = st.sampled_from([-(2**63), -1, 0, 2**63 - 1])
LISTS = st.builds(
    SeenList,
    st.text(max_size=5),
    st.text(max_size=5),
    st.lists(st.tuples(st.sampled_from(["feed", "sitemap"]), st.text(max_size=5)), max_size=2).map(
        tuple
    ),
)
URLS = ["http://a.example/feed", "http://a.example/é"]


def store_at(server: RedisServer) -> RedisSeenStore:
    return RedisSeenStore(server.address(), KEPT)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(st.dictionaries(KEYS, SEEN, min_size=1), max_size=5),
    lists=st.lists(st.dictionaries(st.sampled_from(URLS), LISTS, min_size=1), max_size=2),
)
def test_the_server_has_what_a_file_would_have(
    server: RedisServer, steps: list[dict[int, Seen]], lists: list[dict[str, SeenList]]
) -> None:
    client(server).flushall()
    store = store_at(server)
    with TemporaryDirectory() as folder:
        file = SeenStore(Path(folder) / "seen.db")

        for articles in steps:
            store.add(articles)
            file.add(articles)
        for each in lists:
            store.add_lists(each, 40_000_000)
            file.add_lists(each, 40_000_000)

        for key in (-(2**63), -1, 0, 2**63 - 1, 7):
            assert store.article(key) == file.article(key)
        for url in URLS:
            assert store.list(url) == file.list(url)
        file.close()
    store.close()


def test_what_no_crawl_has_met_for_long_ends(server: RedisServer) -> None:
    store = store_at(server)

    store.add({1: Seen(1, 1, 1, 0, 40_000_000, 40_000_000), 2: Seen(1, 1, 1, 0, 5, 5)})

    assert store.article(2) is None
    assert client(server).expiretime("test:seen:at:1") == 60 * (40_000_000 + KEPT)


def test_a_server_that_does_not_answer_is_not_asked_at_every_page() -> None:
    with running() as server:
        store = store_at(server)
        store.check()
        assert store.article(1) is None
        server.kill()

        with pytest.raises(LostConnectionError, match="no answer"):
            store.article(1)
        with pytest.raises(LostConnectionError, match="did not answer just now"):
            store.article(1)


def test_a_server_that_hangs_is_asked_again_once_it_has_answered_a_thread() -> None:
    """Nobody else waits for that: a crawl asks between two pages."""
    with running() as server:
        store = store_at(server)
        store.add({1: Seen(1, 1, 1, 0, 40_000_000, 40_000_000)})
        server.hang()
        with pytest.raises(SilentServerError):
            store.articles([1])
        for _ in range(3):
            with pytest.raises(LostConnectionError, match="did not answer just now"):
                store.articles([1])

        server.go_on()

        while not found(store):
            time.sleep(0.05)
        store.close()


def found(store: RedisSeenStore) -> bool:
    """Whether the server is asked, and answers."""
    try:
        return store.article(1) is not None
    except LostConnectionError:
        return False


def test_other_data_is_refused(server: RedisServer) -> None:
    client(server).set("test:seen", "theirs")

    with pytest.raises(ForeignDataError, match="expected 'scrapy-mss seen"):
        store_at(server).check()


@pytest.mark.parametrize("value", ["", "1 2 3", "1 2 3 4 5 x"])
def test_what_is_damaged_is_named_and_an_article_is_written_anew(
    server: RedisServer, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    store, whole = store_at(server), Seen(1, 2, 3, 4, 40_000_000, 40_000_000)
    store.add({2: whole})
    client(server).set("test:seen:at:1", value)
    client(server).set("test:seen:list:u", value)

    assert store.articles([1, 2, 3]) == {2: whole}
    assert "expected six numbers at the key 'test:seen:at:1'" in caplog.text
    store.add({1: whole})

    assert store.article(1) == whole
    with pytest.raises(ForeignDataError, match=r"test:seen:list:u.*Delete the key"):
        store.list("u")


def test_a_long_list_is_asked_for_in_few_messages(server: RedisServer) -> None:
    """The event loop waits for each of them."""
    store = store_at(server)
    store.add({key: Seen(key, 1, 1, 1, 40_000_000, 40_000_000) for key in range(3000)})
    articles = SeenArticles(store, Times(60, 0), lambda: 40_000_000)
    client(server).config_resetstat()

    due = articles.due([(f"http://a.example/{number}", 0) for number in range(2500)])

    asked = client(server).info("commandstats")
    assert all(due)
    assert asked["cmdstat_mget"]["calls"] == 3
    assert "cmdstat_get" not in asked
    assert len(store.articles(range(2500))) == 2500
