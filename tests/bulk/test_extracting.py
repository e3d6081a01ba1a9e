"""Batches of pages become tables of articles, whatever the pages are like."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

import pytest

pa = pytest.importorskip("pyarrow")


from scrapy_mss.article import ModelState, read_article  # noqa: E402 - not without pyarrow
from scrapy_mss.bulk.extracting import ArticleExtractor  # noqa: E402
from scrapy_mss.files.stored_pages import Record, StoredPage  # noqa: E402
from scrapy_mss.items import ARTICLE_FIELDS  # noqa: E402
from scrapy_mss.models.files import bundled_model  # noqa: E402
from tests.plugin.site import index, plain  # noqa: E402


def url(number: int) -> str:
    return f"https://news.example/{number}"


def test_a_batch_becomes_a_table_of_articles_and_reasons(extractor: ArticleExtractor) -> None:
    pages = [plain(1), index(1), "", plain(2), None]
    batch = pa.table({"id": range(5), "url": [url(n) for n in range(5)], "html": pages})
    state = ModelState.of(bundled_model())

    table = extractor(batch)

    assert table.column_names == [*ARTICLE_FIELDS, "reason", "detail", "id"]
    assert table.column("id").to_pylist() == [0, 1, 2, 3, 4]
    for row, html in zip(table.to_pylist()[:-1], pages[:-1], strict=True):
        read = read_article(str(html), row["url"], state)
        assert row["reason"] == (read.reason or None)
        assert row["text"] == (read.article.text if read.article else None)
        if read.article:
            as_json = {name: json.loads(row[name]) for name in ("media", "breadcrumbs")}
            assert {name: row[name] for name in ARTICLE_FIELDS} | as_json == asdict(read.article)
    assert table.column("reason")[4].as_py() == "unusable"


def test_a_faulty_page_costs_only_its_own_row(misbehaving: ArticleExtractor) -> None:
    reasons = {
        "be slow": "timeout",
        "be killed": "crash",
        "be lost": "memory",
        "be wrong": "error",
        "be long" * 2000: "too_large",
        "": None,
    }
    pages = [f"{plain(n)}<!-- {what} -->" for n, what in enumerate(reasons)]
    records = [Record(n, n, StoredPage(url(n), html)) for n, html in enumerate(pages)]

    rows = list(misbehaving.rows(records))

    assert [row["reason"] for row in rows] == list(reasons.values())
    assert [row["url"] for row in rows] == [url(n) for n in range(len(pages))]
    assert rows[3]["detail"] == "SystemError: this page"
    assert rows[5]["extractor"].startswith("mss:")


def test_few_pages_wait_at_a_time(extractor: ArticleExtractor) -> None:
    taken = 0

    def records(count: int) -> Iterator[Record]:
        nonlocal taken
        for number in range(count):
            taken += 1
            yield Record(number, number, StoredPage(url(number), "<p>A short page.</p>"))

    rows = extractor.rows(records(100))
    next(rows)

    assert taken < 10
    assert sum(1 for _ in rows) == 99
