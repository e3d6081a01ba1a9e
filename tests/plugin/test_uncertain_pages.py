"""Uncertain pages in real crawls: a few of each site, and none that a rule labels."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from scrapy_mss.article import ArticleResult
from scrapy_mss.crawl import site_quality
from scrapy_mss.files.sources import Source
from scrapy_mss.quality.store import QualityStore, UncertainPage
from scrapy_mss.storage.sqlite_store import SQLiteStore
from scrapy_mss.storage.tables import MAX_UNSURE_PAGES, minute_now
from tests.helpers.checkpoints import alone, finish, write
from tests.plugin.crawling import Crawl, Done, crawl_all, fetching, run_scrapy
from tests.plugin.site import RULES, Site

HOST = "127.0.0.1"
N = 12


def done(folder: Path, site: Site, kind: str, **settings: Any) -> Crawl:
    urls = [site.url(f"/{kind}/{number}") for number in range(N)]
    # Without the memory of sites, a page is read as sure whatever pages came before it.
    kept = {"MSS_REPORT": "pages", "MSS_STORE": str(folder / "store"), "MSS_SITE_MEMORY": 0}
    return crawl_all(folder, {kind: fetching(urls, **{**kept, **settings})})[kind]


def kept_in(folder: Path) -> dict[str, list[UncertainPage]]:
    with closing(SQLiteStore(folder / "store")) as store:
        return QualityStore(store).uncertain()


def certainty_of(article: dict[str, Any]) -> float:
    """How sure the model is that it is one, and of its text."""
    certainty: float = min(abs(2 * article["probability"] - 1), article["confidence"])
    return round(certainty, 4)


def test_the_least_sure_pages_of_a_site_are_kept(tmp_path: Path, site: Site) -> None:
    found = done(tmp_path, site, "plain", MSS_WORKERS=1)

    certainty = {item.url: certainty_of(item.fields) for item in found.items}
    least = sorted(certainty, key=lambda url: (certainty[url], url))[:MAX_UNSURE_PAGES]
    assert [page.url for page in kept_in(tmp_path)[HOST]] == least
    assert found.mss("unsure/failed") == 0


def test_neither_pages_of_a_rule_nor_those_that_nobody_asks_for(tmp_path: Path, site: Site) -> None:
    done(tmp_path, site, "wrapped", MSS_WRAPPERS=RULES)
    done(tmp_path, site, "plain", MSS_REPORT="counts")

    assert kept_in(tmp_path) == {}


def test_the_command_lists_and_writes_what_a_crawl_has_kept(tmp_path: Path, site: Site) -> None:
    done(tmp_path, site, "plain")
    kept = kept_in(tmp_path)[HOST]

    listed = report_pages(tmp_path, "-s", "store")

    assert listed.out.splitlines() == [f"{page.certainty:.2f} {page.url}" for page in kept]
    pages = [*Source(tmp_path / "pages.jsonl")]
    assert [page.url for page in pages] == [page.url for page in kept]
    assert all("<html" in page.html for page in pages)


def test_the_command_says_which_setting_keeps_pages(tmp_path: Path) -> None:
    found = report_pages(tmp_path)

    assert (found.code, found.err) == (1, "")
    assert found.out.endswith("no pages; crawl with MSS_REPORT = 'pages'\n")


def report_pages(folder: Path, *arguments: str) -> Done:
    return run_scrapy(folder, "mss", "report", "--pages", "pages.jsonl", *arguments)


def test_large_pages_long_addresses_and_further_sites_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site_quality, "LONGEST_PAGE", 5)
    monkeypatch.setattr(site_quality, "MAX_UNSURE_SITES", 1)
    store = SQLiteStore(tmp_path)
    pages = alone(site_quality.UncertainPages(QualityStore(store), minute_now), store)
    result = ArticleResult(certainty=0.1)
    pages.page("https://a.example/long", "123456", result)
    pages.page(f"https://a.example/{'x' * 2000}", "", result)
    pages.page("https://a.example/rule", "", ArticleResult())
    for host in ("a.example", "b.example", "c.example"):
        pages.page(f"https://{host}/", "12345", result)
    write(pages)

    found = QualityStore(store).uncertain()
    finish(pages)
    assert pages.failures == 0
    assert {site: [page.url for page in of_site] for site, of_site in found.items()} == {
        "a.example": ["https://a.example/"],
        "b.example": ["https://b.example/"],
    }


def test_pages_that_could_not_be_stored_are_stored_later(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path / "store")
    pages = alone(site_quality.UncertainPages(QualityStore(store), minute_now), store)
    (tmp_path / "store").touch()
    pages.page("https://a.example/1", "<p>", ArticleResult(certainty=0.1))
    write(pages)
    assert (pages.failures, pages.lost) == (1, 1)

    (tmp_path / "store").unlink()
    pages.page("https://a.example/2", "<p>", ArticleResult(certainty=0.2))
    finish(pages)
    assert [page.url for page in kept_in(tmp_path)["a.example"]] == [
        "https://a.example/1",
        "https://a.example/2",
    ]
    assert (pages.failures, pages.lost) == (1, 0)
