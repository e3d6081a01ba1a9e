"""The study of alarms: made-up days, rules from real pages, crawls of those."""

from __future__ import annotations

from collections import Counter
from random import Random

from research.studies.alarms import Read, crawled, episodes, rule_of
from scrapy_mss.quality.alarms import WINDOW, alarms
from scrapy_mss.quality.counts import ARTICLES, LABELLED, LAYOUT, PAGES, WRAPPED
from scrapy_mss.sites.memory import SiteMemory

CHANCE = Random(1)  # noqa: S311 - pages, not keys


def page_in(*names: str, place: str = "place/1") -> Read:
    counts = Counter({PAGES: 1, ARTICLES: 1, place: 1})
    return Read(counts, SiteMemory(), frozenset(names[:1]), frozenset(names))


def test_an_alarm_that_lasts_is_one_episode() -> None:
    good, bad = Counter({PAGES: 50, ARTICLES: 50}), Counter({PAGES: 50, ARTICLES: 5})
    days = {day: bad if day in (20, 21, 22, 25) else good for day in range(30)}

    assert episodes(days, 1, 29) == 2


def test_a_rule_is_the_container_that_holds_most_articles() -> None:
    pages = [page_in("div.story", "p.x")] * 3 + [page_in("p.x", "div.story")] * 2

    assert rule_of(pages) == "div.story"
    assert rule_of([*pages, *[page_in("b.y")] * 4]) == ""
    assert rule_of([]) == ""


def test_a_redesign_is_told_by_rule_and_layout_and_the_same_pages_are_not() -> None:
    old, new = [page_in("div.story")] * 5, [page_in("main.text", place="place/2")] * 5

    days = crawled(old, new, CHANCE)
    told = {alarm.measure for alarm in alarms("", days, WINDOW)}

    assert (days[0][WRAPPED], days[0][LABELLED]) == (10, 10)
    assert days[WINDOW][LABELLED] == 0
    assert told == {"rule", LAYOUT}
    assert alarms("", crawled(old, old, CHANCE), WINDOW) == []
