"""The documentation shows the table of sources."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from scrapy_mss.metadata.fields import FIELD_SOURCES

PAGE = Path(__file__).parents[2] / "docs" / "metadata.md"


def table() -> Iterator[str]:
    yield "| field | source | what is read | keys, in order |"
    yield "| --- | --- | --- | --- |"
    last = ""
    for source in FIELD_SOURCES:
        what = (source.lookup.__doc__ or "").partition("\n")[0].rstrip(".")
        keys = ", ".join(f"`{key}`" for key in source.keys)
        field = "" if source.field == last else f"`{source.field}`"
        yield " ".join(f"| {field} | `{source.name}` | {what} | {keys} |".split())
        last = source.field


def test_documentation_shows_the_table_of_sources() -> None:
    expected = "\n".join(table())

    assert expected in PAGE.read_text(encoding="utf-8"), (
        f"docs/metadata.md must contain:\n{expected}"
    )
