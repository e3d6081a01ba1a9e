"""The documentation shows the table of sources as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from scrapy_mss.metadata.rows import ROWS

PAGE = Path(__file__).parents[2] / "docs" / "metadata.md"


def table() -> Iterator[str]:
    yield "| field | source | what is read | words, in order |"
    yield "| --- | --- | --- | --- |"
    last = ""
    for row in ROWS:
        what = (row.read.__doc__ or "").partition("\n")[0].rstrip(".")
        words = ", ".join(f"`{word}`" for word in row.words)
        field = "" if row.field == last else f"`{row.field}`"
        yield " ".join(f"| {field} | `{row.source}` | {what} | {words} |".split())
        last = row.field


def test_the_page_shows_the_table_of_sources() -> None:
    wanted = "\n".join(table())

    assert wanted in PAGE.read_text(encoding="utf-8"), f"docs/metadata.md should have:\n{wanted}"
