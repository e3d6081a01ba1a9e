"""The memories of many sites in one file: an SQLite database next to the model.

A crawl reads a site when it first meets it, and its checkpoints add what was learned since, all
sites of a checkpoint in one transaction. A killed crawl loses only what it learned after its
last checkpoint. Memories are additive, so crawls that share a file do not overwrite one
another. Beyond the maximum number of sites the least recently used ones are dropped.

Each version of the keys has a table of its own (`format`).

SQLite's write-ahead log lets crawls read while another one writes.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from scrapy_mss.sites.format import (
    FIRST_KEYS,
    Recall,
    names_by_version,
    to_bytes,
)
from scrapy_mss.sites.memory import SiteMemory
from scrapy_mss.storage.sqlite_files import (
    ForeignFileError,
    Form,
    connect,
    explained,
    prepare,
    statements,
    transaction,
)

FORMAT = 2  # of the tables and the bytes in them
APPLICATION_ID = 0x6D737369  # "mssi", by which SQLite files are told apart
WAIT_SECONDS = 5.0  # for another crawl's checkpoint, which takes less than a second
MAX_SITES = 10_000

_TABLE = """
CREATE TABLE IF NOT EXISTS {name} (
    name TEXT PRIMARY KEY,
    used INTEGER NOT NULL,
    memory BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS {index} ON {name} (used);
"""
_KEYS = """
CREATE TABLE IF NOT EXISTS keys (fingerprint TEXT PRIMARY KEY) WITHOUT ROWID;
INSERT OR IGNORE INTO keys VALUES ('{first}');
"""
_SCHEMA = _TABLE.format(name="sites", index="by_use") + _KEYS.format(first=FIRST_KEYS)
_FORM = Form("sites of scrapy-mss", APPLICATION_ID, FORMAT, _SCHEMA)


def sites_path(model: Path) -> Path:
    """The file with the memories of sites that belongs to the model file *model*."""
    return model.with_name(f"{model.name}.sites")


class SiteStoreError(OSError):
    """The file cannot be used; the message says why and what to do."""


class StoredSite(NamedTuple):
    """A site in the file."""

    name: str
    used: int  # minutes since 1970
    size: int  # bytes


class SiteStore:
    """A file with the memories of sites."""

    def __init__(self, path: str | os.PathLike[str], max_sites: int = MAX_SITES) -> None:
        """Use the file *path*, which need not exist yet, for at most *max_sites*."""
        self.path = Path(path)
        self._max_sites = max_sites
        self._tables = names_by_version()
        self._recall = Recall(str(self.path))

    def load(self, site: str) -> SiteMemory:
        """What the file holds of *site*; an empty memory if nothing."""
        if not self.path.exists():
            return SiteMemory()
        with self._connection() as connection:
            return self._memory(connection, site)

    def add(
        self, learned: Mapping[str, SiteMemory], minute: int, anew: Collection[str] = ()
    ) -> None:
        """Add what was *learned* of each site; of those in *anew*, forget what was there.

        Where this raises, nothing was added.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        table = self._tables[0]
        with self._connection() as connection, transaction(connection):
            for site, memory in sorted(learned.items()):
                before = SiteMemory() if site in anew else self._memory(connection, site)
                connection.execute(
                    f"INSERT INTO {table} VALUES (?, ?, ?) "  # noqa: S608 - our own names
                    "ON CONFLICT (name) DO UPDATE "
                    "SET used = max(used, excluded.used), memory = excluded.memory",
                    (site, minute, to_bytes(before.plus(memory))),
                )
            connection.execute(
                f"DELETE FROM {table} WHERE name IN (SELECT name FROM {table} "  # noqa: S608 - our own names
                "ORDER BY used DESC, name LIMIT -1 OFFSET ?)",
                (self._max_sites,),
            )

    def close(self) -> None:
        """All that was added is in the file."""

    def sites(self) -> list[StoredSite]:
        """All sites, those that were used last first."""
        if not self.path.exists():
            return []
        with self._connection() as connection:
            rows = connection.execute(
                "SELECT name, used, length(memory) "  # noqa: S608 - our own names
                f"FROM {self._tables[0]} ORDER BY used DESC, name"
            )
            return [StoredSite(*row) for row in rows]

    def _memory(self, connection: sqlite3.Connection, site: str) -> SiteMemory:
        # SQLite would not decode damaged bytes that have become text.
        select = "SELECT CAST(memory AS BLOB) FROM"
        queries = (f"{select} {each} WHERE name = ?" for each in self._tables)
        rows = [connection.execute(query, (site,)).fetchone() for query in queries]
        return self._recall.memory(site, [row and row[0] for row in rows])

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(connect(self.path, WAIT_SECONDS)) as connection:
                self._check(connection)
                yield connection
        except sqlite3.Error as error:
            raise SiteStoreError(explained(self.path, error, _REMOVE)) from error

    def _check(self, connection: sqlite3.Connection) -> None:
        """Make the tables in a new file; reject a file that is not ours or of other keys."""
        try:
            prepare(connection, _FORM)
        except ForeignFileError as error:
            raise SiteStoreError(f"{self.path}: {error}. Name another file") from error
        (found,) = connection.execute("SELECT fingerprint FROM keys").fetchone() or ("",)
        if found != FIRST_KEYS:
            raise SiteStoreError(f"{self.path}: the file is older than its versions. {_REMOVE}")
        for name in self._tables:
            if name != "sites":
                for statement in statements(_TABLE.format(name=name, index=f"{name}_by_use")):
                    connection.execute(statement)


_REMOVE = "Remove the file, and sites are learned anew"
