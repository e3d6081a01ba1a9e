"""Quality by site and day in real crawls, and what tells of a decline: log, stats and more."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from scrapy_mss.crawl.site_quality import this_hour
from scrapy_mss.quality.counts import ARTICLES, LABELLED, PAGES, WRAPPED, Counts
from scrapy_mss.quality.incidents import DAY
from scrapy_mss.quality.store import QualityStore
from scrapy_mss.storage.sqlite_store import FILE, SQLiteStore
from tests.plugin.crawling import ADDON, Crawl, Job, crawl, environment
from tests.plugin.site import RULES, Site

HOST = "127.0.0.1"
N = 24  # pages of a crawl, which are enough to be evaluated
SPIDERMON: dict[str, Any] = {
    "SPIDERMON_ENABLED": True,
    "EXTENSIONS": {"spidermon.contrib.scrapy.extensions.Spidermon": 500},
    "SPIDERMON_SPIDER_CLOSE_MONITORS": ["scrapy_mss.monitors.QualitySuite"],
}
# As pages of this site were, but for the image, which they have never had.
USUAL = Counter(dict.fromkeys((PAGES, ARTICLES, "title", "authors", "published"), 200))


def done(folder: Path, site: Site, kind: str = "plain", **settings: Any) -> Crawl:
    urls = [site.url(f"/{kind}/{number}") for number in range(N)]
    values = {**ADDON, "MSS_STORE": str(folder / "store"), **settings}
    (found,) = crawl(folder, [Job("silent", {"urls": urls}, values)])
    assert not found.error, found.error
    return found


def stored(folder: Path) -> Counts:
    """What was counted of the site on all days."""
    with closing(SQLiteStore(folder / "store")) as store:
        found = QualityStore(store).sites(0)
    assert found.keys() == {HOST}
    return sum(found[HOST].values(), Counter())


def put(folder: Path, counts: Counts, *, days_ago: int = 1) -> None:
    with closing(SQLiteStore(folder / "store")) as store:
        QualityStore(store).add({(HOST, this_hour() // DAY - days_ago): counts})


@pytest.mark.parametrize("workers", [0, 1])
def test_pages_are_counted_once_with_what_their_rule_selects(
    tmp_path: Path, site: Site, workers: int
) -> None:
    done(tmp_path, site, "wrapped", MSS_WRAPPERS=RULES, MSS_WORKERS=workers)
    found = stored(tmp_path)

    for name in (PAGES, ARTICLES, WRAPPED, LABELLED, "title", "authors", "published"):
        assert found[name] == N, name
    assert sum(count for name, count in found.items() if name.startswith("place/")) == N
    selectors = {name: count for name, count in found.items() if name.startswith("selector/")}
    assert selectors
    assert set(selectors.values()) == {N}


def test_a_rule_that_matches_nothing_is_counted_as_such(tmp_path: Path, site: Site) -> None:
    rules = [{"site": HOST, "body": "article.gone", "title": "h1"}]
    done(tmp_path, site, MSS_WRAPPERS=rules, MSS_WORKERS=0)
    found = stored(tmp_path)

    assert (found[WRAPPED], found[LABELLED], found[PAGES]) == (N, 0, N)


def test_crawls_add_up_and_it_can_be_turned_off(tmp_path: Path, site: Site) -> None:
    for kept in ("counts", "off", "counts"):
        done(tmp_path, site, MSS_REPORT=kept, MSS_WORKERS=0)

    assert stored(tmp_path)[PAGES] == 2 * N


def test_a_site_that_is_as_it_was_is_no_alarm(tmp_path: Path, site: Site) -> None:
    put(tmp_path, USUAL)
    found = done(tmp_path, site, MSS_WORKERS=0, **SPIDERMON)

    assert found.mss("quality/alarms") == 0
    assert not found.logged("WARNING")
    assert any("OK" in line for line in found.logged("INFO") if "[Spidermon]" in line)
    assert not [line for line in found.logged("ERROR") if "Spidermon" in line]


def test_a_fall_is_told_by_log_stats_and_spidermon(tmp_path: Path, site: Site) -> None:
    put(tmp_path, USUAL | Counter({"main_image": 198}))
    found = done(tmp_path, site, MSS_WORKERS=0, **SPIDERMON)

    (line,) = (line for line in found.logged("WARNING") if "quality" in line)
    assert line == (
        f"scrapy-mss: quality has declined on {HOST}: articles with an image: 99% to 0% (of {N})"
    )
    assert found.mss("quality/alarms") == 1
    assert found.mss(f"quality/alarm/{HOST}/main_image") == 1
    failed = [line for line in found.logged("ERROR") if "[Spidermon]" in line]
    assert any(f"alarms: {HOST}/main_image" in line for line in failed), failed


def test_a_store_that_fails_in_the_crawl_is_told_by_spidermon(tmp_path: Path, site: Site) -> None:
    urls = [site.url(f"/plain/{number}") for number in range(N)]
    settings = {**ADDON, "MSS_STORE": str(tmp_path / "store"), "MSS_WORKERS": 0, **SPIDERMON}
    disturbed = {"urls": urls, "at": 1, "disturbance": "block"}
    (found,) = crawl(tmp_path, [Job("disturbing", disturbed, settings)])

    assert len(found.items) == N
    assert found.mss("quality/failed") >= 1
    assert sum("quality counts cannot be stored" in line for line in found.logged("WARNING")) == 1
    failed = [line for line in found.logged("ERROR") if "[Spidermon]" in line]
    assert any("the store of the quality of sites failed" in line for line in failed)


# The command


def report(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scrapy", "mss", "report", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )


def test_the_report_says_by_its_exit_code_whether_something_has_declined(tmp_path: Path) -> None:
    put(tmp_path, USUAL)
    put(tmp_path, USUAL, days_ago=0)
    good = report(tmp_path, "-s", "store")
    put(tmp_path, Counter({PAGES: 9_000, ARTICLES: 9_000}), days_ago=0)
    declined = report(tmp_path, "-s", "store", "-o", "page.html")

    page = tmp_path / "mss-report.html"
    assert (good.returncode, good.stderr) == (0, "")
    assert good.stdout == f"0 of 1 sites have alarms; the report is {page}\n"
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert declined.returncode == 1
    assert f"{HOST}: articles with a title: 100% to 2% (of 9,200)" in declined.stdout
    assert HOST in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_the_report_is_printed_as_json(tmp_path: Path) -> None:
    put(tmp_path, USUAL)
    done = report(tmp_path, "--json", "-s", "store")

    assert done.returncode == 0
    assert json.loads(done.stdout)["sites"][0]["articles"] == 200
    assert not (tmp_path / "mss-report.html").exists()


def test_the_report_says_what_it_lacks(tmp_path: Path) -> None:
    nothing = report(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / FILE).write_bytes(b"something else" * 99)
    other = report(tmp_path, "-s", "other")

    assert (nothing.returncode, other.returncode) == (2, 2)
    assert f"{FILE}: nothing was counted in the last weeks; crawl first" in nothing.stderr
    assert f"{FILE}: file is not a database. Remove the file" in other.stderr
    assert nothing.stderr.count("\n") == other.stderr.count("\n") == 1
