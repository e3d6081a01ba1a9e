"""What is reported to have declined, or to be silent, by what is expected, and what is not."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from scrapy_mss.quality.alarms import (
    COVERED,
    DAY,
    EMPTY,
    RECENT,
    SILENT,
    SIZES,
    UNREACHABLE,
    WINDOW,
    Activity,
    Figure,
    Proportion,
    alarms,
    figures,
    has_declined,
    incidents,
    silence,
    within_crawl,
)
from scrapy_mss.quality.counts import ALARM, ARTICLES, LAYOUT, TRIED, of_answer, of_failure, of_new
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
    found = str(Figure("a.example", "words", 1612.2, 48.0, 40, TODAY))

    assert found == "a.example: median words of an article: 1,612 to 48 (of 40)"


# Sites that give nothing, or nothing new

NOW = DAY * TODAY  # a Wednesday, midnight
WEEKS = 28 * DAY


def history(new: dict[int, int], attempts: range) -> Days:
    """What crawls in the hours of *attempts* count, of which some find so many *new* articles."""
    found: Days = {}
    for hour in attempts:
        counts = found.setdefault(hour // DAY, Counter({TRIED: 1}))
        counts.update(of_answer(hour % DAY))
        for _ in range(new.get(hour, 0)):
            counts.update({ARTICLES: 1, **of_new(hour % DAY)})
    return found


def measures(of: Days, now: int) -> list[str]:
    return [each.measure for each in incidents("a.example", Activity.of(of), now)]


def ten_a_day(hour: int) -> int:
    """Ten articles a day, in the hours of work."""
    return int(8 <= hour % DAY < 18)


def only_weekdays(hour: int) -> int:
    return ten_a_day(hour) * int((hour // DAY + 4) % 7 < 5)


def silent_after(is_published: object, hours: int, every: int = 1, weeks: float = 4) -> list[str]:
    """The incidents of a site so many *hours* after its last article, after some *weeks*."""
    first, last = NOW - int(weeks * 7 * DAY), NOW
    while not is_published(last - 1):  # type: ignore[operator]
        last -= 1
    published = {hour: is_published(hour) for hour in range(first, last)}  # type: ignore[operator]
    attempts = range(last - 1 - (last - 1 - first) // every * every, last + hours, every)
    found, before = {}, attempts.start - every
    for at in attempts:
        found[at] = sum(published.get(hour, 0) for hour in range(before + 1, at + 1))
        before = at
    return measures(history(found, attempts), attempts[-1])


@pytest.mark.parametrize("every", [1, 6, 24])
@pytest.mark.parametrize("weeks", [2, 4])
def test_ten_articles_a_day_are_missed_within_a_day(every: int, weeks: float) -> None:
    assert silent_after(ten_a_day, DAY + 1, every, weeks) == [SILENT]
    assert silent_after(ten_a_day, DAY - 1, every, weeks) == []


def test_nights_and_weekends_prove_nothing() -> None:
    """The last article is of a Friday at five; on Monday, the site is late by the evening."""
    friday = NOW
    while (friday // DAY + 4) % 7 != 5:
        friday += DAY
    new = {hour: only_weekdays(hour) for hour in range(friday - WEEKS, friday)}

    found = [
        hour
        for hour in range(friday, friday + 4 * DAY)
        if measures(history(new, range(friday - WEEKS, hour + 1)), hour)
    ]
    assert found
    assert friday + 2 * DAY + 15 < found[0] <= friday + 3 * DAY


def test_time_that_no_crawl_covers_proves_nothing() -> None:
    new = {hour: ten_a_day(hour) for hour in range(NOW - WEEKS, NOW)}
    of = history(new, range(NOW - WEEKS, NOW))

    assert measures(of, NOW + 20 * DAY) == []
    found = silence(Activity.of({**of, **history({}, range(NOW + WEEKS, NOW + WEEKS + 1))}))
    assert found is not None
    assert found.hours == 6 + COVERED  # until the crawls stopped, and before the last one


def test_a_backlog_does_not_raise_the_expected_rate() -> None:
    """A site of an article a day, of which the first crawls download two hundred old ones."""
    first = NOW - 9 * DAY
    backlog = {first + hour: 40 for hour in range(10, 15)}
    new = backlog | {first + DAY * day + 9: 1 for day in range(9)}

    for hours in range(WEEKS // 8):
        now = first + 8 * DAY + hours
        assert measures(history(new, range(first, now)), now) == [], hours


def test_a_site_that_is_often_silent_for_long_must_be_silent_for_longer() -> None:
    """Seventy articles a week, all on one of its days, and that is not always the same."""
    chance, new = random.Random(2), {}
    for week in range(4):
        new[NOW - WEEKS + (7 * week + chance.randrange(7)) * DAY + 9] = 70
    now = max(new) + 5 * DAY

    assert measures(history(new, range(NOW - WEEKS, now)), now) == []


def test_what_never_worked_is_reported_at_once_if_it_is_of_the_list() -> None:
    failed = of_failure(7, "HTTP 500")
    answered = Counter({**of_answer(7), TRIED: 1, "lists": 2})

    assert measures({TODAY: failed + Counter({TRIED: 1})}, NOW) == [UNREACHABLE]
    assert measures({TODAY: answered}, NOW) == [EMPTY]
    assert measures({TODAY: failed}, NOW) == measures({TODAY: of_answer(7)}, NOW) == []
    (named,) = incidents("a.example", Activity.of({TODAY: failed}), NOW, is_listed=True)
    assert str(named) == "a.example: never answered: HTTP 500 (since 4 Oct 07:00 UTC)"
    assert not [*incidents("a.example", Activity.of({}), NOW, is_listed=True)]


@pytest.mark.parametrize(
    ("failed", "expected"), [([7], []), ([8, 12], []), ([14], []), ([9, 13], [UNREACHABLE])]
)
def test_a_site_has_to_fail_twice_and_for_some_hours(
    failed: list[int], expected: list[str]
) -> None:
    counts = Counter({TRIED: 1, ARTICLES: 1, **of_answer(7)})
    for hour in failed:
        counts.update(of_failure(hour, "timeout"))

    assert measures({TODAY: counts}, NOW + DAY) == expected


def test_a_crawl_is_compared_with_what_was_before_it() -> None:
    site, other = MadeUpSite(rule=0.95), MadeUpSite(rule=0.95, places=(7,), fields=0.1)
    before, crawl = days(site, [TODAY]), days(other, [TODAY])
    of = {TODAY: before[TODAY] + crawl[TODAY]}

    found = {figure.measure: figure.since for figure in within_crawl("", of, crawl, TODAY)}
    assert found.keys() >= {"layout", "title", "authors"}
    assert set(found.values()) == {TODAY}
    same = {TODAY: before[TODAY] + before[TODAY]}
    assert within_crawl("", same, before, TODAY) == []


def test_what_a_crawl_has_found_is_reported_today_and_tomorrow() -> None:
    of = {TODAY: Counter({f"{ALARM}title": 2})}

    assert [measures(of, NOW + days * DAY) for days in range(3)] == [["title"], ["title"], []]
