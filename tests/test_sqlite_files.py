"""Files that several crawls make at once."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path

from scrapy_mss.sqlite_files import Form, prepare

FORM = Form("numbers", 7, 1, "CREATE TABLE IF NOT EXISTS numbers (number INTEGER);")


def test_a_file_that_another_crawl_makes_in_between_is_not_foreign(tmp_path: Path) -> None:
    """Whatever statement of ours it is in between of."""
    for number in range(12):
        path = tmp_path / f"{number}.db"
        ours, theirs = (sqlite3.connect(path, 0, isolation_level=None) for _ in range(2))
        statements: list[str] = []

        def interrupt(statement: str, at: int = number) -> None:
            statements.append(statement)  # noqa: B023 - of this round
            if len(statements) == at:  # noqa: B023
                with suppress(sqlite3.OperationalError):  # locked by us, as it may be
                    prepare(theirs, FORM)  # noqa: B023

        ours.set_trace_callback(interrupt)
        prepare(ours, FORM)
        ours.set_trace_callback(None)
        prepare(ours, FORM)
        for connection in (ours, theirs):
            connection.close()
