"""The study of alarms: made-up days, and rules from real pages."""

from __future__ import annotations

from collections import Counter

from research.studies.alarms import Read, episodes, rule_of
from scrapy_mss.quality.counts import ARTICLES, PAGES
from scrapy_mss.sites.memory import SiteMemory


def page_in(*names: str) -> Read:
    counts = Counter({PAGES: 1, ARTICLES: 1})
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
