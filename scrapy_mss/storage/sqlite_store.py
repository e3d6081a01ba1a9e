"""A store in a folder: one SQLite database, which crawls on one machine can share.

A checkpoint is one transaction: it reads, adds and writes while other crawls wait for it. They can
read meanwhile, in the write-ahead log. Each thread has a connection of its own.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from operator import itemgetter
from pathlib import Path
from threading import local
from time import monotonic, sleep
from typing import Final

from scrapy_mss.storage.tables import DAY, FORMAT, TABLES, Change, Key, StoreError, Table, writes_of

FILE: Final = "store.db"
APPLICATION_ID: Final = 0x6D737373  # "msss", by which SQLite files are recognized
WAIT_SECONDS: Final = 10.0  # for another crawl's checkpoint, which takes less than a second
AGAIN_AFTER: Final = 0.01  # seconds
CACHE_KIB: Final = 8192  # of the database, in memory
LOG_BYTES: Final = 2**24  # of the write-ahead log, once it is in the database
FORGOTTEN_AT_ONCE: Final = 1000  # rows: other crawls get their turn after each thousand
REMOVE: Final = "Remove the file; crawls then start from scratch"


class SQLiteStore:
    """A store in the folder *named*, which need not exist until something is written."""

    def __init__(self, named: str | os.PathLike[str]) -> None:
        self.path = Path(named) / FILE
        self._of_thread = local()
        self._connections: list[sqlite3.Connection] = []

    @property
    def name(self) -> str:
        return str(self.path)

    def check(self) -> None:
        """Raise a `StoreError` if the database cannot be used; create it if there is none."""
        with self._errors():
            self._make_folder()
            self._connection()

    def get(self, keys: Iterable[Key], *, patient: bool = True) -> dict[Key, bytes]:  # noqa: ARG002 - nobody waits to read
        if not self._is_there():
            return {}
        with self._errors(), _transaction(self._connection(), "BEGIN") as connection:
            return dict(_found(connection, keys))

    def used_since(self, table: Table, minute: int) -> dict[bytes, int]:
        query = f"SELECT key, used FROM {table.name} WHERE used >= ? ORDER BY used DESC, key"  # noqa: S608 - our own names
        with self._errors():
            return dict(self._connection().execute(query, (minute,))) if self._is_there() else {}

    def write(self, changes: Sequence[Change]) -> None:
        """As in `Store`; a folder that was deleted is created again."""
        with self._errors():
            self._make_folder()
            if not self._is_there():  # each thread reconnects, or would use a deleted file
                self._of_thread = local()
            with _transaction(self._connection()) as connection:
                asked = {key for change in changes for key in change.reads}
                writes = writes_of(changes, dict(_found(connection, asked)))
                for (table, key), row in sorted(writes.items(), key=itemgetter(0)):
                    if row is None:
                        connection.execute(f"DELETE FROM {table.name} WHERE key = ?", (key,))  # noqa: S608 - our own names
                    else:
                        connection.execute(
                            f"INSERT INTO {table.name} VALUES (?, ?, ?) ON CONFLICT (key) "  # noqa: S608 - our own names
                            "DO UPDATE SET used = max(used, excluded.used), value = excluded.value",
                            (key, row.used, row.value),
                        )

    def forget(self, now: int) -> None:
        if not self._is_there():
            return
        with self._errors():
            connection = self._connection()
            for table in TABLES:
                old = f"SELECT key FROM {table.name} WHERE used < ? ORDER BY used"  # noqa: S608 - our own names
                _delete(connection, table, old, (now - table.days * DAY, 0))
                if table.most is not None:
                    latest = f"SELECT key FROM {table.name} ORDER BY used DESC, key"  # noqa: S608 - our own names
                    _delete(connection, table, latest, (table.most,))

    def end(self) -> None:
        """Do nothing: a write waits for other crawls `WAIT_SECONDS` at most."""

    def close(self) -> None:
        for connection in self._connections:
            connection.close()
        self._connections.clear()
        self._of_thread = local()

    def _make_folder(self) -> None:
        with self._folder_errors():
            self.path.parent.mkdir(parents=True, exist_ok=True)

    def _is_there(self) -> bool:
        """Whether the file exists; a file in the place of its folder is an error."""
        with self._folder_errors(), suppress(FileNotFoundError):
            self.path.stat()
            return True
        return False

    @contextmanager
    def _folder_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(
                f"{self.path.parent}: expected a folder that this user can read and write, got: "
                f"{error.strerror}. Name another one in MSS_STORE"
            ) from error

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._of_thread, "connection", None)
        if connection is None:
            connection = _connected(self.path, WAIT_SECONDS)
            try:
                _prepare(connection, self.path)
            except BaseException:
                connection.close()
                raise
            self._of_thread.connection = connection
            self._connections.append(connection)
        return connection

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(_explained(self.path, error)) from error


def _delete(
    connection: sqlite3.Connection, table: Table, keys: str, values: tuple[int, ...]
) -> None:
    """Delete the rows whose *keys* a query finds; the last of its *values* is its offset."""
    n_gone = FORGOTTEN_AT_ONCE
    while n_gone == FORGOTTEN_AT_ONCE:
        with _transaction(connection):
            gone = connection.execute(
                f"DELETE FROM {table.name} "  # noqa: S608 - our own names
                f"WHERE key IN ({keys} LIMIT {FORGOTTEN_AT_ONCE} OFFSET ?)",
                values,
            )
        n_gone = gone.rowcount


def _found(connection: sqlite3.Connection, keys: Iterable[Key]) -> Iterator[tuple[Key, bytes]]:
    for table, key in keys:
        # SQLite would not decode damaged bytes that have become text.
        query = f"SELECT CAST(value AS BLOB) FROM {table.name} WHERE key = ?"  # noqa: S608 - our own names
        row = connection.execute(query, (key,)).fetchone()
        if row is not None:
            yield (table, key), row[0]


def _connected(path: Path, seconds: float) -> sqlite3.Connection:
    """A connection to the file *path* that waits at most *seconds* for others.

    On a read-only file system SQLite cannot make the files of the write-ahead log, which it wants
    even for reading, unless the address says that nobody can change the file. It then reads no log
    that a killed crawl has left.
    """
    name = str(path)
    with suppress(AttributeError, OSError):  # Windows has no statvfs; there may be no file yet
        has_log = os.path.lexists(f"{path}-wal")
        if os.statvfs(path).f_flag & os.ST_RDONLY and not has_log:
            name = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    is_address = name != str(path)
    return sqlite3.connect(
        name, seconds, isolation_level=None, check_same_thread=False, uri=is_address
    )


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Make the tables in a new file; reject a file that is not ours or of another format."""
    application, version, names = _state(connection)
    if (application, version, names) == (0, 0, set()):
        _write_ahead(connection)
    elif (application, version) != (APPLICATION_ID, FORMAT):
        raise StoreError(
            f"{path}: expected a store of scrapy-mss in format {FORMAT}, got application "
            f"{application}, format {version}. Name another folder in MSS_STORE"
        )
    if not names.issuperset(table.name for table in TABLES):
        with _transaction(connection):
            for table in TABLES:
                connection.execute(
                    f"CREATE TABLE IF NOT EXISTS {table.name} (key BLOB PRIMARY KEY, "
                    "used INTEGER NOT NULL, value BLOB NOT NULL) WITHOUT ROWID"
                )
                connection.execute(
                    f"CREATE INDEX IF NOT EXISTS {table.name}_by_use ON {table.name} (used)"
                )
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {FORMAT}")
    # After a crash of the machine, not of the crawl, the last checkpoint may be lost.
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    connection.execute(f"PRAGMA journal_size_limit = {LOG_BYTES}")


