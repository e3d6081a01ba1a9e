"""Unsure pages in real crawls: a few of each site, and none that a rule labels."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scrapy_mss.article import ArticleResult
from scrapy_mss.crawl import unsure_pages
from scrapy_mss.files.sources import Source
from scrapy_mss.quality.unsure import UnsureStore
from scrapy_mss.storage.checkpoints import Checkpoints
from tests.plugin.crawling import ADDON, Crawl, Job, crawl, environment
from tests.plugin.site import RULES, Site

HOST = "127.0.0.1"
N = 12


def done(folder: Path, site: Site, kind: str, at_most: int = 3, **settings: Any) -> Crawl:
    urls = [site.url(f"/{kind}/{number}") for number in range(N)]
    path = str(folder / "unsure.db")
    # Without the memory of sites, a page is read as sure whatever pages came before it.
    of_unsure = {"MSS_UNSURE_PAGES": at_most, "MSS_UNSURE_FILE": path}
    values = {**ADDON, "MSS_SITE_MEMORY": 0, **of_unsure, **settings}
    (found,) = crawl(folder, [Job("silent", {"urls": urls}, values)])
    assert not found.error, found.error
    return found


@pytest.mark.parametrize("workers", [0, 1])
def test_the_least_sure_pages_of_a_site_are_kept(tmp_path: Path, site: Site, workers: int) -> None:
    done(tmp_path, site, "plain", at_most=N, MSS_WORKERS=workers)
    of_all = UnsureStore(tmp_path / "unsure.db").pages()[HOST]
    assert len(of_all) == N
    (tmp_path / "unsure.db").unlink()

    found = done(tmp_path, site, "plain", MSS_WORKERS=workers)

    kept = UnsureStore(tmp_path / "unsure.db").pages()
    assert [page.url for page in kept[HOST]] == [page.url for page in of_all[:3]]
    assert found.mss("unsure/failed") == 0


def test_neither_pages_of_a_rule_nor_those_that_nobody_asks_for(tmp_path: Path, site: Site) -> None:
    done(tmp_path, site, "wrapped", MSS_WRAPPERS=RULES, MSS_WORKERS=0)
    assert UnsureStore(tmp_path / "unsure.db").pages() == {}

    done(tmp_path, site, "plain", at_most=0, MSS_WORKERS=0)
    assert not (tmp_path / "unsure.db").exists()


def test_the_command_lists_and_writes_what_a_crawl_has_kept(tmp_path: Path, site: Site) -> None:
    done(tmp_path, site, "plain", MSS_WORKERS=0)
    kept = UnsureStore(tmp_path / "unsure.db").pages()[HOST]

    listed = scrapy_mss_unsure(tmp_path, "-u", "unsure.db", HOST)
    assert listed.stdout.splitlines() == [f"{page.sureness:.2f} {page.url}" for page in kept]
    written = scrapy_mss_unsure(tmp_path, "-u", "unsure.db", "-o", "pages.jsonl")
    assert written.stdout == "pages.jsonl: wrote 3 pages\n"
    pages = [*Source(tmp_path / "pages.jsonl")]
    assert [page.url for page in pages] == [page.url for page in kept]
    assert all("<html" in page.html for page in pages)


def test_the_command_says_what_is_missing(tmp_path: Path) -> None:
    found = scrapy_mss_unsure(tmp_path, "a.example")
    assert (found.returncode, found.stderr) == (1, "")
    assert found.stdout.endswith("no pages of a.example; crawl with MSS_UNSURE_PAGES, such as 5\n")

    (tmp_path / "other.db").write_bytes(b"something else" * 99)
    found = scrapy_mss_unsure(tmp_path, "-u", "other.db")
    assert (found.returncode, found.stdout) == (2, "")
    assert "other.db: file is not a database. Remove the file" in found.stderr

    found = scrapy_mss_unsure(tmp_path, "-o", "pages.txt")
    assert found.returncode == 2
    assert "expected a file name that ends in .jsonl" in found.stderr


def scrapy_mss_unsure(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "scrapy", "mss", "unsure", *arguments],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_file_that_fails_in_the_crawl_is_counted_and_the_crawl_goes_on(
    tmp_path: Path, site: Site
) -> None:
    (tmp_path / "file").write_text("")
    path = str(tmp_path / "file" / "unsure.db")
    found = done(tmp_path, site, "plain", MSS_WORKERS=0, MSS_UNSURE_FILE=path)

    assert len(found.items) == N
    assert found.mss("unsure/failed") >= 1
    (line,) = found.logged("WARNING")
    assert "unsure pages cannot be stored" in line


def test_another_file_stops_the_crawl_at_its_start(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    path.write_bytes(b"something else" * 99)
    settings = {**ADDON, "MSS_UNSURE_PAGES": 1, "MSS_UNSURE_FILE": str(path)}
    (found,) = crawl(tmp_path, [Job(settings=settings)])
    assert "other.db: file is not a database" in json.dumps(found.error)


def test_large_pages_long_addresses_and_further_sites_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unsure_pages, "LONGEST_PAGE", 5)
    monkeypatch.setattr(unsure_pages, "MAX_SITES", 1)
    store = UnsureStore(tmp_path / "unsure.db")
    pages = unsure_pages.UnsurePages(store, 2, lambda: 7, Checkpoints([]).run)
    unsure = ArticleResult(sureness=0.1)
    pages.page("https://a.example/long", "123456", unsure)
    pages.page(f"https://a.example/{'x' * 2000}", "", unsure)
    pages.page("https://a.example/rule", "", ArticleResult())
    for host in ("a.example", "b.example", "c.example"):
        pages.page(f"https://{host}/", "12345", unsure)
    pages.close()

    assert pages.failures == 0
    assert {site: [page.url for page in found] for site, found in store.pages().items()} == {
        "a.example": ["https://a.example/"],
        "b.example": ["https://b.example/"],
    }
