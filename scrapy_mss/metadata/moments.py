"""When an article was published and changed, as its item says it.

A time with a zone is in UTC: feeds of many sites can then be sorted. Any other is as precise as it
was given, and no day is shifted. Where the page gives no zone, a feed or sitemap may: its time is
used if it can be the same moment. What the page says to have changed before it was published is no
time of a change.

All moments are in ISO 8601, as `dates` writes them: a day, a time without a zone, or one with it.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Final, NamedTuple

DAY_LENGTH: Final = len("2024-03-05")
MAX_DAYS_APART: Final = 1  # a day in one zone begins in another
ZONES: Final = (timedelta(hours=-12), timedelta(hours=14))  # from UTC
ZONE_STEP: Final = timedelta(minutes=15)  # zones are apart by a multiple of it
MAX_DIFFERENCE: Final = timedelta(minutes=1)  # one of two sources may leave out the seconds


class Moments(NamedTuple):
    """When an article was published and last changed; None if that is not known."""

    published: str | None = None
    modified: str | None = None

    def settled(self) -> Moments:
        """The same in UTC where there are zones, without a change before the publication."""
        published, modified = map(in_utc, self)
        if published and modified and _is_before(modified, published):
            modified = None
        return Moments(published, modified)

    def confirmed_by(self, listed: Moments) -> Moments:
        """The same as far as the page gives it, else as a feed or sitemap has it."""
        return Moments(*(_better(*both) for both in zip(self, listed, strict=True))).settled()


def in_utc(moment: str | None) -> str | None:
    """*moment* in UTC if it has a zone, else as it is."""
    read = datetime.fromisoformat(moment) if moment else None
    if read is None or read.tzinfo is None:
        return moment
    return read.astimezone(timezone.utc).isoformat()


def _is_before(one: str, other: str) -> bool:
    """Whether *one* is earlier, as far as both are given."""
    first, second = map(datetime.fromisoformat, (one, other))
    if min(len(one), len(other)) <= DAY_LENGTH:
        return first.date() < second.date()
    if first.tzinfo is None or second.tzinfo is None:
        return first.replace(tzinfo=None) < second.replace(tzinfo=None)
    return first < second


def _better(of_page: str | None, listed: str | None) -> str | None:
    """The moment of the page; that of a list where it is the same, and more precise."""
    if not of_page or not listed:
        return of_page or listed
    page, other = map(datetime.fromisoformat, (of_page, listed))
    if page.tzinfo is not None or other.tzinfo is None:
        return of_page
    other = other.astimezone(timezone.utc).replace(tzinfo=None)
    if len(of_page) <= DAY_LENGTH:
        days = abs((page.date() - other.date()).days)
        return listed if days <= MAX_DAYS_APART else of_page
    return listed if _is_zone(page - other) else of_page


def _is_zone(offset: timedelta) -> bool:
    """Whether two times of one moment can be *offset* apart, since one of them is local."""
    least, most = ZONES
    nearest = round(offset / ZONE_STEP) * ZONE_STEP
    return least <= nearest <= most and abs(offset - nearest) <= MAX_DIFFERENCE
