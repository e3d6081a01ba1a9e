"""What is reported to have declined, and what is not."""

from __future__ import annotations

import random
from typing import Any

import pytest

from scrapy_mss.quality.alarms import (
    RECENT,
    SIZES,
    WINDOW,
    Figure,
    Proportion,
    alarms,
    figures,
    has_declined,
)
from scrapy_mss.quality.counts import LAYOUT
from scrapy_mss.quality.store import Days
from tests.quality.made_up import TODAY, MadeUpSite, broken, days

SITE = MadeUpSite(rule=0.95)


def declined(of: Days, today: int = TODAY) -> set[str]:
    return {alarm.measure for alarm in alarms("a.example", of, today)}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, set()),
        ({"words": 450.0}, set()),
        ({"places": (2, 1)}, set()),
        ({"places": (7, 8)}, {LAYOUT}),
        ({"words": 60.0}, {"words"}),
        ({"confidence": 0.5}, {"confidence"}),
        ({"rule": 0.001}, {"rule"}),
        ({"articles": 0.1}, {"articles", "rule"}),
        ({"walls": 0.05}, set()),
        ({"walls": 0.6}, {"open", "articles"}),
        ({"fields": 0.1}, {"title", "authors", "published", "main_image"}),
    ],
)
def test_what_has_declined_is_reported_and_nothing_else(
    change: dict[str, Any], expected: set[str]
) -> None:
    assert declined(broken(SITE, TODAY, **change)) == expected


def test_a_site_with_three_articles_a_day_is_evaluated_by_the_week() -> None:
    small = MadeUpSite(pages=4, fields=1.0)

    assert declined(broken(small, TODAY - 6, fields=0.0)) >= {"title", "authors"}
    assert declined(broken(small, TODAY, fields=0.0)) == set()


def test_one_earlier_day_is_a_past_and_none_is_not() -> None:
    first, second = days(SITE, [TODAY - 1]), days(MadeUpSite(fields=0.0, rule=0.95), [TODAY])

    assert "title" in declined(first | second)
    assert declined(second) == set()
    assert figures("a.example", second, TODAY) == {}


def test_a_decline_is_reported_until_it_is_usual() -> None:
    found = [
        bool(declined(broken(SITE, TODAY - days_ago, fields=0.2)))
        for days_ago in (0, 5, 10, 20, 26)
    ]

    assert found == [True, True, True, False, False]


def test_what_was_broken_for_a_few_days_does_not_hide_the_next_fall() -> None:
    of = broken(SITE, TODAY, fields=0.1)
    of |= days(MadeUpSite(fields=0.0, rule=0.95), range(TODAY - 12, TODAY - 9))

    assert "title" in declined(of)


def test_what_is_old_or_later_is_not_evaluated() -> None:
    of = broken(SITE, TODAY, fields=0.1)

    assert declined(of, TODAY + RECENT - 1) != set()
    assert declined(of, TODAY + RECENT) == set()
    assert declined(of, TODAY - 1) == set()
    assert declined(of, TODAY + WINDOW) == set()


def test_days_that_differ_widely_must_fall_further() -> None:
    """The same latest day falls below even days, and not below such as go up and down."""
    now, even = Proportion(12, 60), [Proportion(48, 60)] * 8
    uneven = [Proportion(n, 60) for n in (14, 58, 48, 20, 55, 48, 16, 57)]

    assert has_declined(now, even)
    assert not has_declined(now, uneven)


def test_the_lower_of_two_shares_has_declined_whenever_the_higher_has() -> None:
    chance = random.Random(3)
    for _ in range(500):
        before = [Proportion(chance.randint(0, 50), 50) for _ in range(chance.randint(1, 9))]
        of = chance.randint(SIZES[0], 300)
        found = [has_declined(Proportion(counted, of), before) for counted in range(of + 1)]

        assert found == sorted(found, reverse=True)
        assert not found[-1]


def test_an_alarm_says_what_and_from_what_to_what() -> None:
    found = [
        str(Figure("a.example", "authors", 0.981, 0.12, 40, TODAY)),
        str(Figure("a.example", "words", 1612.2, 48.0, 40, TODAY)),
    ]

    assert found == [
        "a.example: articles with an author: 98% to 12% (of 40)",
        "a.example: median words of an article: 1,612 to 48 (of 40)",
    ]
