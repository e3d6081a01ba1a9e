"""Detects that a site gives nothing, or nothing new, or is no longer what it was this morning.

Declines of shares and medians are found by days (`alarms`). An incident is found by the clock:

- *unreachable*: the site has not answered for some hours, or never;
- *empty*: it answers, but no article was ever found on it;
- *silent*: it used to have articles, and by its own rhythm that none is new is improbable;
- any measure of `alarms` that a crawl of today or yesterday has found lower than before the crawl.

The first two are of sites that `NewsSpider` is given or `MSS_SITES` names: of what else a spider
meets, nobody expects anything.

To measure false alarms and detections: ``python -m research.studies.alarms``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Final

from scrapy_mss.quality.activity import DAY, Activity, silence
from scrapy_mss.quality.alarms import LAYOUT, SUMMARIES, Figure, alarms
from scrapy_mss.quality.counts import ALARM, Counts

UNREACHABLE, EMPTY, SILENT = "unreachable", "empty", "silent"
IMPROBABLE: Final = 0.001  # at half of it, ten articles a day are missed after thirty hours
# Whoever crawls every hour looks at each site two thousand times a quarter; so much is by chance
# what is improbable within hours.
SILENT_HOURS: Final = 24
UNANSWERED_HOURS: Final = 6  # longer than maintenance takes
SHOWN_DAYS: Final = 2  # today and yesterday: a crawl before midnight is read in the morning
_NO_REASON: Final = "no response, or redirects without end"


@dataclass(frozen=True, slots=True)
class Incident:
    """What is wrong with a site *since* an hour since 1970, in a short *text*."""

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
    """What is wrong with *site* in the hour *now*.

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
    quiet = _silent(site, activity)
    if quiet is not None:
        yield quiet
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


def _silent(site: str, activity: Activity) -> Incident | None:
    attempts = activity.attempts
    if not activity.new or attempts[-1] - max(activity.new) < SILENT_HOURS:
        return None
    found = silence(activity)
    if found is None or found.probability >= IMPROBABLE:
        return None
    text = f"no new article for {_duration(found.hours)}, {found.expected:.0f} expected"
    return Incident(site, SILENT, found.since, text)


def _of_crawls(site: str, activity: Activity, today: int) -> Iterator[Incident]:
    """The measures that crawls have found to be lower than before them."""
    for measure, days in activity.lowered.items():
        found = [day for day in days if today - SHOWN_DAYS < day <= today]
        if found and measure in SUMMARIES:
            changed = measure == LAYOUT
            text = "the layout has changed" if changed else f"fewer {SUMMARIES[measure]}"
            yield Incident(site, measure, DAY * found[0], text)


def within_crawl(
    site: str, days: Mapping[int, Counts], crawl: Mapping[int, Counts], today: int
) -> list[Figure]:
    """What a *crawl* has found lower than what its *days* had without it.

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
    return [figure.until(today) for figure in found if figure.since > today]


def alarms_of_crawl(figures: Iterable[Figure]) -> Counts:
    """What a crawl counts that has found these to have declined."""
    return Counter({f"{ALARM}{figure.measure}": 1 for figure in figures})


def hour_text(hour: int) -> str:
    """An *hour* since 1970 for people, in UTC."""
    moment = datetime.fromtimestamp(3600 * hour, timezone.utc)
    return f"{moment.day} {moment:%b %H:00}"


def _duration(hours: int) -> str:
    return f"{hours} hours" if hours < 2 * DAY else f"{hours // DAY} days"
