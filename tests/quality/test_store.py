"""The file of counts: added to by several crawls, whatever happens to one of them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
from collections import Counter
from pathlib import Path
from time import sleep

import pytest

from scrapy_mss.quality import store as quality_store
from scrapy_mss.quality.store import QualityStore, QualityStoreError
from scrapy_mss.seen.store import SeenStore

COUNTS = Counter({"pages": 3, "articles": 2, "selector/title: h1": 0})


@pytest.fixture
def store(tmp_path: Path) -> QualityStore:
    return QualityStore(tmp_path / "folder" / "quality.db")


def test_counts_add_up_by_site_and_day(store: QualityStore) -> None:
    store.add({("a.example", 7): COUNTS, ("b.example", 7): COUNTS})
    QualityStore(store.path).add({("a.example", 7): COUNTS, ("a.example", 8): COUNTS})

    assert store.sites(0) == {
        "a.example": {7: {"pages": 6, "articles": 4, "selector/title: h1": 0}, 8: COUNTS},
        "b.example": {7: COUNTS},
    }
    assert [*store.days(["a.example", "c.example"], 8)] == [
        ("a.example", {8: COUNTS}),
        ("c.example", {}),
    ]


def test_what_is_not_there_has_no_days_and_reading_makes_no_file(store: QualityStore) -> None:
    store.check()

    assert (store.sites(0), [*store.days(["a.example"], 0)]) == ({}, [("a.example", {})])
    store.forget_before(9)
    assert not store.path.parent.exists()


def test_old_days_and_too_many_sites_are_forgotten(
    store: QualityStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quality_store, "MAX_SITES", 2)
    store.add({("a.example", 1): COUNTS, ("a.example", 9): COUNTS})
    store.add({("b.example", 8): COUNTS, ("c.example", 9): COUNTS})

    store.forget_before(5)

    assert {site: set(days) for site, days in store.sites(0).items()} == {
        "a.example": {9},
        "c.example": {9},
    }


def _add_forever(path: Path) -> None:
    store = QualityStore(path)
    while True:
        store.add({(f"{n}.example", 7): Counter({"pages": 1, "twin": 1}) for n in range(20)})


def _add_often(path: Path) -> None:
    for _ in range(50):
        QualityStore(path).add({("a.example", 7): Counter({"pages": 1})})


def _pages(store: QualityStore) -> int:
    ((_, days),) = store.days(["0.example"], 0)
    return sum(counts["pages"] for counts in days.values())


def test_crawls_at_once_add_up(store: QualityStore) -> None:
    store.add({("a.example", 7): Counter({"pages": 1})})
    context = multiprocessing.get_context("spawn")
    crawls = [context.Process(target=_add_often, args=(store.path,)) for _ in range(3)]
    for crawl in crawls:
        crawl.start()
    for crawl in crawls:
        crawl.join()

    assert store.sites(0) == {"a.example": {7: {"pages": 151}}}


def test_a_crawl_that_is_killed_leaves_whole_checkpoints(store: QualityStore) -> None:
    store.add({("z.example", 7): COUNTS})
    context = multiprocessing.get_context("spawn")
    for _ in range(3):
        before = _pages(store)
        crawl = context.Process(target=_add_forever, args=(store.path,))
        crawl.start()
        while _pages(store) <= before:
            sleep(0.01)
        assert crawl.pid is not None
        os.kill(crawl.pid, signal.SIGKILL)
        crawl.join()

    found = store.sites(0)
    assert found.pop("z.example") == {7: COUNTS}
    assert len({days[7]["pages"] for days in found.values()}) == 1
    assert all(days[7]["pages"] == days[7]["twin"] > 0 for days in found.values())


@pytest.mark.parametrize("content", [b"no database at all" * 99, None])
def test_another_file_is_refused_and_left(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "other.db"
    if content is None:
        SeenStore(path).check()
    else:
        path.write_bytes(content)

    with pytest.raises(QualityStoreError, match=r"other\.db: .*(Remove the file|Name another)"):
        QualityStore(path).check()


@pytest.mark.parametrize("text", ["", "[]", '{"pages": "x"}', '{"pages": [1]}', "[" * 100_000])
def test_damaged_counts_are_named(store: QualityStore, text: str) -> None:
    store.add({("a.example", 7): COUNTS})
    connection = sqlite3.connect(store.path)
    with connection:
        connection.execute("UPDATE days SET counts = ?", (text,))
    connection.close()

    for use in (lambda: store.sites(0), lambda: store.add({("a.example", 7): COUNTS})):
        with pytest.raises(QualityStoreError, match=r"the counts of 'a\.example': expected names"):
            use()
