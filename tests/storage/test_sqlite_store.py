"""A folder that cannot be written is read, and each error says what to do about it."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

import pytest

from scrapy_mss.storage import sqlite_store
from scrapy_mss.storage.opening import store_at
from scrapy_mss.storage.sqlite_store import FILE, SQLiteStore
from scrapy_mss.storage.tables import StoreError
from tests.storage.test_stores import counted, counts

NOBODY = 65534


def write(folder: Path) -> None:
    with closing(store_at(str(folder))) as store:
        store.write([counted()])


def read(folder: Path) -> list[int]:
    with closing(store_at(str(folder))) as store:
        return counts(store)


@pytest.fixture
def folder() -> Iterator[Path]:
    """One with a store, which every user can enter."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    write(folder)
    yield folder
    folder.chmod(0o777)
    shutil.rmtree(folder)


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Root, who may run the tests, can read and write everything."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(before)


def error_of(work: Callable[[Path], object], folder: Path) -> str:
    with pytest.raises(StoreError, match=str(folder / FILE)) as caught:
        work(folder)
    return str(caught.value)


def test_a_read_only_file_is_read_and_its_error_advises_no_removal(folder: Path) -> None:
    (folder / FILE).chmod(0o444)

    with ordinary_user():
        assert read(folder) == [1, 1, 1]
        error = error_of(write, folder)

    assert "nothing new is stored: make it writable" in error
    assert "Remove" not in error


def test_a_file_on_a_read_only_file_system_is_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder that cannot be written; to mount one takes more than tests may."""
    folder.chmod(0o555)
    flags = os.statvfs(folder).f_flag | os.ST_RDONLY
    monkeypatch.setattr(os, "statvfs", lambda _: type("Answer", (), {"f_flag": flags}))

    with ordinary_user():
        assert read(folder) == [1, 1, 1]
        assert "nothing new is stored" in error_of(write, folder)


@pytest.mark.parametrize("work", [write, read])
def test_a_folder_in_the_place_of_the_file_is_named(
    tmp_path: Path, work: Callable[[Path], object]
) -> None:
    (tmp_path / FILE).mkdir()

    error = error_of(work, tmp_path)

    assert "It is a folder: name another one in MSS_STORE" in error
    assert "Remove" not in error


@pytest.mark.parametrize("work", [write, read, lambda folder: SQLiteStore(folder).check()])
def test_a_file_in_the_place_of_the_folder_is_named(
    tmp_path: Path, work: Callable[[Path], object]
) -> None:
    (tmp_path / "seen.db").touch()

    with pytest.raises(StoreError, match=r"seen\.db: expected a folder.*another one in MSS_STORE"):
        work(tmp_path / "seen.db")


def test_what_is_written_after_the_folder_was_removed_is_in_a_new_one(folder: Path) -> None:
    with closing(store_at(str(folder / "inner"))) as store:
        store.write([counted()])
        shutil.rmtree(folder / "inner")
        store.write([counted()])

    assert read(folder / "inner") == [1, 1, 1]


def test_a_file_that_may_not_be_read_is_not_called_damaged(folder: Path) -> None:
    (folder / FILE).chmod(0)

    with ordinary_user():
        error = error_of(read, folder)

    assert "Make it readable" in error
    assert "Remove" not in error


def test_an_error_on_a_full_disk_says_so(folder: Path) -> None:
    """SQLite calls it an I/O error if there is no room for the files of the write-ahead log."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, limit[1]))
    try:
        error = error_of(write, folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)

    assert "disk I/O error. Free space on its disk" in error
    write(folder)
    assert read(folder) == [2, 2, 2]


def test_a_checkpoint_of_another_crawl_is_waited_for(folder: Path) -> None:
    with closing(
        sqlite3.connect(folder / FILE, isolation_level=None, check_same_thread=False)
    ) as other:
        other.execute("BEGIN IMMEDIATE")
        asked = Event()

        def release() -> None:
            asked.wait()
            time.sleep(0.2)
            other.execute("COMMIT")

        thread = Thread(target=release)
        thread.start()
        assert read(folder) == [1, 1, 1]  # who only reads does not wait
        asked.set()
        write(folder)
        thread.join()

    assert read(folder) == [2, 2, 2]


def test_a_file_that_stays_locked_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_store, "WAIT_SECONDS", 0.05)
    with closing(sqlite3.connect(folder / FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        assert "locked. Another process has been writing to it" in error_of(write, folder)


def test_a_store_that_several_crawls_make_at_once_is_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever statement of ours another crawl makes it in between of."""
    connect = sqlite_store._connected  # noqa: SLF001
    for number in range(12):
        folder, n_statements = tmp_path / str(number), 0

        def interrupting(path: Path, seconds: float, at: int = number) -> sqlite3.Connection:
            connection = connect(path, seconds)

            def interrupt(_statement: str) -> None:
                nonlocal n_statements
                n_statements += 1
                if n_statements == at:
                    monkeypatch.setattr(
                        sqlite_store, "_connected", lambda path, _: connect(path, 0)
                    )
                    with suppress(StoreError):  # locked by us, as it may be
                        SQLiteStore(folder).check()  # noqa: B023 - of this round

            connection.set_trace_callback(interrupt)
            return connection

        monkeypatch.setattr(sqlite_store, "_connected", interrupting)
        SQLiteStore(folder).write([counted()])
        monkeypatch.setattr(sqlite_store, "_connected", connect)

        assert read(folder) == [1, 1, 1]
