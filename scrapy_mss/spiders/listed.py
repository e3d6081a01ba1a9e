"""What a list of articles, a feed or a sitemap, says about one of them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timezone
from typing import Final, NamedTuple

from scrapy_mss.metadata import dates
from scrapy_mss.metadata.moments import Moments

NO_MOMENTS: Final = Moments()
MAX_LISTED: Final = 50_000  # of one list: what the sitemap protocol allows


class Listed(NamedTuple):
    """An address in a list, and the latest date there, in minutes since 1970; 0 if there is none.

    *moments* are when it was published and modified, as precise as the list has it.
    """

    url: str
    minute: int
    moments: Moments = NO_MOMENTS


def newest_first(listed: Iterable[Listed]) -> list[Listed]:
    """Each address once, with its latest date; those without a date come last, in their order."""
    latest: dict[str, Listed] = {}
    for each in listed:
        known = latest.get(each.url)
        if known is None or each.minute > known.minute:
            latest[each.url] = each
    return sorted(latest.values(), key=lambda each: -each.minute)


def moments_of(published: str | None, modified: str | None) -> Moments:
    """When a list says that an article was published and, unless it is the same, modified."""
    first, last = (dates.find(text) if text else None for text in (published, modified))
    return Moments(first, last if last != first else None)


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
