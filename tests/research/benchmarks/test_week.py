"""The made-up week: a short crawl of it, and that its checks notice what is wrong."""

from __future__ import annotations

import subprocess
import sys

import pytest

from research.benchmarks.week_checks import Checks
from research.benchmarks.week_crawls import Crawled
from research.benchmarks.week_pages import answer
from research.benchmarks.week_world import Paper, World

SITE = "bote"


def test_items_that_are_missing_repeated_or_of_no_article_are_noticed() -> None:
    world = World().at(dict.fromkeys(World().papers, 80))
    paper, checks = world.papers[SITE], Checks(world)
    stories = [each for each in paper.listed(0) if each.is_article and paper.gives(each, 0)]
    text = "".join(part.text for part in stories[1].document.parts)

    first = item(paper, stories[1].path, text)
    checks.add(crawled(0, first, first, item(paper, "/impressum", "")))
    checks.add(crawled(1, {**first, "revision": 2, "changed": ["text"]}))
    checks.close()

    found = checks.found[SITE].counts
    assert found["missed"] == len(checks.found[SITE].due) - 1
    assert (found["twice"], found["false"], found["false revision"]) == (1, 1, 1)


def test_a_deleted_article_is_gone() -> None:
    paper = World().at(dict.fromkeys(World().papers, 80)).papers[SITE]
    story = next(each for each in paper.until(0) if 0 < each.deleted < 20)
    hour = int(story.deleted)

    assert answer(paper, story.path, hour - 1, 0).status == 200
    assert answer(paper, story.path, hour, 0).status in (404, 410)


def item(paper: Paper, path: str, text: str) -> dict[str, object]:
    url = f"{paper.url}{path[1:]}"
    return {"url": url, "revision": 1, "changed": [], "story": "1", "text": text}


def crawled(hour: int, *items: dict[str, object]) -> Crawled:
    return Crawled(
        hour=hour, seconds=0.0, items=list(items), alarms=[], asked=[], memory=0, stored=0, stats={}
    )


@pytest.mark.slow("whole crawls")
@pytest.mark.skipif(sys.platform != "linux", reason="the sites have addresses of its loopback")
def test_some_hours_of_some_sites_miss_and_repeat_nothing() -> None:
    names = ["bote", "parish", "diario", "ledger"]
    command = [sys.executable, "-m", "research.benchmarks.week", "--hours", "3"]

    done = subprocess.run(
        [*command, "--sites", ",".join(names)], capture_output=True, text=True, check=False
    )

    rows = [[cell.strip() for cell in line.split("|")] for line in done.stdout.splitlines()]
    shown = {row[1]: row for row in rows if len(row) > 1 and row[1] in names}
    assert list(shown) == names, done.stdout + done.stderr
    for row in shown.values():
        due, items, missed, late, twice = row[3:8]
        assert (items, missed, late, twice) == (due, "0", "0", "0")
