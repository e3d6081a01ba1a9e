"""What crawls have seen is found as a plain dict would have it, in each kind of store."""

from __future__ import annotations

from collections.abc import Callable
from time import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scrapy_mss.seen.articles import SeenArticle, SeenList, SeenStore, adding, adding_lists
from scrapy_mss.seen.keys import packed
from scrapy_mss.storage.tables import DAY, LISTS, PARAGRAPHS, SEEN, Store
from tests.helpers.stores import new_store, put, redis_address, store, store_name

__all__ = ["new_store", "redis_address", "store", "store_name"]  # fixtures

NOW = int(time() // 60)
ARTICLE = SeenArticle(text=1, title=2, revision=1, listed=30, checked=NOW, met=NOW)
KEYS = (-(2**63), -1, 0, 2**63 - 1)
URLS = ("http://a.example/feed", "http://a.example/é\udcff")
NUMBERS = st.integers(-(2**63), 2**63 - 1)
MINUTES = st.integers(NOW, NOW + 3)
ARTICLES = st.builds(
    SeenArticle,
    NUMBERS,
    NUMBERS,
    st.integers(0, 3),
    MINUTES,
    MINUTES,
    MINUTES,
    st.binary(max_size=3),
)
WORDS = st.text(max_size=5)
NAMED = st.tuples(st.sampled_from(["feed", "sitemap"]), WORDS)
FEEDS = st.builds(SeenList, WORDS, WORDS, st.lists(NAMED, max_size=2).map(tuple))


def latest(
    additions: list[dict[int, SeenArticle]],
) -> tuple[dict[int, SeenArticle], dict[int, bytes]]:
    """What is known after *additions*: what was read last, and the greatest of some numbers."""
    known, paragraphs = dict[int, SeenArticle](), dict[int, bytes]()
    for addition in additions:
        for key, seen in addition.items():
            before = known.get(key, seen)
            if seen.checked < before.checked:
                continue
            known[key] = seen._replace(
                revision=max(before.revision, seen.revision),
                listed=max(before.listed, seen.listed),
                met=max(before.met, seen.met),
                paragraphs=b"",
            )
            paragraphs[key] = seen.paragraphs or paragraphs.get(key, b"")
    return known, paragraphs


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    checkpoints=st.lists(
        st.lists(st.dictionaries(st.sampled_from(KEYS), ARTICLES), max_size=3), max_size=4
    )
)
def test_articles_are_known_as_they_were_read_last(
    new_store: Callable[[], Store], checkpoints: list[list[dict[int, SeenArticle]]]
) -> None:
    store = new_store()
    for additions in checkpoints:
        store.write([adding(each) for each in additions])
    known, paragraphs = latest([each for additions in checkpoints for each in additions])
    seen = SeenStore(store)

    assert seen.articles([*KEYS, 7]) == known
    assert {key: seen.paragraphs(key) for key in known} == paragraphs


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(checkpoints=st.lists(st.dictionaries(st.sampled_from(URLS), FEEDS), max_size=4))
def test_a_list_is_known_as_it_was_stored_last(
    new_store: Callable[[], Store], checkpoints: list[dict[str, SeenList]]
) -> None:
    store, known = new_store(), dict[str, SeenList]()
    for lists in checkpoints:
        store.write([adding_lists(lists, NOW)])
        known |= lists

    found = {url: SeenStore(store).list(url) for url in URLS}
    assert found == {url: known.get(url) for url in URLS}


def test_what_no_crawl_has_met_for_long_is_forgotten(store: Store) -> None:
    ages = {1: 0, 2: PARAGRAPHS.days + 1, 3: SEEN.days + 1}
    read = ARTICLE._replace(checked=NOW - 2 * SEEN.days * DAY)
    store.write([adding({key: read._replace(met=NOW - days * DAY) for key, days in ages.items()})])
    store.write([adding_lists({str(n): SeenList('"a"') for n in ages}, NOW - LISTS.days * DAY - 1)])
    store.write([adding_lists({"1": SeenList('"b"')}, NOW)])

    store.forget(NOW)

    assert list(SeenStore(store).articles(ages)) == [1, 2]
    found = [SeenStore(store).list(str(n)) for n in ages]
    assert found == [SeenList('"b"'), None, None]


def test_paragraphs_are_forgotten_before_their_article(store: Store) -> None:
    read = NOW - (PARAGRAPHS.days + 1) * DAY
    old = ARTICLE._replace(checked=read, paragraphs=b"some")
    store.write([adding({1: old, 2: old._replace(checked=NOW)})])

    store.forget(NOW)

    assert list(SeenStore(store).articles([1, 2])) == [1, 2]
    assert [SeenStore(store).paragraphs(key) for key in (1, 2)] == [b"", b"some"]


@pytest.mark.parametrize("damage", [b"", b"null", b"[1, 2, 3]", b'["", "", [[]]]', b"[" * 9999])
def test_a_damaged_row_costs_itself_alone_and_is_written_anew(
    store: Store, damage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    feed = SeenList('"a"')
    store.write([adding({2: ARTICLE}), adding_lists({"b": feed}, NOW)])
    put(store, SEEN.key(packed(1)), damage, NOW)
    put(store, LISTS.key("a"), damage, NOW)
    seen = SeenStore(store)

    assert seen.articles([1, 2, 3]) == {2: ARTICLE}
    assert [seen.list("a"), seen.list("b")] == [None, feed]
    assert "the list 'a' is damaged" in caplog.text
    store.write([adding({1: ARTICLE, 2: ARTICLE}), adding_lists({"a": feed}, NOW)])

    assert seen.articles([1, 2]) == {1: ARTICLE, 2: ARTICLE}
    assert seen.list("a") == feed
