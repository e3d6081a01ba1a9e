"""Files that several crawls make at once."""

from __future__ import annotations

import ast
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from scrapy_mss.storage.sqlite_files import Form, prepare, transaction

import scrapy_mss

FORM = Form("numbers", 7, 1, "CREATE TABLE IF NOT EXISTS numbers (number INTEGER);")


@contextmanager
def two_connections(path: Path, seconds: float) -> Iterator[list[sqlite3.Connection]]:
    """Ours, and that of another crawl; each waits so many *seconds* for the other."""
    both = [sqlite3.connect(path, seconds, isolation_level=None) for _ in range(2)]
    yield both
    for connection in both:
        connection.close()


def test_a_file_that_another_crawl_makes_in_between_is_not_foreign(tmp_path: Path) -> None:
    """Whatever statement of ours it is in between of."""
    for number in range(12):
        path = tmp_path / f"{number}.db"
        statements: list[str] = []
        with two_connections(path, 0) as (ours, theirs):

            def interrupt(statement: str, at: int = number) -> None:
                statements.append(statement)  # noqa: B023 - of this round
                if len(statements) == at:  # noqa: B023
                    with suppress(sqlite3.OperationalError):  # locked by us, as it may be
                        prepare(theirs, FORM)

            ours.set_trace_callback(interrupt)
            prepare(ours, FORM)
            ours.set_trace_callback(None)
            prepare(ours, FORM)


def test_a_file_that_another_crawl_is_making_is_waited_for(tmp_path: Path) -> None:
    with two_connections(tmp_path / "numbers.db", 60) as (ours, theirs):
        theirs.execute("BEGIN IMMEDIATE")
        theirs.execute("CREATE TABLE numbers (number INTEGER)")
        asked = 0

        def release(statement: str) -> None:
            nonlocal asked
            asked += "journal_mode" in statement
            if asked == 3:  # it was locked twice
                theirs.execute("ROLLBACK")

        ours.set_trace_callback(release)
        prepare(ours, FORM)

        assert asked == 3
        assert ours.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_file_that_stays_locked_is_no_longer_waited_for_than_was_said(tmp_path: Path) -> None:
    with two_connections(tmp_path / "numbers.db", 0.05) as (ours, theirs):
        theirs.execute("BEGIN IMMEDIATE")

        with pytest.raises(sqlite3.OperationalError, match="locked"):
            prepare(ours, FORM)


def test_an_error_is_not_hidden_where_sqlite_itself_rolls_back() -> None:
    """As it does where the disk is full."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("CREATE TABLE numbers (number INTEGER PRIMARY KEY)")
    add = "INSERT OR ROLLBACK INTO numbers VALUES (1)"

    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"), transaction(connection):
        connection.executemany(add, [(), ()])

    with transaction(connection):
        connection.execute(add)
    assert connection.execute("SELECT count(*) FROM numbers").fetchone() == (1,)
    connection.close()


def statements() -> Iterator[str]:
    """All strings of the package that are SQL."""
    for path in Path(scrapy_mss.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            text = node.value if isinstance(node, ast.Constant) else None
            if isinstance(text, str) and re.match(r"\s*(?:SELECT|INSERT|UPDATE|DELETE)\s", text):
                yield text


def test_no_placeholder_has_a_number() -> None:
    """Python 3.12 warns of numbered ones with a sequence of values; 3.14 raises an error."""
    found = list(statements())

    assert len(found) > 10
    assert [text for text in found if re.search(r"\?\d", text)] == []
