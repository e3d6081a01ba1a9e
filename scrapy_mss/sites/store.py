"""The memories of many sites in one file: an SQLite database next to the model.

A crawl reads a site when it first meets it, and its checkpoints add what was learned since, all
sites of a checkpoint in one transaction. A killed crawl loses only what it learned after its
last checkpoint. Memories are additive, so crawls that share a file do not overwrite one
another. Beyond the maximum number of sites the least recently used ones are dropped.

SQLite's write-ahead log lets crawls read while another one writes.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from scrapy_mss.blocks.page import Page
from scrapy_mss.sites.format import DamagedMemoryError, from_bytes, to_bytes
from scrapy_mss.sites.memory import SiteMemory
from scrapy_mss.sites.observation import BlockKeys
from scrapy_mss.sqlite_files import ForeignFileError, Form, prepare, transaction

FORMAT = 2  # of the tables and the bytes in them
APPLICATION_ID = 0x6D737369  # "mssi", by which SQLite files are told apart
WAIT_SECONDS = 5.0  # for another crawl's checkpoint, which takes less than a second
MAX_SITES = 10_000
_PROBE = "<body><div class='story-body text'><p>Running dogs, 3 caf&eacute;s</p></div></body>"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS sites (
    name TEXT PRIMARY KEY,
    used INTEGER NOT NULL,
    memory BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_use ON sites (used);
CREATE TABLE IF NOT EXISTS keys (fingerprint TEXT PRIMARY KEY) WITHOUT ROWID;
INSERT OR IGNORE INTO keys VALUES ('{fingerprint}');
"""


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
        with self._connection() as connection, transaction(connection):
            for site, memory in sorted(learned.items()):
                before = SiteMemory() if site in anew else self._memory(connection, site)
                connection.execute(
                    "INSERT INTO sites VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE "
                    "SET used = max(used, excluded.used), memory = excluded.memory",
                    (site, minute, to_bytes(before.plus(memory))),
                )
            connection.execute(
                "DELETE FROM sites WHERE name IN (SELECT name FROM sites "
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
                "SELECT name, used, length(memory) FROM sites ORDER BY used DESC, name"
            )
            return [StoredSite(*row) for row in rows]

    def _memory(self, connection: sqlite3.Connection, site: str) -> SiteMemory:
        row = connection.execute("SELECT memory FROM sites WHERE name = ?", (site,)).fetchone()
        try:
            return from_bytes(row[0]) if row else SiteMemory()
        except DamagedMemoryError as error:
            raise SiteStoreError(
                f"{self.path}: the memory of {site!r}: {error}. {_REMOVE}"
            ) from error

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        try:
            connection = sqlite3.connect(self.path, WAIT_SECONDS, isolation_level=None)
            try:
                self._check(connection)
                yield connection
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise SiteStoreError(f"{self.path}: {error}. {_REMOVE}") from error

    def _check(self, connection: sqlite3.Connection) -> None:
        """Make the tables in a new file; reject a file that is not ours or of other keys."""
        try:
            prepare(connection, _form())
        except ForeignFileError as error:
            raise SiteStoreError(f"{self.path}: {error}. Name another file") from error
        (found,) = connection.execute("SELECT fingerprint FROM keys").fetchone() or ("",)
        if found != fingerprint():
            raise SiteStoreError(
                f"{self.path}: this version recognizes texts by other keys than the one that "
                f"wrote the file. {_REMOVE}"
            )


_REMOVE = "Remove the file, and sites are learned anew"


@cache
def fingerprint() -> str:
    """Equal for two versions of this library if the keys of a page are."""
    keys = BlockKeys.of(Page.of(_PROBE))
    digest = blake2b(keys.texts.tobytes() + keys.containers.tobytes(), digest_size=16)
    return digest.hexdigest()


def _form() -> Form:
    schema = _SCHEMA.format(fingerprint=fingerprint())
    return Form("sites of scrapy-mss", APPLICATION_ID, FORMAT, schema)
