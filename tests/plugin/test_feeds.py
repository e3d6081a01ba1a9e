"""Feeds of real crawls, each read by another program than the one that has written it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from scrapy_mss import addon
from scrapy_mss.addon import Addon
from scrapy_mss.exporters import SiteFilter
from scrapy_mss.items import ARTICLE_FIELDS
from scrapy_mss.pages.addresses import site_of
from scrapy_mss.settings import SettingError
from tests.plugin.crawling import ADDON, Crawl, Job, crawl
from tests.plugin.site import Site

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

# Those whose columns are JSON.
OF_OBJECTS = ("media", "breadcrumbs", "entries", "new_entries", "sources", "reservations")
PARQUET = {"format": "parquet"}
OF_SITE = {**PARQUET, "item_filter": "scrapy_mss.exporters.SiteFilter"}
FEEDS: dict[str, dict[str, Any]] = {
    "a.parquet": PARQUET,
    "last.parquet": {**PARQUET, "overwrite": True},
    "days/%(day)s.parquet": PARQUET,
    "batch-%(batch_id)d.parquet": {**PARQUET, "batch_item_count": 4},
    **{f"{host}.parquet": {**OF_SITE, "site": host} for host in ("127.0.0.1", "localhost")},
}
AGAIN = {name: FEEDS[name] for name in ("last.parquet", "days/%(day)s.parquet")}


@dataclass(frozen=True)
class Crawled:
    """What crawls, one after the other, have left in *folder*."""

    folder: Path
    first: Crawl  # with `FEEDS`

    def rows(self, name: str) -> list[dict[str, Any]]:
        return rows_of(self.folder / name)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory, site: Site) -> Crawled:
    folder = tmp_path_factory.mktemp("feeds")
    urls = [*site.urls("plain", range(8)), *site.urls("plain", range(2), "localhost")]
    jobs = [
        job(FEEDS, urls),
        job(AGAIN, urls[:2]),
        job(
            {"own.parquet": PARQUET},
            [site.url("/plain/1?item=dict&title")],
            "own",
            MSS_FIELD_MAP={"text": "body"},
        ),
        job(
            {"link.parquet": {**OF_SITE, "site": "localhost", "url": "link"}},
            [*site.urls("plain", range(1)), *site.urls("plain", range(1), "localhost")],
            MSS_ITEM_CLASS="builtins.dict",
            MSS_FIELD_MAP={"url": "link"},
        ),
    ]
    done = crawl(folder, jobs)
    for each in done:
        assert (each.error, each.logged("ERROR")) == ("", [])
    return Crawled(folder, done[0])


def job(
    feeds: Mapping[str, Mapping[str, Any]],
    urls: list[str],
    spider: str = "silent",
    **settings: object,
) -> Job:
    return Job(spider, {"urls": urls}, {**ADDON, "FEEDS": feeds, **settings})


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The rows of Parquet files by their addresses, as DuckDB reads them."""
    relation = duckdb.connect().read_parquet(str(path)).order("url")
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


def test_articles_are_in_parquet_what_they_are_as_items(crawled: Crawled) -> None:
    rows = crawled.rows("a.parquet")

    items = sorted((item.fields for item in crawled.first.items), key=lambda each: each["url"])
    assert len(rows) == 10
    assert [*rows[0]] == [*ARTICLE_FIELDS, "other"]
    for row in rows:
        row.update({name: json.loads(row[name]) for name in OF_OBJECTS})
    assert rows == [{**item, "other": None} for item in items]
    assert not list(crawled.folder.glob("*.arrows"))


def test_items_of_a_project_have_their_names_for_columns(crawled: Crawled) -> None:
    (row,) = crawled.rows("own.parquet")

    assert set(row) - {"body", "other"} == set(ARTICLE_FIELDS) - {"text"}
    assert row["body"]


def test_a_second_crawl_adds_a_file_and_overwrites_none(crawled: Crawled) -> None:
    day = r"\d{4}-\d\d-\d\d"
    second, first = sorted(path.name for path in (crawled.folder / "days").iterdir())

    assert re.fullmatch(rf"{day}\.parquet", first)
    assert re.fullmatch(rf"{day}(-2)?\.parquet", second)  # at midnight, that of another day
    assert len(crawled.rows("days/*.parquet")) == 12


def test_a_feed_that_overwrites_has_the_articles_of_the_last_crawl(crawled: Crawled) -> None:
    assert len(crawled.rows("last*.parquet")) == 2


def test_batches_are_files_of_their_own(crawled: Crawled) -> None:
    assert [len(crawled.rows(f"batch-{number}.parquet")) for number in (1, 2, 3)] == [4, 4, 2]


def test_each_site_can_have_a_feed(crawled: Crawled) -> None:
    assert len(crawled.rows("127.0.0.1.parquet")) == 8
    assert len(crawled.rows("localhost.parquet")) == 2


def test_the_address_may_have_another_name(crawled: Crawled) -> None:
    found = duckdb.connect().read_parquet(str(crawled.folder / "link.parquet"))

    assert [site_of(link) for (link,) in found.project("link").fetchall()] == ["localhost"]


def test_a_filter_without_a_site_says_what_it_needs() -> None:
    with pytest.raises(ValueError, match="expected the feed's option 'site'"):
        SiteFilter({"format": "parquet"})


def test_a_parquet_feed_without_pyarrow_stops_the_crawl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addon, "find_spec", lambda _: None)

    wanting: list[dict[str, Any]] = [{"a.parquet": {}}, {"s3://bucket/a": PARQUET}]
    for feeds in wanting:
        with pytest.raises(SettingError, match=r"pip install 'scrapy-mss\[parquet\]'"):
            Addon().update_settings(Settings({"FEEDS": feeds}))
    settings = Settings({"FEEDS": {"a.jsonl": {"format": "jsonlines"}}})
    Addon().update_settings(settings)
    assert not settings.getdict("FEED_EXPORTERS")


def test_the_format_that_is_gone_stops_the_crawl() -> None:
    with pytest.raises(SettingError, match="'spreadsheet', which is gone: use csv"):
        Addon().update_settings(Settings({"FEEDS": {"a.csv": {"format": "spreadsheet"}}}))


def test_the_exporters_of_a_project_take_precedence() -> None:
    settings = Settings({"FEED_EXPORTERS": {"parquet": "a.b.C"}, "FEED_URI_PARAMS": "a.b.c"})

    Addon().update_settings(settings)

    assert settings["FEED_EXPORTERS"]["parquet"] == "a.b.C"
    assert settings["FEED_URI_PARAMS"] == "a.b.c"
