"""Pages of real servers that declare another encoding than theirs, or one that is none."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plugin.crawling import ADDON, Job, crawl, environment
from tests.plugin.site import ENCODED, Site


@pytest.mark.parametrize("workers", [0, 1])
def test_a_crawl_reads_pages_and_follows_links_whatever_is_declared(
    site: Site, tmp_path: Path, workers: int
) -> None:
    settings = {**ADDON, "MSS_WORKERS": workers, "MSS_SITE_MEMORY": 0, "MSS_JOIN_PAGES": 1}
    job = Job("following-next", {"urls": [site.url("/encoded/0")]}, settings)
    (found,) = crawl(tmp_path, [job])

    pages = found.by_url()
    assert set(pages) == set(site.urls("encoded", range(len(ENCODED))))
    texts = {fields["text"] for fields in pages.values()}
    assert len(texts) == 1
    assert "Die Fähre fährt wieder" in texts.pop()
    assert found.mss("encoding/mended/utf-8") == 5
    assert found.mss("encoding/mended/cp1252") == 1
    assert found.logged("ERROR") == []


def test_a_body_is_searched_up_to_the_longest_that_is_read(site: Site, tmp_path: Path) -> None:
    settings = {**ADDON, "MSS_MAX_BODY": 100, "MSS_JOIN_PAGES": 1}
    job = Job("following-next", {"urls": [site.url("/encoded/0")]}, settings)
    (found,) = crawl(tmp_path, [job])

    # The names that are no encodings of pages are replaced all the same.
    assert found.mss("encoding/mended/utf-8") == 4
    assert not found.mss("encoding/mended/cp1252")
    assert found.logged("ERROR") == []


def test_wrappers_label_pages_whatever_is_declared(site: Site, tmp_path: Path) -> None:
    rules = [{"site": "127.0.0.1", "url": "/encoded/*", "body": "div.text"}]
    settings = {**ADDON, "MSS_WRAPPERS": rules, "MSS_STORE": str(tmp_path / "store")}
    urls = site.urls("encoded", range(len(ENCODED)))
    (found,) = crawl(tmp_path, [Job(arguments={"urls": urls}, settings=settings)])

    assert {item.fields["extractor"].partition(":")[0] for item in found.items} == {"wrapper"}
    assert len({item.fields["text"] for item in found.items}) == 1
    assert not found.mss("train/refused/error")


@pytest.mark.parametrize("action", ["extract", "explain", "suggest"])
def test_commands_read_a_page_whatever_is_declared(site: Site, tmp_path: Path, action: str) -> None:
    urls = site.urls("encoded", range(1, 2) if action == "explain" else range(len(ENCODED)))
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "mss", action, *urls, "--bundled"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    if action == "extract":
        assert len({json.loads(line)["text"] for line in done.stdout.splitlines()}) == 1
