"""What a list of articles, a feed or a sitemap, says of one of them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timezone
from typing import Final, NamedTuple

from scrapy_mss.metadata import dates

MAX_LISTED: Final = 50_000  # of one list: what the sitemap protocol allows


class Listed(NamedTuple):
    """An address in a list, and the date there, in minutes since 1970; 0 if there is none."""

    url: str
    minute: int


def newest_first(listed: Iterable[Listed]) -> list[Listed]:
    """Each address once, with its latest date; those without a date come last, in their order."""
    latest: dict[str, int] = {}
    for url, minute in listed:
        latest[url] = max(minute, latest.get(url, 0))
    return [Listed(*each) for each in sorted(latest.items(), key=lambda each: -each[1])]


def minute_of(text: str | None) -> int:
    """The date in *text* in minutes since 1970; 0 if there is none.

    A time without a zone is taken for UTC: lists are compared with themselves alone.
    """
    found = dates.find(text or "")
    if not found:
        return 0
    moment = datetime.fromisoformat(found)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return max(int(moment.timestamp() // 60), 0)
