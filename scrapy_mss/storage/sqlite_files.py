"""Our SQLite files: created if missing, rejected if the file is something else.

A file that this user cannot write is read. Only a damaged one is to be removed: each other error
has advice of its own.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Final, NamedTuple

AGAIN_AFTER: Final = 0.01  # seconds


class Form(NamedTuple):
    """What a file holds, and by what SQLite tells it apart from others."""

    content: str  # as in "expected sites of scrapy-mss"
    application: int
    version: int
    schema: str  # statements, which may be executed twice


class ForeignFileError(ValueError):
    """The file is of something else, or of another version; the message says what was expected."""


def connect(path: Path, seconds: float, *, check_same_thread: bool = True) -> sqlite3.Connection:
    """A connection to the file *path* that waits so many *seconds* for others.

    On a read-only file system SQLite cannot make the files of the write-ahead log, which it wants
    even for reading, unless it is told that nobody can change the file. It then reads no log that
    a killed crawl has left.
    """
    name = str(path)
    with suppress(AttributeError, OSError):  # Windows has no statvfs; there may be no file yet
        has_log = os.path.lexists(f"{path}-wal")
        if os.statvfs(path).f_flag & os.ST_RDONLY and not has_log:
            name = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    is_address = name != str(path)
    return sqlite3.connect(
        name,
        seconds,
        isolation_level=None,
        check_same_thread=check_same_thread,
        uri=is_address,
    )


def explained(path: Path, error: sqlite3.Error, if_damaged: str) -> str:
    """What an *error* of the file *path* is, and what to do; *if_damaged* is what to do then."""
    message = str(error)
    if os.path.isdir(path):  # noqa: PTH112 - `Path.is_dir` raises in a folder that is closed
        advice = "It is a folder: name a file"
    elif not isinstance(error, sqlite3.OperationalError) or message.startswith("no such"):
        advice = if_damaged
    else:
        advice = next((each for known, each in _ADVICE.items() if known in message), "")
    return f"{path}: {message}. {advice}".removesuffix(". ")


_ADVICE: Final = {  # by what SQLite's message contains
    "readonly": "What it holds is used, and nothing new is stored: make it writable for this user, "
    "or name another file",
    "unable to open": "Make it readable and its folder writable for this user, or name another "
    "file",
    "locked": "Another process has been writing to it for too long: end that one",
    "full": "Free space on its disk",
    # A full disk, too, if there is no room for the files of the write-ahead log.
    "disk I/O": "Free space on its disk if that is full; otherwise look for errors of the disk in "
    "the system's log",
}


def statements(schema: str) -> list[str]:
    """The statements of a *schema*: as a script, SQLite would end the transaction before them."""
    return schema.strip().split(";")[:-1]


def prepare(connection: sqlite3.Connection, form: Form) -> None:
    """Make the tables in a new file; reject a file that is not of this *form*.

    The write-ahead log lets crawls read while another one writes.
    """
    application, version, n_tables = _state(connection)
    if (application, version, n_tables) == (0, 0, 0):
        _write_ahead(connection)
        with transaction(connection):
            for statement in statements(form.schema):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {form.application}")
            connection.execute(f"PRAGMA user_version = {form.version}")
    elif (application, version) != (form.application, form.version):
        raise ForeignFileError(
            f"expected {form.content} in format {form.version}, got application {application}, "
            f"format {version}"
        )


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Use the write-ahead log, as soon as no other crawl is making the file.

    Everywhere else SQLite itself waits for others, as long as the connection was told.
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


def _state(connection: sqlite3.Connection) -> tuple[int, int, int]:
    """The application, the version and the number of tables, all of one moment.

    Another crawl may be making the file.
    """
    asked = ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
    with transaction(connection, "BEGIN"):
        application, version, n_tables = (connection.execute(each).fetchone()[0] for each in asked)
    return application, version, n_tables


@contextmanager
def transaction(connection: sqlite3.Connection, begin: str = "BEGIN IMMEDIATE") -> Iterator[None]:
    """All that is done inside, or where it raises, nothing."""
    connection.execute(begin)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # where the disk is full, SQLite has rolled back itself
            connection.execute("ROLLBACK")
        raise
