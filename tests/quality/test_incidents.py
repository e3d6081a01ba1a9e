"""Sites that give nothing, or nothing new: what is improbable by their expected rate, what not."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from scrapy_mss.quality.alarms import (
    COVERED,
    DAY,
    EMPTY,
    SILENT,
    UNREACHABLE,
    Activity,
    incidents,
    silence,
    within_crawl,
)
from scrapy_mss.quality.counts import ALARM, ARTICLES, TRIED, of_answer, of_failure, of_new
from scrapy_mss.quality.store import Days
from tests.quality.made_up import TODAY, MadeUpSite, days

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
    before, crawl = days(site, [TODAY]), days(other, [TODAY], seed=1)
    of = {TODAY: before[TODAY] + crawl[TODAY]}

    found = {figure.measure: figure.since for figure in within_crawl("", of, crawl, TODAY)}
    assert found.keys() >= {"layout", "title", "authors"}
    assert set(found.values()) == {TODAY}
    same = {TODAY: before[TODAY] + before[TODAY]}
    assert within_crawl("", same, before, TODAY) == []


def test_what_a_crawl_has_found_is_reported_today_and_tomorrow() -> None:
    of = {TODAY: Counter({f"{ALARM}title": 2})}

    assert [measures(of, NOW + days * DAY) for days in range(3)] == [["title"], ["title"], []]
