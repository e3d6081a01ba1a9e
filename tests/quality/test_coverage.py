"""What the report says of the addresses that a site announced."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from lxml import html

from scrapy_mss.quality.alarms import DAY, alarms
from scrapy_mss.quality.counts import ANNOUNCED, ARTICLES, ASKED, COVERAGE, FATE, OUT, PAGES, Counts
from scrapy_mss.quality.fates import Coverage
from scrapy_mss.quality.page import page
from scrapy_mss.quality.report import as_json, report, report_of
from scrapy_mss.quality.store import (
    EXAMPLES,
    MAX_KEYS,
    Losses,
    QualityStore,
    adding_losses,
)
from scrapy_mss.storage.sqlite_store import SQLiteStore
from tests.quality.made_up import TODAY

FOUND = {"article/new": 6, "failed/gone": 3, "other/teaser": 1, "dropped/not_due": 9, "not_yet": 2}
SITE = "a.example"


def _counts(found: dict[str, int]) -> Counts:
    return Counter({ANNOUNCED: sum(found.values()), **{f"{FATE}{k}": n for k, n in found.items()}})


def _day(articles: int, lost: int) -> Counts:
    counts = {ASKED: articles + lost, OUT: articles, PAGES: articles, ARTICLES: articles}
    return Counter({**counts, **_counts({"article/new": articles, "failed/server": lost})})


def test_what_is_due_came_out_or_was_lost() -> None:
    found = Coverage.of(_counts(FOUND), Losses())

    assert (found.announced, found.due, found.requested, found.articles) == (21, 12, 10, 6)
    assert [fate.name for fate, _ in found.lost] == ["failed/gone", "not_yet", "other/teaser"]


def test_page_and_json_have_the_causes_with_examples(tmp_path: Path) -> None:
    url = "https://a.example/<script>"
    store = SQLiteStore(tmp_path)
    QualityStore(store).add({(SITE, TODAY): _counts(FOUND)})
    store.write([adding_losses({SITE: Losses({"failed/gone": {url: 1}})}, 1)])
    found = report_of(store, DAY * (TODAY + 1) - 1)
    store.close()

    coverage = json.loads(json.dumps(as_json(found)))["sites"][0]["coverage"]
    assert coverage["fates"] == FOUND
    assert coverage["losses"][0] == {"fate": "failed/gone", "count": 3, "examples": [url]}
    source = page(found)
    tree = html.document_fromstring(source)
    (row,) = tree.xpath("//h2[.='Coverage']/following-sibling::div[1]//tbody/tr")
    assert [cell.text_content() for cell in row][1:5] == ["21", "12", "10", "6"]
    widths = [float(bar.get("width")) for bar in row.xpath(".//*[local-name()='rect']")]
    assert widths == [160.0, pytest.approx(133.3), 80.0]
    assert tree.xpath("//table[@class='losses']//td/div")[0].text == url
    assert "<script" not in source


@pytest.mark.parametrize(("lost", "is_alarm"), [(2, False), (20, True)])
def test_an_alarm_says_that_fewer_come_out(lost: int, is_alarm: bool) -> None:  # noqa: FBT001
    days = {day: _day(40, 2) for day in range(TODAY - 20, TODAY)} | {TODAY: _day(42 - lost, lost)}

    assert [each.measure for each in alarms(SITE, days, TODAY)] == [COVERAGE] * is_alarm
    assert len(report({SITE: days}, DAY * (TODAY + 1) - 1).alarms) == is_alarm


def test_examples_and_keys_of_a_site_are_bounded_and_the_latest_stay(tmp_path: Path) -> None:
    store = SQLiteStore(tmp_path)
    for number in range(2 * MAX_KEYS):
        losses = Losses(keys={number: None})
        losses.add("failed/gone", f"https://a.example/{number}", number)
        store.write([adding_losses({SITE: losses}, number)])
    found = QualityStore(store).losses([SITE, "b.example"])
    store.close()

    latest = range(2 * MAX_KEYS - EXAMPLES, 2 * MAX_KEYS)
    assert found.keys() == {SITE}
    assert found[SITE].examples == {
        "failed/gone": {f"https://a.example/{number}": number for number in latest}
    }
    assert [*found[SITE].keys] == [*range(MAX_KEYS, 2 * MAX_KEYS)]
