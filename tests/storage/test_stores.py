"""Both kinds of store keep what a plain dict would, whoever writes at once or is killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.storage.opening import store_at
from scrapy_mss.storage.sqlite_store import FILE
from scrapy_mss.storage.tables import (
    DAY,
    LISTS,
    MODEL,
    SEEN,
    SITES,
    Change,
    Key,
    Row,
    Rows,
    Store,
    StoreError,
    Table,
)
from tests.helpers.effort import examples_in_stores
from tests.helpers.redis import client

NOW = int(time.time() // 60)
PROCESSES, ADDITIONS = 4, 25
COUNTED = (SEEN.key("a"), MODEL.key("b"), SITES.key("c"))  # which each checkpoint adds one to


def counted(number: int = 1, keys: tuple[Key, ...] = COUNTED) -> Change:
    """What adds a *number* to all rows of a few tables."""

    def writes(found: Rows) -> dict[Key, Row | None]:
        return {key: Row(b"%d" % (int(found.get(key, b"0")) + number), NOW) for key in keys}

    return Change(keys, writes)


def counts(store: Store) -> list[int]:
    return [int(each) for each in store.get(COUNTED).values()]


def put(table: Table, key: str, value: bytes | None, used: int) -> Change:
    row = None if value is None else Row(value, used)
    return Change((), lambda _found: {table.key(key): row})


Put = tuple[Table, str, bytes | None, int]
PUTS = st.tuples(
    st.sampled_from([SEEN, LISTS, SITES]),
    st.sampled_from(["", "a", "b", "é\udcff", "a:b c"]),
    st.none() | st.binary(max_size=20),
    st.integers(NOW - 100, NOW),
)


@examples_in_stores(0.5)
@given(checkpoints=st.lists(st.lists(PUTS, max_size=5), max_size=5))
def test_a_store_has_what_a_dict_would_have(store: Store, checkpoints: list[list[Put]]) -> None:
    tables = (SEEN, LISTS, SITES)
    everything = [table.key(key) for table in tables for key in ("", "a", "b", "é\udcff", "a:b c")]
    store.write([Change((), lambda _found: dict.fromkeys(everything))])
    expected: dict[Key, Row] = {}
    for checkpoint in checkpoints:
        store.write([put(*each) for each in checkpoint])
        last = {table.key(key): (value, used) for table, key, value, used in checkpoint}
        for key, (value, used) in last.items():
            if value is None:
                expected.pop(key, None)
            else:
                before = expected[key].used if key in expected else used
                expected[key] = Row(value, max(before, used))

    found = store.get(everything)

    assert found == {key: row.value for key, row in expected.items()}
    of_lists = {key[1]: row.used for key, row in expected.items() if key[0] == LISTS}
    assert store.used_since(LISTS, 0) == of_lists
    uses = list(store.used_since(LISTS, NOW - 50).values())
    assert uses == sorted((used for used in of_lists.values() if used >= NOW - 50), reverse=True)


def test_changes_of_one_checkpoint_see_one_another(store: Store) -> None:
    store.write([counted(1), counted(2)])

    assert counts(store) == [3, 3, 3]


def test_where_one_change_fails_none_is_made(store: Store) -> None:
    def fails(_found: Rows) -> dict[Key, Row | None]:
        raise MemoryError

    with pytest.raises(MemoryError):
        store.write([counted(), Change((), fails), counted()])

    assert counts(store) == []


def add_often(named: str, times: int) -> None:
    with closing(store_at(named)) as store:
        for _ in range(times):
            store.write([counted(1, COUNTED[:1]), counted(1, COUNTED[1:])])


def started(named: str, times: int) -> multiprocessing.process.BaseProcess:
    process = multiprocessing.get_context("spawn").Process(target=add_often, args=(named, times))
    process.start()
    return process


def test_crawls_that_write_at_once_lose_nothing_and_none_sees_half_a_checkpoint(
    store_name: str, store: Store
) -> None:
    processes = [started(store_name, ADDITIONS) for _ in range(PROCESSES)]
    while any(process.is_alive() for process in processes):
        assert len(set(counts(store))) <= 1
    for process in processes:
        process.join()

    assert counts(store) == [PROCESSES * ADDITIONS] * 3


def test_a_crawl_that_is_killed_leaves_whole_checkpoints(store_name: str, store: Store) -> None:
    process = started(store_name, 10**6)
    while not counts(store) or counts(store)[0] < ADDITIONS:
        assert process.is_alive()
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()

    assert len(set(counts(store))) == 1
    store.write([counted()])
    assert len(set(counts(store))) == 1


def test_what_nobody_uses_and_what_is_too_much_is_forgotten(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = LISTS._replace(most=3)
    for module in ("sqlite_store", "redis_store"):
        monkeypatch.setattr(f"scrapy_mss.storage.{module}.TABLES", (SEEN, few))
    old = NOW - (SEEN.days + 1) * DAY
    store.write([put(SEEN, "old", b"1", old), put(SEEN, "new", b"1", NOW)])
    store.write([put(few, str(number), b"1", NOW - number) for number in range(6)])

    store.forget(NOW)

    assert list(store.get([SEEN.key("old"), SEEN.key("new")])) == [SEEN.key("new")]
    assert list(store.used_since(few, 0)) == [b"0", b"1", b"2"]
    assert [key for _, key in store.get([few.key(str(n)) for n in range(6)])] == [b"0", b"1", b"2"]


def as_text(path: Path) -> None:
    path.write_bytes(b"no database" * 500)


def as_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE numbers (number INTEGER)")


def of_later_format(path: Path) -> None:
    with closing(store_at(str(path.parent))) as store:
        store.check()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")


@pytest.mark.parametrize("make", [as_text, as_database, of_later_format])
def test_the_file_of_something_else_is_refused_and_left(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    path = tmp_path / FILE
    make(path)
    before = path.read_bytes()

    for ask in (lambda store: store.check(), lambda store: store.write([counted()]), counts):
        with pytest.raises(StoreError, match=f"{FILE}.*(Remove the file|Name another folder)"):
            ask(store_at(str(tmp_path)))

    assert path.read_bytes() == before


@pytest.mark.parametrize("theirs", ["a string", "a list"])
def test_other_data_at_the_prefix_is_refused_and_left(redis_address: str, theirs: str) -> None:
    if not redis_address:
        pytest.skip("no redis-server or valkey-server is installed: make test-redis")
    if theirs == "a string":
        client(redis_address).set("test", theirs)
    else:
        client(redis_address).rpush("test", theirs)
    store = store_at(redis_address)

    with pytest.raises(StoreError, match=r"expected 'scrapy-mss store.*Name another prefix"):
        store.check()

    assert client(redis_address).keys() == [b"test"]


def test_who_only_reads_makes_no_file(tmp_path: Path) -> None:
    store = store_at(str(tmp_path / "none"))

    assert store.get([SEEN.key("a")]) == {}
    assert store.used_since(SITES, 0) == {}
    store.forget(NOW)

    assert not list(tmp_path.iterdir())


def test_each_thread_can_use_a_store(store: Store) -> None:
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: store.write([counted()]), range(20)))

    assert counts(store) == [20] * 3
