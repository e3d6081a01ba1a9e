"""The counts of each site and day, in an SQLite database that crawls share.

A checkpoint adds what was counted since the last one. Each row is read, added to and written in
one transaction, so that concurrent crawls do not overwrite one another, and a killed crawl loses
only what it counted since its last checkpoint.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from scrapy_mss.quality.counts import Counts, added, bounded
from scrapy_mss.storage.sqlite_files import (
    ForeignFileError,
    Form,
    connect,
    explained,
    prepare,
    transaction,
)

FORMAT: Final = 1
APPLICATION_ID: Final = 0x6D737371  # "mssq", by which SQLite files are told apart
WAIT_SECONDS: Final = 10.0  # for another crawl's checkpoint
KEPT_DAYS: Final = 366  # a year, as one looks for last year's figures; half a kilobyte each
MAX_SITES: Final = 10_000  # those that were crawled last, as of their memories

_SCHEMA = """
CREATE TABLE IF NOT EXISTS days (
    site TEXT NOT NULL,
    day INTEGER NOT NULL,
    counts TEXT NOT NULL,
    PRIMARY KEY (site, day)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_day ON days (day);
"""
_FORM = Form("counts of scrapy-mss by day", APPLICATION_ID, FORMAT, _SCHEMA)

Key: TypeAlias = tuple[str, int]  # a site and a day, in days since 1970
Days: TypeAlias = dict[int, Counts]


class QualityStoreError(OSError):
    """The file cannot be used; the message says why and what to do."""


class DayStore(Protocol):
    """Where the counts of sites by day are kept."""

    @property
    def name(self) -> str:
        """What messages call it."""

    def check(self) -> None:
        """Stop here if it cannot be used."""

    def add(self, counted: Mapping[Key, Counts]) -> None:
        """Add what was counted; where this raises, nothing was added."""

    def days(self, sites: Iterable[str], since: int) -> Iterator[tuple[str, Days]]:
        """What was counted of each of the *sites* on each day *since* that one."""

    def sites(self, since: int) -> dict[str, Days]:
        """What was counted of all sites on each day *since* that one."""

    def forget_before(self, day: int) -> None:
        """Forget earlier days, and of too many sites those that were crawled longest ago."""

    def close(self) -> None:
        """Make sure of all additions; where this raises, some are lost."""


class QualityStore:
    """A file with the counts of sites by day."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Use the file *path*, which need not exist yet."""
        self.path = Path(path)

    @property
    def name(self) -> str:
        """What messages call it."""
        return str(self.path)

    def close(self) -> None:
        """All that was added is in the file."""

    def check(self) -> None:
        """Stop here if there is a file that cannot be used."""
        if self.path.exists():
            with self._connection():
                pass

    def add(self, counted: Mapping[Key, Counts]) -> None:
        """Add what was counted; where this raises, nothing was added."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._connection() as connection, transaction(connection):
            for (site, day), counts in sorted(counted.items()):
                query = "SELECT counts FROM days WHERE site = ? AND day = ?"
                row = connection.execute(query, (site, day)).fetchone()
                total = added(self._counts(site, row[0]), counts) if row else counts
                connection.execute(
                    "INSERT OR REPLACE INTO days VALUES (?, ?, ?)",
                    (site, day, json.dumps(bounded(total))),
                )

    def days(self, sites: Iterable[str], since: int) -> Iterator[tuple[str, Days]]:
        """What was counted of each of the *sites* on each day *since* that one."""
        query = "SELECT day, counts FROM days WHERE site = ? AND day >= ?"
        with self._reading() as connection:
            for site in sites:
                rows = connection.execute(query, (site, since)).fetchall()
                yield site, {day: self._counts(site, counts) for day, counts in rows}

    def sites(self, since: int) -> dict[str, Days]:
        """What was counted of all sites on each day *since* that one."""
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT site, day, counts FROM days WHERE day >= ? ORDER BY site, day", (since,)
            ).fetchall()
        found: dict[str, Days] = {}
        for site, day, counts in rows:
            found.setdefault(site, {})[day] = self._counts(site, counts)
        return found

    def forget_before(self, day: int) -> None:
        """Forget earlier days, and of too many sites those that were crawled longest ago."""
        if not self.path.exists():
            return
        with self._connection() as connection, transaction(connection):
            connection.execute("DELETE FROM days WHERE day < ?", (day,))
            connection.execute(
                "DELETE FROM days WHERE site IN (SELECT site FROM days GROUP BY site "
                "ORDER BY max(day) DESC, site LIMIT -1 OFFSET ?)",
                (MAX_SITES,),
            )

    def _counts(self, site: str, text: str) -> Counts:
        try:
            counts = Counter({str(name): int(count) for name, count in json.loads(text).items()})
        except (AttributeError, RecursionError, TypeError, ValueError) as error:
            raise QualityStoreError(
                f"{self.path}: the counts of {site!r}: expected names and numbers, got "
                f"{text[:50]!r}. {_REMOVE}"
            ) from error
        return counts

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """A connection to the file; to an empty database where there is none."""
        if self.path.exists():
            with self._connection() as connection:
                yield connection
        else:
            with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
                prepare(connection, _FORM)
                yield connection

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(connect(self.path, WAIT_SECONDS)) as connection:
                self._prepare(connection)
                yield connection
        except sqlite3.Error as error:
            raise QualityStoreError(explained(self.path, error, _REMOVE)) from error

    def _prepare(self, connection: sqlite3.Connection) -> None:
        try:
            prepare(connection, _FORM)
        except ForeignFileError as error:
            raise QualityStoreError(
                f"{self.path}: {error}. Name another file in MSS_QUALITY_FILE"
            ) from error
        # After a crash of the machine, not of the crawl, the last checkpoint may be lost.
        connection.execute("PRAGMA synchronous = NORMAL")


_REMOVE = "Remove the file, and counting begins anew"
