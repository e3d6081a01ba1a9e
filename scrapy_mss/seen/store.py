"""What crawls have seen, in an SQLite database that several of them may share.

An article is a row of numbers under the key of its address: some 60 bytes, so that ten million take
less than a gigabyte. A list, such as a feed, has the validators by which a server says that it has
not changed. Rows that no crawl has met for long are dropped.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from scrapy_mss.sqlite_files import ForeignFileError, Form, prepare, transaction

FORMAT: Final = 1
APPLICATION_ID: Final = 0x6D737365  # "msse", by which SQLite files are told apart
WAIT_SECONDS: Final = 10.0  # for another crawl's checkpoint
MAX_LISTS: Final = 100_000  # validators: some two hundred lists of each of five hundred sites
CACHE_KIB: Final = 8192  # of the database, in memory

_SCHEMA = """
CREATE TABLE IF NOT EXISTS articles (
    key INTEGER PRIMARY KEY,
    text INTEGER NOT NULL,
    title INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    listed INTEGER NOT NULL,
    checked INTEGER NOT NULL,
    met INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS lists (
    url TEXT PRIMARY KEY,
    etag TEXT NOT NULL,
    modified TEXT NOT NULL,
    lists TEXT NOT NULL,
    met INTEGER NOT NULL
) WITHOUT ROWID;
"""
_FORM = Form("what crawls of scrapy-mss have seen", APPLICATION_ID, FORMAT, _SCHEMA)


class SeenStoreError(OSError):
    """The file cannot be used; the message says why and what to do."""


class Seen(NamedTuple):
    """An article as it was seen last. Times are minutes since 1970."""

    text: int  # the key of its text
    title: int  # and of its title
    revision: int  # 1 at first
    listed: int  # the date that a feed or sitemap gave for it; 0 if none
    checked: int  # when it was read
    met: int  # when its address was met


class SeenList(NamedTuple):
    """A list as it was seen last: what its server is asked by, and the lists that it names.

    A list that has not changed is not read again, and those that it names may have changed.
    """

    etag: str = ""
    modified: str = ""  # Last-Modified, as it was given
    lists: tuple[tuple[str, str], ...] = ()  # the kind and the address of each


class SeenStore:
    """A file with what crawls have seen."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Use the file *path*, which need not exist yet."""
        self.path = Path(path)
        self._connection: sqlite3.Connection | None = None

    def check(self) -> None:
        """Stop here if the file cannot be used."""
        with self._errors():
            self._opened()

    def article(self, key: int) -> Seen | None:
        """The article with the *key* of its address."""
        with self._errors():
            row = self._opened().execute(
                "SELECT text, title, revision, listed, checked, met FROM articles WHERE key = ?",
                (key,),
            )
            found = row.fetchone()
        return None if found is None else Seen(*found)

    def list(self, url: str) -> SeenList | None:
        """The list at *url*."""
        with self._errors():
            query = "SELECT etag, modified, lists FROM lists WHERE url = ?"
            found = self._opened().execute(query, (url,)).fetchone()
        if found is None:
            return None
        etag, modified, lists = found
        return SeenList(etag, modified, tuple(tuple(each) for each in json.loads(lists)))

    def add(self, articles: Mapping[int, Seen]) -> None:
        """Add *articles* by key, in one transaction; where this raises, none was added."""
        with self._errors(), self._transaction() as connection:
            connection.executemany(
                "INSERT INTO articles VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET "
                "text = excluded.text, title = excluded.title, "
                "revision = max(revision, excluded.revision), "
                "listed = max(listed, excluded.listed), checked = excluded.checked, "
                "met = max(met, excluded.met) WHERE excluded.checked >= checked",
                ((key, *seen) for key, seen in sorted(articles.items())),
            )

    def add_lists(self, lists: Mapping[str, SeenList], minute: int) -> None:
        """Add *lists* by address."""
        rows = [
            (url, each.etag, each.modified, json.dumps(each.lists), minute)
            for url, each in sorted(lists.items())
        ]
        with self._errors(), self._transaction() as connection:
            connection.executemany("INSERT OR REPLACE INTO lists VALUES (?, ?, ?, ?, ?)", rows)
            connection.execute(
                "DELETE FROM lists WHERE url IN "
                "(SELECT url FROM lists ORDER BY met DESC, url LIMIT -1 OFFSET ?)",
                (MAX_LISTS,),
            )

    def forget_before(self, minute: int) -> int:
        """Forget articles that no crawl has met since *minute*; how many these were."""
        with self._errors(), self._transaction() as connection:
            done = connection.execute("DELETE FROM articles WHERE met < ?", (minute,))
            connection.execute("DELETE FROM lists WHERE met < ?", (minute,))
            return done.rowcount

    def __len__(self) -> int:
        """The number of addresses."""
        with self._errors():
            (count,) = self._opened().execute("SELECT count(*) FROM articles").fetchone()
        return int(count)

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _opened(self) -> sqlite3.Connection:
        """The connection, which one thread at a time uses."""
        if self._connection is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(
                self.path, WAIT_SECONDS, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        try:
            prepare(connection, _FORM)
        except ForeignFileError as error:
            raise SeenStoreError(f"{self.path}: {error}. Name another file in MSS_SEEN") from error
        # After a crash of the machine, not of the crawl, the last checkpoint may be lost.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        connection = self._opened()
        with transaction(connection):
            yield connection

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise SeenStoreError(
                f"{self.path}: {error}. Remove the file, and all articles come again"
            ) from error
