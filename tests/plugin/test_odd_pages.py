"""Pages that no site should send, and pages that declare another encoding than theirs, or none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugin.crawling import ADDON, Crawl, Job, crawl_all, fetching, run_scrapy
from tests.plugin.site import ENCODED, N_HOSTILE, Site

# On the site of this rule every hostile page is labelled, too.
RULES = [
    {
        "site": "127.0.0.1",
        "wrappers": [
            {"url": "/hostile/*", "body": "div, p, b"},
            {"url": "/encoded/*", "body": "div.text"},
        ],
    }
]
HOSTILE = ("hostile", "hostile, by a worker", "hostile, by a rule")


@pytest.fixture(scope="module")
def crawls(site: Site, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Crawl]:
    hostile = [*site.urls("hostile", range(N_HOSTILE)), site.url("/plain/1")]
    first, encoded = {"urls": [site.url("/encoded/0")]}, site.urls("encoded", range(len(ENCODED)))
    alone = {**ADDON, "MSS_SITE_MEMORY": 0, "MSS_JOIN_PAGES": 1}
    rules = {"MSS_WRAPPERS": RULES}
    asked = {
        "hostile": fetching(hostile),
        "hostile, by a worker": fetching(hostile, MSS_WORKERS=1),
        "hostile, by a rule": fetching(hostile, **rules),
        "encoded": Job("following-next", first, alone),
        "encoded, by a rule": fetching(encoded, **alone, **rules),
        "encoded and large": Job("following-next", first, {**alone, "MSS_MAX_BODY": 100}),
    }
    return crawl_all(tmp_path_factory.mktemp("odd"), asked)


def test_crawls_finish_without_an_error(crawls: dict[str, Crawl]) -> None:
    for name, done in crawls.items():
        assert done.logged("ERROR") == [], name
        assert done.stats["finish_reason"] == "finished"
        assert not [stat for stat in done.stats if "extract/failed" in stat]


@pytest.mark.parametrize("name", HOSTILE)
def test_every_hostile_page_is_counted(crawls: dict[str, Crawl], name: str, site: Site) -> None:
    done = crawls[name]

    counted = sum(value for stat, value in done.stats.items() if "extract/dropped" in stat)
    counted += done.mss("extract/articles")
    assert done.mss("extract/pages") == counted == N_HOSTILE + 1
    found = done.by_url()
    assert found[site.url("/plain/1")]["text"]
    for number in (3, 4):  # a wrong or unknown encoding costs letters and not the article
        is_read = len(found.get(site.url(f"/hostile/{number}"), {}).get("text") or "") > 500
        assert is_read or name == "hostile, by a rule"
    for number in (5, 6):  # an empty body, and zeros
        assert site.url(f"/hostile/{number}") not in found


def test_training_counts_each_hostile_page_as_learned_or_refused(crawls: dict[str, Crawl]) -> None:
    done = crawls["hostile, by a rule"]

    refused = sum(value for name, value in done.stats.items() if "train/refused" in name)
    assert done.mss("train/seen") == done.mss("train/learned") + refused == N_HOSTILE
    assert done.mss("train/refused/error") == done.mss("model/failed") == 0


@pytest.mark.parametrize("name", ["encoded", "encoded, by a rule"])
def test_pages_are_read_and_links_followed_whatever_encoding_is_declared(
    crawls: dict[str, Crawl], name: str, site: Site
) -> None:
    done = crawls[name]

    pages = done.by_url()
    assert set(pages) == set(site.urls("encoded", range(len(ENCODED))))
    (text,) = {fields["text"] for fields in pages.values()}
    assert "Die Fähre fährt wieder" in text
    (kind,) = {fields["extractor"].partition(":")[0] for fields in pages.values()}
    assert kind == ("wrapper" if "rule" in name else "mss")
    assert done.mss("encoding/mended/utf-8") == 5
    assert done.mss("encoding/mended/cp1252") == 1


def test_the_encoding_of_a_body_that_is_too_large_is_not_detected(crawls: dict[str, Crawl]) -> None:
    done = crawls["encoded and large"]

    # The names that are no encodings of pages are replaced all the same.
    assert done.mss("encoding/mended/utf-8") == 4
    assert not done.mss("encoding/mended/cp1252")


@pytest.mark.parametrize("action", ["extract", "explain", "suggest"])
def test_commands_read_a_page_whatever_encoding_is_declared(
    site: Site, tmp_path: Path, action: str
) -> None:
    urls = site.urls("encoded", range(1, 2) if action == "explain" else range(len(ENCODED)))

    done = run_scrapy(tmp_path, "mss", action, *urls, "--bundled")

    assert (done.code, "Traceback" in done.err) == (0, False), done.err
    if action == "extract":
        assert len({row["text"] for row in done.rows()}) == 1
