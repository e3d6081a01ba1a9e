from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from scrapy_mss.sites import store as store_module
from scrapy_mss.sites.format import to_bytes
from scrapy_mss.sites.memory import SiteMemory
from scrapy_mss.sites.store import SiteStore, SiteStoreError
from tests.helpers.memories import NOW, full_memory, page_memory

PAGE = page_memory("<main><p>One two</p><p>Three</p></main>")
OTHER = page_memory("<main><p>Four</p></main>")
# Adds a page to each of two sites in every checkpoint, as fast as it can.
WRITER = """
import sys
from scrapy_mss.sites.store import SiteStore
from tests.helpers.memories import NOW, page_memory
page, store = page_memory("<p>One two</p>"), SiteStore(sys.argv[1])
for _ in range(int(sys.argv[2])):
    store.add({"a.example": page, "b.example": page}, NOW)
    print("added", flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mss" / "sites"


def start_writer(path: Path, times: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(times)], stdout=subprocess.PIPE
    )


def test_what_was_added_is_loaded_by_another_crawl(path: Path) -> None:
    SiteStore(path).add({"a.example": PAGE, "b.example": OTHER}, NOW)

    assert SiteStore(path).load("a.example") == PAGE
    assert SiteStore(path).load("b.example") == OTHER


def test_a_site_that_nobody_met_is_empty_and_makes_no_file(path: Path) -> None:
    assert SiteStore(path).load("a.example") == SiteMemory()
    assert SiteStore(path).sites() == []
    assert not path.exists()


def test_two_crawls_with_one_file_add_up(path: Path) -> None:
    one, two = SiteStore(path), SiteStore(path)

    one.add({"a.example": PAGE}, NOW)
    two.add({"a.example": OTHER}, NOW)
    one.add({"a.example": PAGE}, NOW)

    assert two.load("a.example") == PAGE.plus(PAGE).plus(OTHER)


def test_two_processes_that_write_at_once_lose_nothing(path: Path) -> None:
    SiteStore(path).add({"a.example": OTHER}, NOW)
    writers = [start_writer(path, 15) for _ in range(2)]
    for writer in writers:
        writer.communicate()

    assert [writer.returncode for writer in writers] == [0, 0]
    assert SiteStore(path).load("a.example").pages == 31
    assert SiteStore(path).load("b.example").pages == 30


def test_a_crawl_that_is_killed_leaves_whole_checkpoints(path: Path) -> None:
    writer = start_writer(path, 100_000)
    assert writer.stdout is not None
    with writer.stdout as output:
        for _ in range(5):
            output.readline()
        writer.send_signal(signal.SIGKILL)
        writer.wait()

    pages = {site: SiteStore(path).load(site).pages for site in ("a.example", "b.example")}

    assert pages["a.example"] == pages["b.example"] >= 5


def test_a_checkpoint_that_fails_adds_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SiteStore(path)
    store.add({"a.example": PAGE}, NOW)
    packed = iter([to_bytes(OTHER)])
    monkeypatch.setattr(store_module, "to_bytes", lambda _memory: next(packed))

    with pytest.raises(StopIteration):
        store.add({"a.example": OTHER, "b.example": OTHER}, NOW)

    assert store.load("a.example") == PAGE
    assert store.load("b.example") == SiteMemory()


def test_a_site_that_is_learned_anew_forgets_what_was_stored(path: Path) -> None:
    store = SiteStore(path)
    store.add({"a.example": PAGE, "b.example": PAGE}, NOW)

    store.add({"a.example": OTHER, "b.example": OTHER}, NOW, anew={"a.example"})

    assert store.load("a.example") == OTHER
    assert store.load("b.example") == PAGE.plus(OTHER)


def test_beyond_the_bound_the_site_that_was_used_longest_ago_is_dropped(path: Path) -> None:
    store = SiteStore(path, max_sites=2)
    store.add({"a.example": PAGE}, NOW)
    store.add({"b.example": PAGE}, NOW + 1)
    store.add({"a.example": PAGE}, NOW + 2)

    store.add({"c.example": PAGE}, NOW + 3)

    assert [site.name for site in store.sites()] == ["c.example", "a.example"]


def test_a_full_site_takes_at_most_64_kilobytes(path: Path) -> None:
    store = SiteStore(path)
    for _ in range(3):
        store.add({"a.example": full_memory()}, NOW)

    assert [site.size <= 64 * 1024 for site in store.sites()] == [True]


def test_a_file_that_is_no_database_is_rejected_and_kept(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("not a database, but long enough to look at " * 100)
    before = path.read_bytes()

    with pytest.raises(SiteStoreError, match=r"not a database.*Remove the file"):
        SiteStore(path).add({"a.example": PAGE}, NOW)

    assert path.read_bytes() == before


def test_a_database_of_something_else_is_rejected(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE books (title TEXT)")

    with pytest.raises(SiteStoreError, match="expected sites of scrapy-mss"):
        SiteStore(path).load("a.example")


def test_a_file_of_a_later_format_is_rejected(path: Path) -> None:
    SiteStore(path).add({"a.example": PAGE}, NOW)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {store_module.FORMAT + 1}")

    with pytest.raises(SiteStoreError, match=f"format {store_module.FORMAT + 1}"):
        SiteStore(path).load("a.example")


def test_a_file_from_before_versions_of_keys_is_rejected(path: Path) -> None:
    SiteStore(path).add({"a.example": PAGE}, NOW)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE keys SET fingerprint = 'other'")

    with pytest.raises(SiteStoreError, match="Remove the file"):
        SiteStore(path).load("a.example")


@pytest.mark.parametrize("damaged", ["x'00'", f"CAST(x'{'ff' * 99}' AS TEXT)"])
def test_a_damaged_memory_is_replaced_and_costs_no_other_site_its_own(
    path: Path, damaged: str, caplog: pytest.LogCaptureFixture
) -> None:
    """It made each checkpoint fail that included its site."""
    store = SiteStore(path)
    store.add({"a.example": PAGE, "b.example": PAGE}, NOW)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE sites SET memory = {damaged} WHERE name = 'a.example'")  # noqa: S608

    assert store.load("a.example") == SiteMemory()
    store.add({"a.example": OTHER, "b.example": OTHER}, NOW)

    assert SiteStore(path).load("a.example") == OTHER
    assert SiteStore(path).load("b.example") == PAGE.plus(OTHER)
    (message,) = caplog.messages
    assert "'a.example' is damaged: the checksum is wrong" in message
