"""The file of what was seen: added to by several crawls, whatever happens to one of them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from scrapy_mss.seen.files import SeenStoreError

from scrapy_mss.seen import store as seen_store
from scrapy_mss.seen.store import Seen, SeenList, SeenStore

ARTICLE = Seen(text=1, title=2, revision=1, listed=30, checked=40, met=40)


@pytest.fixture
def store(tmp_path: Path) -> SeenStore:
    return SeenStore(tmp_path / "folder" / "seen.db")


def test_what_was_added_is_found_by_another_crawl(store: SeenStore) -> None:
    store.add({7: ARTICLE, -(2**63): ARTICLE._replace(text=5)})

    other = SeenStore(store.path)
    assert other.article(7) == ARTICLE
    assert other.article(-(2**63)) == ARTICLE._replace(text=5)
    assert other.article(8) is None
    assert len(other) == 2


def test_the_later_of_two_crawls_counts(store: SeenStore) -> None:
    later = ARTICLE._replace(text=9, revision=2, checked=50)
    for order in ((ARTICLE, later), (later, ARTICLE)):
        for number, each in enumerate(order):
            store.add({number: each, 7: each})
        assert store.article(7) == later


def test_a_list_is_found_with_what_it_names(store: SeenStore) -> None:
    seen = SeenList('"a"', "Mon, 2 Mar 2026 10:00:00 GMT", (("feed", "http://a.example/rss"),))
    store.add_lists({"http://a.example/": seen}, 5)

    assert store.list("http://a.example/") == seen
    assert store.list("http://b.example/") is None


def test_the_lists_that_were_met_longest_ago_go_first(
    store: SeenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seen_store, "MAX_LISTS", 2)
    for minute in (3, 1, 2):
        store.add_lists({f"http://a.example/{minute}": SeenList('"a"')}, minute)

    assert store.list("http://a.example/1") is None
    assert store.list("http://a.example/2")
    assert store.list("http://a.example/3")


def test_what_nobody_meets_is_forgotten(store: SeenStore) -> None:
    store.add({1: ARTICLE, 2: ARTICLE._replace(met=99)})

    assert store.forget(99, 99) == 1
    assert (store.article(1), store.article(2)) == (None, ARTICLE._replace(met=99))


def test_paragraphs_that_are_too_old_are_found_without_reading_all(store: SeenStore) -> None:
    store.add({7: ARTICLE._replace(paragraphs=b"some")})

    with closing(sqlite3.connect(store.path)) as connection:
        query = "EXPLAIN QUERY PLAN DELETE FROM paragraphs WHERE checked < 5"
        (*_, plan) = connection.execute(query).fetchone()

    assert plan.startswith("SEARCH")


@pytest.mark.parametrize("content", [b"", b"no database at all" * 99])
def test_an_empty_file_is_used_and_another_one_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "seen.db"
    path.write_bytes(content)
    if not content:
        SeenStore(path).check()
        return
    with pytest.raises(SeenStoreError, match="Remove the file, and all articles come again"):
        SeenStore(path).check()
    assert path.read_bytes() == content


def test_the_database_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE articles (x)")
    connection.close()

    with pytest.raises(SeenStoreError, match="Name another file in MSS_SEEN"):
        SeenStore(path).check()


def test_several_processes_add_and_nothing_is_lost(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    path = tmp_path / "seen.db"
    writers = [context.Process(target=_write, args=(path, number)) for number in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert len(SeenStore(path)) == 3 * 50


def _write(path: Path, number: int) -> None:
    store = SeenStore(path)
    for i in range(50):
        store.add({1000 * number + i: ARTICLE})


def test_a_process_that_is_killed_leaves_whole_batches(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    path = tmp_path / "seen.db"
    started = context.Event()
    writer = context.Process(target=_write_until_killed, args=(path, started))
    writer.start()
    assert started.wait(60)
    assert writer.pid is not None
    os.kill(writer.pid, signal.SIGKILL)
    writer.join()

    count = len(SeenStore(path))
    assert count >= 300
    assert count % 100 == 0


def _write_until_killed(path: Path, started: object) -> None:
    store = SeenStore(path)
    number = 0
    while True:
        store.add({100 * number + i: ARTICLE for i in range(100)})
        number += 1
        if number == 3:
            started.set()  # type: ignore[attr-defined]  # multiprocessing's Event is a method
