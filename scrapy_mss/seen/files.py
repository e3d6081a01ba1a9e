"""The file of what crawls have seen: one SQLite database with the tables of several stores."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, Final

from scrapy_mss.storage.sqlite_files import (
    ForeignFileError,
    Form,
    connect,
    explained,
    prepare,
    statements,
    transaction,
)

FORMAT: Final = 1
APPLICATION_ID: Final = 0x6D737365  # "msse", by which SQLite files are told apart
WAIT_SECONDS: Final = 10.0  # for another crawl's checkpoint
CACHE_KIB: Final = 8192  # of the database, in memory

# The tables of articles and lists belong to the format; those of other stores are added to it.
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
CREATE TABLE IF NOT EXISTS paragraphs (
    key INTEGER PRIMARY KEY,
    checked INTEGER NOT NULL,
    paragraphs BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS paragraphs_by_age ON paragraphs (checked);
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


class SeenFile:
    """A connection to the file, opened when it is first needed."""

    TABLES: ClassVar[str] = ""  # of a store, besides those of the format; may be executed twice

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Use the file *path*, which need not exist yet."""
        self.path = Path(path)
        self._connection: sqlite3.Connection | None = None

    def check(self) -> None:
        """Stop here if the file cannot be used."""
        with self._errors():
            self._opened()

    def close(self) -> None:
        """Close the file."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _opened(self) -> sqlite3.Connection:
        """The connection, which one thread at a time uses."""
        if self._connection is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = connect(self.path, WAIT_SECONDS, check_same_thread=False)
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
        for statement in statements(self.TABLES):
            connection.execute(statement)
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
            if_damaged = "Remove the file, and all articles come again"
            raise SeenStoreError(explained(self.path, error, if_damaged)) from error
