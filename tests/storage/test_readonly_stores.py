"""Files of stores that cannot be written are read, and each error says what to do about it."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from scrapy_mss.quality.store import QualityStore
from scrapy_mss.quality.unsure import UnsurePage, UnsureStore
from scrapy_mss.seen.store import Seen, SeenStore
from scrapy_mss.seen.story_store import StoryStore, Told
from scrapy_mss.sites.memory import SiteMemory
from scrapy_mss.sites.store import SiteStore

NOBODY = 65534


class Kind(NamedTuple):
    """How one entry is added to the file of a store, and read from it."""

    add: Callable[[Path], object]
    read: Callable[[Path], object]


def _add_seen(path: Path) -> None:
    with closing(SeenStore(path)) as store:
        store.add({1: Seen(1, 1, 1, 1, 1, 1)})


def _add_story(path: Path) -> None:
    with closing(StoryStore(path)) as store:
        store.add([Told((1,), 1, False, 1, None)])


KINDS = {
    "seen": Kind(
        _add_seen,
        lambda path: SeenStore(path).articles([1])[1],
    ),
    "stories": Kind(
        _add_story,
        lambda path: StoryStore(path).at([1])[0],
    ),
    "sites": Kind(
        lambda path: SiteStore(path).add({"a": SiteMemory(1.0)}, 1),
        lambda path: SiteStore(path).load("a").pages,
    ),
    "quality": Kind(
        lambda path: QualityStore(path).add({("a", 1): Counter(pages=1)}),
        lambda path: QualityStore(path).sites(0)["a"],
    ),
    "unsure": Kind(
        lambda path: UnsureStore(path).add("a", UnsurePage("u", 0.5, 1), "", 1),
        lambda path: UnsureStore(path).pages()["a"],
    ),
}


@pytest.fixture(params=list(KINDS.values()), ids=list(KINDS))
def kind(request: pytest.FixtureRequest) -> Kind:
    kind: Kind = request.param
    return kind


@pytest.fixture
def path() -> Iterator[Path]:
    """A file in a folder that every user can enter."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    yield folder / "store.db"
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


def error_of(work: Callable[[Path], object], path: Path) -> str:
    with pytest.raises(OSError, match=str(path)) as caught:
        work(path)
    assert isinstance(caught.value.__cause__, sqlite3.Error)
    return str(caught.value)


def test_a_read_only_file_is_read_and_its_error_advises_no_removal(kind: Kind, path: Path) -> None:
    kind.add(path)
    path.chmod(0o444)

    with ordinary_user():
        assert kind.read(path)
        error = error_of(kind.add, path)

    assert "nothing new is stored: make it writable" in error
    assert "Remove" not in error


def test_a_file_on_a_read_only_file_system_is_read(
    kind: Kind, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder that cannot be written; to mount one takes more than tests may."""
    kind.add(path)
    path.parent.chmod(0o555)
    flags = os.statvfs(path).f_flag | os.ST_RDONLY
    monkeypatch.setattr(os, "statvfs", lambda _: type("Answer", (), {"f_flag": flags}))

    with ordinary_user():
        assert kind.read(path)
        assert "nothing new is stored" in error_of(kind.add, path)


@pytest.mark.parametrize("what", ["add", "read"])
def test_a_folder_in_the_place_of_a_file_is_named(kind: Kind, what: str, path: Path) -> None:
    path.mkdir()

    error = error_of(getattr(kind, what), path)

    assert "It is a folder: name a file" in error
    assert "Remove" not in error


def test_a_file_that_may_not_be_read_is_not_called_damaged(kind: Kind, path: Path) -> None:
    kind.add(path)
    path.chmod(0)

    with ordinary_user():
        error = error_of(kind.read, path)

    assert "Make it readable" in error
    assert "Remove" not in error


def test_an_error_on_a_full_disk_says_so(kind: Kind, path: Path) -> None:
    """SQLite calls it an I/O error if there is no room for the files of the write-ahead log."""
    kind.add(path)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, limit[1]))
    try:
        error = error_of(kind.read, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)

    assert "disk I/O error. Free space on its disk" in error


def test_a_damaged_file_may_be_removed(kind: Kind, path: Path) -> None:
    path.write_bytes(b"no database" * 500)

    assert "file is not a database. Remove the file" in error_of(kind.read, path)
