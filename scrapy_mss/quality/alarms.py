"""Detects that a site's quality declines compared with its own past, or that it gives nothing new.

The days of a site are grouped, from the latest back, until each group has enough pages, ten and
then forty: a site with two hundred articles a day is evaluated daily, one with three every four
days and every two weeks. The latest group is compared with the earlier ones. A share has declined
if it is lower than theirs

- by more than chance: p, the share of n pages, varies by 1 / sqrt(n) on the scale 2 arcsin sqrt(p),
  for any p; days vary by more than that, and the additional variance is estimated from the groups;
- and by enough to matter.

A median is monitored as a share: of values at least as large as the former lower quartile. So is
the layout: as the share of articles in containers that held a tenth of the articles before.
If a site has no articles there is no share. What happens within a day, and that nothing happens, is
an incident, found by the clock:

- *unreachable*: the site has not answered for some hours, or never;
- *empty*: it answers, but no article was ever found on it;
- *silent*: it used to have articles, and that none is new is improbable by its expected rate;
- any measure that a crawl of today or yesterday has found lower than before the crawl.

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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from itertools import pairwise
from math import asin, log, sqrt
from statistics import median
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scrapy_mss.markup.tokens import Bools, Floats
from scrapy_mss.quality.counts import (
    ALARM,
    ANSWERED,
    ARTICLES,
    FAILED,
    LAYOUT,
    LISTS,
    MEASURES,
    NEW,
    PAGES,
    PLACE,
    SCALES,
    SHARES,
    TRIED,
    WRAPPED,
    Counts,
    Scale,
)

# Pages in a group: ten show early what is lost wholly, forty what is lost in part. Fewer
# would tell nothing: of ten, a share of 1 must decline to .4 to be more than chance.
SIZES: Final = (10, 40)
WINDOW: Final = 28  # days that are looked at: four of each day of the week
RECENT: Final = 7  # days; what is older is no news, and was reported then
# Chance beyond four standard deviations is one in thirty thousand; five hundred sites with ten
# shares each have five thousand a day.
DEVIATIONS: Final = 4.0
# How one day differs from the next, on the scale above, before groups tell: .8 is .72 on some days.
DAY_TO_DAY: Final = 0.2
DECLINE: Final = 0.2  # of what it was; a smaller one is no reason to get up
LOWER_QUARTER: Final = 0.25
MAD_TO_DEVIATION: Final = 1.4826  # of a normal distribution
MIN_GROUPS: Final = 4  # whose differences say how days differ
USUAL_PLACE: Final = 0.1  # of the articles before: a container with fewer is of some odd pages

# Of incidents, and of the expected rate of a site.
DAY: Final = 24  # hours
COVERED: Final = 7 * DAY  # at most, by one crawl: `NewsSpider` takes what is a week old
# The first crawls of a site may download a backlog. Beyond three times the median day, no more is
# counted of a day.
MAX_OF_MEDIAN: Final = 3.0
DAILY_DEVIATION: Final = 0.2  # standard, of a day, as a part of what is usual on that weekday
UNREACHABLE, EMPTY, SILENT = "unreachable", "empty", "silent"
IMPROBABLE: Final = 0.001  # at half of it, ten articles a day are missed after thirty hours
# Whoever crawls every hour looks at each site two thousand times a quarter; so much is by chance
# what is improbable within hours.
SILENT_HOURS: Final = 24
UNANSWERED_HOURS: Final = 6  # longer than maintenance takes
SHOWN_DAYS: Final = 2  # today and yesterday: a crawl before midnight is read in the morning
_NO_REASON: Final = "no response, or redirects without end"

Hours: TypeAlias = NDArray[np.int64]  # since 1970, ascending


@dataclass(frozen=True, slots=True)
class Figure:
    """A share or a median of a site: of the latest group, and before; whether it has *declined*.

    *pages* are those of the latest group, which begins on the day *since*.
    """

    site: str
    measure: str
    before: float
    now: float
    pages: int
    since: int
    declined: bool = False

    @property
    def change(self) -> str:
        shown = MEASURES[self.measure].shown
        return f"{shown(self.before)} to {shown(self.now)}"

    def __str__(self) -> str:
        """One line for a log."""
        return f"{self.site}: {MEASURES[self.measure].summary}: {self.change} (of {self.pages:,})"


class Proportion(NamedTuple):
    """A share as two counts."""

    counted: int
    of: int

    @property
    def share(self) -> float:
        return self.counted / self.of if self.of else 0.0

    @property
    def position(self) -> float:
        """The share on the scale on which chance is the same everywhere (Anscombe 1948)."""
        return 2 * asin(sqrt((self.counted + 3 / 8) / (self.of + 3 / 4)))


class Group(NamedTuple):
    """Days that are evaluated together, with the *first* of them."""

    first: int
    counts: Counts


Groups: TypeAlias = Sequence[Group]  # the latest first, which is compared with all others


def figures(site: str, days: Mapping[int, Counts], today: int) -> dict[str, Figure]:
    """The measures of *site* that can be compared on the day *today*, given its counts by day."""
    watched = {
        day: counts
        for day, counts in days.items()
        if today - WINDOW < day <= today and (counts[PAGES] or counts[WRAPPED])
    }
    if not watched or today - max(watched) >= RECENT:
        return {}
    found: dict[str, Figure] = {}
    for size in SIZES:
        for figure in _figures(site, watched, size):
            known = found.get(figure.measure)
            if known is None or (figure.declined and not known.declined):
                found[figure.measure] = figure
    return found


def _figures(site: str, days: Mapping[int, Counts], size: int) -> Iterator[Figure]:
    by_count = {of: _groups(days, of, size) for of in {share.of for share in SHARES}}
    for share in SHARES:
        groups = by_count[share.of]
        parts = [Proportion(of.counts[share.counted], of.counts[share.of]) for of in groups]
        yield from _figure(site, share.name, groups, parts)
    groups = by_count[ARTICLES]
    if len(groups) > 1:
        before: Counts = sum((group.counts for group in groups[1:]), Counter())
        for scale in SCALES:
            yield from _median(site, scale, groups, before)
        yield from _figure(site, LAYOUT, groups, _familiar(groups, before))


def alarms(site: str, days: Mapping[int, Counts], today: int) -> list[Figure]:
    """The measures of *site* that have declined."""
    return [figure for figure in figures(site, days, today).values() if figure.declined]


def _groups(days: Mapping[int, Counts], of: str, size: int) -> Groups:
    """The days in groups with at least *size* *of* something each."""
    groups, counts = [], Counter[str]()
    for day in sorted(days, reverse=True):
        counts.update(days[day])
        if counts[of] >= size:
            groups.append(Group(day, counts))
            counts = Counter()
    return groups


def has_declined(now: Proportion, before: Sequence[Proportion]) -> bool:
    """Whether *now* is less than what was *before* by more than chance, and by enough to matter."""
    if now.share >= (1 - DECLINE) * median(each.share for each in before):
        return False
    positions = [each.position for each in before]
    usual, of_days = median(positions), DAY_TO_DAY**2
    if len(before) >= MIN_GROUPS:
        deviation = MAD_TO_DEVIATION * median(abs(each - usual) for each in positions)
        of_days = max(of_days, deviation**2 - median(1 / each.of for each in before))
    chance = 1 / now.of + 1 / sum(each.of for each in before)
    return usual - now.position > DEVIATIONS * sqrt(chance + of_days)


def _figure(
    site: str, measure: str, groups: Groups, parts: Sequence[Proportion]
) -> Iterator[Figure]:
    """The share of the latest group, given those of all *groups*, if there is a past."""
    before = [each for each in parts[1:] if each.of]
    if before and parts[0].of:
        now, usual = parts[0], median(each.share for each in before)
        declined = has_declined(now, before)
        yield Figure(site, measure, usual, now.share, now.of, groups[0].first, declined)


def _median(site: str, scale: Scale, groups: Groups, all_before: Counts) -> Iterator[Figure]:
    """A median, which has declined if fewer are as much as three quarters were."""
    least = scale.quantile(all_before, LOWER_QUARTER)
    before, now = scale.quantile(all_before, 0.5), scale.quantile(groups[0].counts, 0.5)
    if least is None or before is None or now is None:
        return
    bucket, parts = scale.bucket(least), []
    for group in groups:
        buckets = scale.buckets(group.counts)
        n_as_much = sum(n for at, n in buckets.items() if at >= bucket)
        parts.append(Proportion(n_as_much, sum(buckets.values())))
    for found in _figure(site, scale.name, groups, parts):
        declined = found.declined and now < (1 - DECLINE) * before
        yield replace(found, before=before, now=now, declined=declined)


def _familiar(groups: Groups, all_before: Counts) -> list[Proportion]:
    """How many articles of each group are in containers that usually held articles before."""
    before = _places(all_before)
    usual = {name for name, n in before.items() if n >= USUAL_PLACE * sum(before.values())}
    of_groups = [_places(group.counts) for group in groups]
    return [
        Proportion(sum(n for name, n in places.items() if name in usual), sum(places.values()))
        for places in of_groups
    ]


def _places(counts: Counts) -> dict[str, int]:
    return {name: count for name, count in counts.items() if name.startswith(PLACE)}


# --- incidents ------------------------------------------------------------------------------------


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
        return max(self.failed, default=None)

    @property
    def attempts(self) -> list[int]:
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
    hours, articles = _covered(activity)
    last = max(activity.new, default=-1)
    past, silent = hours <= last, hours > last
    if not activity.new or not silent.any():
        return None
    articles = _without_backlog(hours[past] // DAY, articles[past])
    if not articles.any():
        return Silence(last, int(silent.sum()), 0.0, 1.0)
    weekdays, clock = hours // DAY % 7, hours % DAY
    of_weekday = np.bincount(weekdays[past], articles, 7)
    of_clock = np.bincount(clock[past], articles, DAY)
    rates = _hourly(of_weekday, weekdays, past) * _hourly(of_clock, clock, past)
    rates /= articles.mean()
    expected = float(rates[silent].sum())
    if not expected:
        return Silence(last, int(silent.sum()), 0.0, 1.0)
    # The variance of a sum of estimates, of which each has that of its weekday's count.
    by_weekday = np.bincount(weekdays[silent], rates[silent], 7)
    known = by_weekday > 0
    variance = float((by_weekday[known] ** 2 / of_weekday[known]).sum())
    evidence = 1 / (variance / expected**2 + DAILY_DEVIATION**2)
    dispersion = _overdispersion(rates[past], articles)
    probability = (1 + expected / evidence) ** (-evidence / dispersion)
    return Silence(last, int(silent.sum()), expected, probability)


def _covered(activity: Activity) -> tuple[Hours, Floats]:
    """The hours that crawls cover, each with its share of the new articles that they found."""
    hours, shares = [np.zeros(0, np.int64)], [np.zeros(0)]
    for before, at in pairwise(activity.attempts):
        hours.append(np.arange(max(before, at - COVERED) + 1, at + 1))
        n_hours = len(hours[-1])
        shares.append(np.full(n_hours, activity.new.get(at, 0) / n_hours))
    return np.concatenate(hours), np.concatenate(shares)


def _without_backlog(days: Hours, articles: Floats) -> Floats:
    if not articles.any():
        return articles
    since = days - days[0]
    of_day = np.bincount(since, articles)
    most = MAX_OF_MEDIAN * median(of_day[of_day > 0].tolist())
    shares: Floats = articles * (most / np.maximum(of_day, most))[since]
    return shares


def _hourly(articles: NDArray[Any], cell: Hours, past: Bools) -> Floats:
    """float64[n_hours]: the rate in the *cell* of each hour, by the *articles* of all its cells."""
    n_hours = np.bincount(cell[past], minlength=len(articles))
    rates: Floats = (articles / np.maximum(n_hours, 1))[cell]
    return rates


def _overdispersion(rates: Floats, articles: Floats) -> float:
    """By how much the longest silence of the past was longer than by chance.

    Of n independent ones, counted in expected articles, the longest is log n on the average.
    """
    silence = np.cumsum(articles > 0)  # the number of the one that an hour is in
    longest = np.bincount(silence, rates * (articles == 0)).max()
    return max(1.0, float(longest) / log(int(silence[-1]) + 2))