def _state(connection: sqlite3.Connection) -> tuple[int, int, set[str]]:
    """The application, version and tables, read in one transaction: others may be creating them."""
    with _transaction(connection, "BEGIN"):
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    return application, version, names


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Use the write-ahead log, as soon as no other crawl is making the file.

    Everywhere else SQLite itself waits for others, for the time that the connection has.
    """
    (milliseconds,) = connection.execute("PRAGMA busy_timeout").fetchone()
    until = monotonic() + milliseconds / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or monotonic() >= until:
                raise
            sleep(AGAIN_AFTER)
        else:
            return


@contextmanager
def _transaction(
    connection: sqlite3.Connection, begin: str = "BEGIN IMMEDIATE"
) -> Iterator[sqlite3.Connection]:
    """A transaction: rolled back if the block raises."""
    connection.execute(begin)
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # where the disk is full, SQLite has rolled back itself
            connection.execute("ROLLBACK")
        raise


def _explained(path: Path, error: sqlite3.Error) -> str:
    """The message for an *error* of the file *path*: it advises removal only of a damaged one."""
    message = str(error)
    if os.path.isdir(path):  # noqa: PTH112 - `Path.is_dir` raises in a folder that is closed
        advice = "It is a folder: name another one in MSS_STORE"
    elif not isinstance(error, sqlite3.OperationalError) or message.startswith("no such"):
        advice = REMOVE
    else:
        advice = next((each for known, each in _ADVICE.items() if known in message), "")
    return f"{path}: {message}. {advice}".removesuffix(". ")


_ADVICE: Final = {  # by what SQLite's message contains
    "readonly": "What it holds is used, and nothing new is stored: make it writable for this user, "
    "or name another folder",
    "unable to open": "Make it readable and its folder writable for this user, or name another "
    "folder",
    "locked": "Another process has been writing to it for too long: end that one",
    "full": "Free space on its disk",
    # A full disk, too, if there is no room for the files of the write-ahead log.
    "disk I/O": "Free space on its disk if that is full; otherwise look for errors of the disk in "
    "the system's log",
}
