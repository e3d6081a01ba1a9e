"""Our SQLite files: created if missing, rejected if the file is something else."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
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
    connection.execute("BEGIN")
    try:
        application, version, n_tables = (connection.execute(each).fetchone()[0] for each in asked)
    finally:
        connection.execute("ROLLBACK")
    return application, version, n_tables


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All that is done inside, or where it raises, nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
