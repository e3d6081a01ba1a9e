"""Detects that a site gives nothing, or nothing new, or has changed since this morning.

Declines of shares and medians are found by days (`alarms`). An incident is found by the clock:

- *unreachable*: the site has not answered for some hours, or never;
- *empty*: it answers, but no article was ever found on it;
- *silent*: it used to have articles, and that none is new is improbable by its expected rate;
- any measure of `alarms` that a crawl of today or yesterday has found lower than before the crawl.

The first two are of sites that `NewsSpider` is given or `MSS_SITES` names: of what else a spider
meets, nobody expects anything.

The expected rate is the number of new articles in each hour. It is the product of three rates: that
of the weekday times that of the hour of the day, divided by the mean, so that nights and
weekends prove nothing. A weekday on which the site was never crawled is expected to bring nothing.

Only time that a crawl covers counts. A crawl covers the time since the one before, as its lists
name what was published meanwhile; what it finds is spread evenly over that time. The first crawl
covers nothing: what it finds may be of any age.

The number of articles in a time varies by chance (Poisson), the expected number by what it was
estimated from, and from day to day (gamma). The probability that none comes while m are expected is
then (1 + m / k) ** (-k / b). 1 / k is the relative variance of m: 1 / n for the n articles that it
was estimated from, and that of days. The overdispersion b is 1 if articles come independently of
one another; it is estimated from the longest silence of the past.

To measure false alarms and detections: ``python -m research.studies.alarms``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from itertools import pairwise
from math import log
from statistics import median
from typing import Final, NamedTuple

from scrapy_mss.quality.alarms import Figure, alarms
from scrapy_mss.quality.counts import (
    ALARM,
    ANSWERED,
    ARTICLES,
    FAILED,
    LAYOUT,
    LISTS,
    MEASURES,
    NEW,
    TRIED,
    Counts,
)

DAY: Final = 24  # hours
COVERED: Final = 7 * DAY  # at most, by one crawl: `NewsSpider` takes what is a week old
# The first crawls of a site may download a backlog. Beyond three times the median day, no more is
# counted of a day.
MAX_OF_MEDIAN: Final = 3.0
DAY_TO_DAY: Final = 0.2  # standard deviation of a day, as a part of what is usual on that weekday
UNREACHABLE, EMPTY, SILENT = "unreachable", "empty", "silent"
IMPROBABLE: Final = 0.001  # at half of it, ten articles a day are missed after thirty hours
# Whoever crawls every hour looks at each site two thousand times a quarter; so much is by chance
# what is improbable within hours.
SILENT_HOURS: Final = 24
UNANSWERED_HOURS: Final = 6  # longer than maintenance takes
SHOWN_DAYS: Final = 2  # today and yesterday: a crawl before midnight is read in the morning
_NO_REASON: Final = "no response, or redirects without end"


@dataclass(frozen=True, slots=True)
class Activity:
    """Requests and articles of a site, by hours since 1970."""

    answered: Mapping[int, int]  # responses
    failed: Mapping[int, str]  # why most requests of the hour failed
    new: Mapping[int, int]  # articles
    tried: bool  # whether lists of it were requested, as of a site that `NewsSpider` is given
    lists: int  # that were read on the latest day on which there was any attempt
    articles: int
    lowered: Mapping[str, Sequence[int]]  # days on which crawls found a measure lower than before

    @classmethod
    def of(cls, days: Mapping[int, Counts]) -> Activity:
        """The activity in the counts of its *days*."""
        hours: dict[str, dict[int, int]] = {ANSWERED: {}, NEW: {}}
        reasons: dict[int, tuple[int, str]] = {}  # the most frequent one
        lowered: dict[str, list[int]] = {}
        lists = 0
        for day, counts in sorted(days.items()):
            for name, count in counts.items():
                prefix = name[: name.find("/") + 1]
                hour, _, reason = name.removeprefix(prefix).partition(" ")
                if prefix == ALARM:
                    lowered.setdefault(hour, []).append(day)
                elif prefix == FAILED:
                    at = DAY * day + int(hour)
                    reasons[at] = max(reasons.get(at, (0, "")), (count, reason))
                elif prefix in hours and count > 0:
                    hours[prefix][DAY * day + int(hour)] = count
                if name == TRIED or prefix in (ANSWERED, FAILED):
                    lists = counts[LISTS]
        return cls(
            hours[ANSWERED],
            {hour: reason for hour, (_, reason) in reasons.items()},
            hours[NEW],
            any(counts[TRIED] for counts in days.values()),
            lists,
            sum(counts[ARTICLES] for counts in days.values()),
            lowered,
        )

    @property
    def last_answer(self) -> int | None:
        """The hour of the last response that was no error."""
        return max(self.answered, default=None)

    @property
    def last_failure(self) -> int | None:
        """The hour of the last request that failed."""
        return max(self.failed, default=None)

    @property
    def attempts(self) -> list[int]:
        """The hours in which a crawl tried the site."""
        return sorted({*self.answered, *self.failed, *self.new})


@dataclass(frozen=True, slots=True)
class Incident:
    """A problem of a site *since* an hour since 1970, described by a short *text*."""

    site: str
    measure: str
    since: int
    text: str

    def __str__(self) -> str:
        """One line for a log."""
        return f"{self.site}: {self.text} (since {hour_text(self.since)} UTC)"


def incidents(
    site: str, activity: Activity, now: int, *, is_listed: bool = False
) -> Iterator[Incident]:
    """The problems of *site* in the hour *now*.

    The *activity* of a site without articles is that of all time, of others that of some weeks.
    """
    is_listed = is_listed or activity.tried
    if is_listed and (activity.attempts or activity.tried):
        no_answer = _unreachable(site, activity, now)
        if no_answer is not None:
            yield no_answer
        elif not activity.articles and not activity.new:
            first = min(activity.answered, default=now)
            yield Incident(site, EMPTY, first, f"no article yet; lists read: {activity.lists:,}")
    yield from _silent(site, activity)
    yield from _of_crawls(site, activity, now // DAY)


def _unreachable(site: str, activity: Activity, now: int) -> Incident | None:
    last = activity.last_answer
    reason = activity.failed.get(activity.last_failure or -1, _NO_REASON)
    if last is None:
        first = min(activity.failed, default=now)
        return Incident(site, UNREACHABLE, first, f"never answered: {reason}")
    since = [hour for hour in activity.failed if hour > last]
    if len(since) <= 1 or max(since) - last < UNANSWERED_HOURS:
        return None
    return Incident(site, UNREACHABLE, last, f"no answer: {reason}")


def _silent(site: str, activity: Activity) -> Iterator[Incident]:
    if not activity.new or activity.attempts[-1] - max(activity.new) < SILENT_HOURS:
        return
    found = silence(activity)
    if found is not None and found.probability < IMPROBABLE:
        text = f"no new article for {_duration(found.hours)}, {found.expected:.0f} expected"
        yield Incident(site, SILENT, found.since, text)


def _of_crawls(site: str, activity: Activity, today: int) -> Iterator[Incident]:
    """The measures that crawls have found to be lower than before them."""
    for measure, days in activity.lowered.items():
        found = [day for day in days if today - SHOWN_DAYS < day <= today]
        if found and measure in MEASURES:
            text = f"fewer {MEASURES[measure].summary}"
            if measure == LAYOUT:
                text = "the layout has changed"
            yield Incident(site, measure, DAY * found[0], text)


def within_crawl(
    site: str, days: Mapping[int, Counts], crawl: Mapping[int, Counts], today: int
) -> list[Figure]:
    """The measures that are lower in a *crawl* than on its *days* without it.

    By days, a redesign is not seen before the next day: today also has the pages before it.
    """
    before = {day: Counter(counts) for day, counts in days.items()}
    own: Counts = Counter()
    for day, counts in crawl.items():
        own.update(counts)
        if day in before:
            before[day].subtract(counts)
            before[day] = +before[day]
    found = alarms(site, {**before, today + 1: own}, today + 1)
    return [replace(figure, since=today) for figure in found if figure.since > today]


def alarms_of_crawl(figures: Iterable[Figure]) -> Counts:
    """The counts of a crawl in which these measures have declined."""
    return Counter({f"{ALARM}{figure.measure}": 1 for figure in figures})


def hour_text(hour: int) -> str:
    """An *hour* since 1970 as text, in UTC."""
    moment = datetime.fromtimestamp(3600 * hour, timezone.utc)
    return f"{moment.day} {moment:%b %H:00}"


def _duration(hours: int) -> str:
    return f"{hours} hours" if hours < 2 * DAY else f"{hours // DAY} days"


# --- the expected rate of a site ------------------------------------------------------------------


class Silence(NamedTuple):
    """The time since the last new article, as far as crawls cover it."""

    since: int  # the hour of that article
    hours: int
    expected: float  # articles
    probability: float  # that there is none of them


def silence(activity: Activity) -> Silence | None:
    """How improbable it is that nothing new has come for so long; None if nothing is known."""
    covered = _covered(activity)
    last = max(activity.new, default=None)
    silent = [hour for hour in covered if last is None or hour > last]
    if last is None or not silent:
        return None
    rate = _ExpectedRate.of({hour: each for hour, each in covered.items() if hour <= last})
    by_weekday = dict.fromkeys(range(7), 0.0)
    for hour in silent:
        by_weekday[_weekday(hour)] += rate.at(hour)
    expected = sum(by_weekday.values())
    if not expected:
        return Silence(last, len(silent), 0.0, 1.0)
    # The variance of a sum of estimates, of which each has that of its weekday's count.
    variance = sum(each**2 / rate.of_weekday[day] for day, each in by_weekday.items() if each)
    evidence = 1 / (variance / expected**2 + DAY_TO_DAY**2)
    probability = (1 + expected / evidence) ** (-evidence / rate.overdispersion())
    return Silence(last, len(silent), expected, probability)


def _covered(activity: Activity) -> dict[int, float]:
    """The hours that crawls cover, each with its share of the new articles that they found."""
    found: dict[int, float] = {}
    for before, at in pairwise(activity.attempts):
        first = max(before, at - COVERED) + 1
        share = activity.new.get(at, 0) / (at - first + 1)
        found.update(dict.fromkeys(range(first, at + 1), share))
    return found


@dataclass(frozen=True, slots=True)
class _ExpectedRate:
    """How many articles came in the *past*, by weekday and by hour of the day."""

    past: Mapping[int, float]
    of_weekday: Mapping[int, float]
    of_clock: Mapping[int, float]
    weekday_hours: Mapping[int, int]
    clock_hours: Mapping[int, int]

    @classmethod
    def of(cls, past: Mapping[int, float]) -> _ExpectedRate:
        past = _without_backlog(past)
        of_weekday, of_clock = dict.fromkeys(range(7), 0.0), dict.fromkeys(range(DAY), 0.0)
        for hour, articles in past.items():
            of_weekday[_weekday(hour)] += articles
            of_clock[hour % DAY] += articles
        weekday_hours, clock_hours = Counter(map(_weekday, past)), Counter(h % DAY for h in past)
        return cls(past, of_weekday, of_clock, weekday_hours, clock_hours)

    def at(self, hour: int) -> float:
        """How many articles are expected in an *hour*."""
        day, clock = _weekday(hour), hour % DAY
        total = sum(self.of_weekday.values())
        if not total or not self.weekday_hours[day] or not self.clock_hours[clock]:
            return 0.0
        of_day = self.of_weekday[day] / self.weekday_hours[day]
        return of_day * self.of_clock[clock] / self.clock_hours[clock] * len(self.past) / total

    def overdispersion(self) -> float:
        """By how much the longest silence of the past was longer than by chance.

        Of n independent ones, counted in expected articles, the longest is log n on the average.
        """
        longest, expected, n_silences = 0.0, 0.0, 0
        for hour in sorted(self.past):
            if self.past[hour]:
                longest, expected, n_silences = max(longest, expected), 0.0, n_silences + 1
            else:
                expected += self.at(hour)
        return max(1.0, longest / log(n_silences + 2))


def _without_backlog(past: Mapping[int, float]) -> dict[int, float]:
    """The *past*, with no day that has many times what is usual."""
    of_day: dict[int, float] = {}
    for hour, articles in past.items():
        of_day[hour // DAY] = of_day.get(hour // DAY, 0.0) + articles
    most = MAX_OF_MEDIAN * median(filter(None, of_day.values())) if any(of_day.values()) else 0.0
    share = {day: min(1.0, most / each) if each else 1.0 for day, each in of_day.items()}
    return {hour: articles * share[hour // DAY] for hour, articles in past.items()}


def _weekday(hour: int) -> int:
    return hour // DAY % 7
