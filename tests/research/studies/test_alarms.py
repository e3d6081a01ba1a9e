"""The study of alarms: made-up days, rules from real pages, crawls of those."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from numpy.random import default_rng

from research.datasets.pages import LabelledPage
from research.studies.alarms import (
    BREAKS,
    Read,
    Simulated,
    crawled,
    episodes,
    read,
    rule_of,
    told_after,
    watched,
)
from scrapy_mss.article import ModelState
from scrapy_mss.models.bundled import bundled_model
from scrapy_mss.quality.alarms import LAYOUT, WINDOW, alarms
from scrapy_mss.quality.counts import ARTICLES, LABELLED, PAGES, WRAPPED
from scrapy_mss.sites.memory import SiteMemory
from tests.helpers.memories import page_memory
from tests.plugin.site import plain, story

CHANCE = Random(1)  # noqa: S311 - pages, not keys


def page_in(*names: str, place: str = "place/1") -> Read:
    counts = Counter({PAGES: 1, ARTICLES: 1, place: 1})
    return Read(counts, SiteMemory(), frozenset(names[:1]), frozenset(names))


def test_a_simulated_day_has_the_shares_of_its_site_on_the_average() -> None:
    site = Simulated(400.0, 0.9, {"title": 0.8}, 300.0, 0.9, 0.5, 0.01)
    days = [site.day(number, default_rng(number)) for number in range(0, 350, 7)]
    total = sum(days, Counter())

    assert total[ARTICLES] / total[PAGES] == pytest.approx(0.9, abs=0.03)
    assert total["title"] / total[ARTICLES] == pytest.approx(0.8, abs=0.03)
    assert total[LABELLED] / total[ARTICLES] == pytest.approx(0.5, abs=0.03)


def test_an_alarm_that_lasts_is_one_episode() -> None:
    good, bad = Counter({PAGES: 50, ARTICLES: 50}), Counter({PAGES: 50, ARTICLES: 5})
    days = {day: bad if day in (20, 21, 22, 25) else good for day in range(30)}

    assert episodes(days, 1, 29) == 2


def test_what_breaks_wholly_is_told_on_the_first_day_of_a_large_site() -> None:
    assert [told_after(each, 200.0, 0) for each in BREAKS if not each.share] == [1, 1]


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


def taught(markup: str) -> Read:
    return Read(Counter(), page_memory(markup), frozenset(), frozenset())


def test_the_memory_notices_a_redesign_and_nothing_on_a_stable_site() -> None:
    old, new = taught("<div class=story><p>One</p></div>"), taught("<main><p>Two</p></main>")
    noticed, stable = watched(
        {"a.example": {"1": [old] * 10, "2": [new] * 20}, "b.example": {"1": [old], "2": [new]}},
        {"c.example": {"": [old] * 20}, "d.example": {"": [old] * 19}},
    ).splitlines()[2:]

    assert noticed.startswith("| a redesign | 1 of 1 | ")
    assert stable == "| a stable site | 0 of 10 | |"


def test_a_page_has_the_containers_of_its_article() -> None:
    text = "\n\n".join(story("plain", 1).paragraphs)
    found = read(LabelledPage("1", "a.example", plain(1), (text,)), ModelState.of(bundled_model()))

    assert found.of_article == {"div#content", "div.text"}
    assert found.all > found.of_article
    assert found.counts[ARTICLES] == 1
    assert found.added.pages == 1
    assert sum(name.startswith("place/") for name in found.counts) == 1
