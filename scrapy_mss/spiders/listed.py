"""What a list of articles, a feed or a sitemap, says about one of them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timezone
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from scrapy_mss.metadata import dates
from scrapy_mss.metadata.dates import Moments
from scrapy_mss.pages.addresses import absolute_url

NO_MOMENTS: Final = Moments()
MAX_LISTED: Final = 50_000  # of one list: what the sitemap protocol allows
# Of a list, packed or not: a sitemap of `MAX_LISTED` addresses has about 7 MB.
MAX_BYTES: Final = 16 * 2**20


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


def web_url(href: str, base: str) -> str | None:
    """*href* resolved against *base*; None unless a request can be made of it."""
    url = absolute_url(href, base)
    try:
        if url is not None and urlsplit(url).port != 0:
            return url
    except ValueError:  # a port that is too large, or is no number
        pass
    return None


def listing(url: str, published: str | None, modified: str | None) -> Listed:
    """What a list says about *url*, with its dates as they are written there."""
    first, last = (_moment(text) if text else None for text in (published, modified))
    minute = max(_minute(first), _minute(last))
    return Listed(url, minute, Moments(first, last if last != first else None))


def _moment(text: str) -> str | None:
    return dates.iso_moment(text) or dates.find(text)


def _minute(moment: str | None) -> int:
    """*moment* in minutes since 1970; 0 if there is none.

    A time without a zone is taken for UTC: lists are compared with themselves alone.
    """
    if not moment:
        return 0
    read = datetime.fromisoformat(moment)
    if read.tzinfo is None:
        read = read.replace(tzinfo=timezone.utc)
    return max(int(read.timestamp() // 60), 0)
