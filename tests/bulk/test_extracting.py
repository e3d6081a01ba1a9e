"""Batches of pages become tables of articles, whatever the pages are like."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

import pytest

pytest.importorskip("pyarrow")


from scrapy_mss.article import ModelState, read_article
from scrapy_mss.bulk.extracting import ArticleExtractor
from scrapy_mss.files.stored_pages import Record, StoredPage
from scrapy_mss.items import ARTICLE_FIELDS
from scrapy_mss.models.files import bundled_model
from tests.plugin.site import index, plain

# Those whose columns are JSON.
OF_OBJECTS = ("media", "breadcrumbs", "entries", "new_entries", "sources", "reservations")


def url(number: int) -> str:
    return f"https://news.example/{number}"


def test_each_page_is_a_row_with_its_article_or_the_reason(extractor: ArticleExtractor) -> None:
    pages = [plain(1), index(1), "", plain(2)]
    records = [Record.of(url(n), html, n) for n, html in enumerate([*pages, None])]
    state = ModelState.of(bundled_model())

    *rows, unusable = extractor.rows(records)

    for row, html in zip(rows, pages, strict=True):
        read = read_article(html, row["url"], state)
        assert row["reason"] == (read.reason or None)
        assert row.get("text") == (read.article.text if read.article else None)
        if read.article:
            as_json = {name: json.loads(row[name]) for name in OF_OBJECTS}
            assert {name: row[name] for name in ARTICLE_FIELDS} | as_json == asdict(read.article)
    assert unusable["reason"] == "unusable"


@pytest.mark.slow("processes that are killed")
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
