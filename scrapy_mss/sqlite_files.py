"""SQLite files of our own: made where there is nothing, refused where there is something else."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple


class Form(NamedTuple):
    """What a file holds, and by what SQLite tells it apart from others."""

    content: str  # as in "expected sites of scrapy-mss"
    application: int
    version: int
    schema: str  # statements, which may be executed twice


class ForeignFileError(ValueError):
    """The file is of something else, or of another version; the message says what was expected."""


def prepare(connection: sqlite3.Connection, form: Form) -> None:
    """Make the tables in a new file; reject a file that is not of this *form*.

    The write-ahead log lets crawls read while another one writes.
    """
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (n_tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if (application, version, n_tables) == (0, 0, 0):
        connection.execute("PRAGMA journal_mode = WAL")
        with transaction(connection):
            for statement in form.schema.strip().split(";")[:-1]:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {form.application}")
            connection.execute(f"PRAGMA user_version = {form.version}")
    elif (application, version) != (form.application, form.version):
        raise ForeignFileError(
            f"expected {form.content} in format {form.version}, got application {application}, "
            f"format {version}"
        )


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
