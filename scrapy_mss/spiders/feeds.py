"""Feeds: RSS and Atom by feedparser, and JSON Feed; and which feeds a page names."""

from __future__ import annotations

import calendar
import json
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from io import BytesIO
from itertools import islice
from typing import Any, Final

from scrapy.http import HtmlResponse, TextResponse

from scrapy_mss.crawl.pages import header
from scrapy_mss.spiders.listed import MAX_LISTED, Listed, minute_of, moments_of

FEED_TYPES: Final = frozenset(
    {"application/rss+xml", "application/atom+xml", "application/feed+json", "application/json"}
)
DATES: Final = ("published", "published_parsed", "updated", "updated_parsed")  # of feedparser
_COMMENTS: Final = ("/comments/", "comments/feed", "feed/comments")


def check() -> None:
    """Stop here if feeds cannot be read."""
    if find_spec("feedparser") is None:
        message = "feeds need feedparser; run: pip install 'scrapy-mss[spiders]'"
        raise ImportError(message, name="feedparser")


def feeds_of(page: HtmlResponse) -> list[str]:
    """The feeds that *page* names in its head, but for those of comments."""
    found = []
    for link in page.xpath("//link[@href][@rel]"):
        if "alternate" not in link.attrib["rel"].lower().split():
            continue
        kind = (link.attrib.get("type") or "").partition(";")[0].strip().lower()
        url = page.urljoin(link.attrib["href"].strip())
        if kind in FEED_TYPES and "wp-json" not in url and not any(map(url.count, _COMMENTS)):
            found.append(url)
    return list(dict.fromkeys(found))


def entries(feed: TextResponse) -> list[Listed]:
    """The articles that *feed* names, in any of the formats; none if it is no feed."""
    found = (_of_json if feed.body.lstrip()[:1] == b"{" else _of_xml)(feed)
    listed = (each._replace(url=feed.urljoin(each.url)) for each in found if each.url)
    return list(islice(listed, MAX_LISTED))


def _of_xml(feed: TextResponse) -> Iterator[Listed]:
    import feedparser

    # What it would clean and resolve is the text of the entries, which nobody reads here.
    parsed = feedparser.parse(
        BytesIO(feed.body),
        response_headers={"content-type": header(feed, "Content-Type")},
        sanitize_html=False,
        resolve_relative_uris=False,
    )
    for entry in parsed.entries:
        # `get` would give the one for the other, and warn.
        given = {name: entry[name] for name in DATES if name in entry}
        parsed = (given.get(f"{name}_parsed") for name in ("published", "updated"))
        minutes = (calendar.timegm(each) // 60 for each in parsed if each)
        moments = moments_of(given.get("published"), given.get("updated"))
        yield Listed(str(entry.get("link") or ""), max(minutes, default=0), moments)


def _of_json(feed: TextResponse) -> Iterator[Listed]:
    try:
        parsed: Any = json.loads(feed.text)
    except (ValueError, RecursionError):
        return
    items = parsed.get("items") if isinstance(parsed, Mapping) else None
    for item in items if isinstance(items, list) else []:
        if isinstance(item, Mapping):
            given = (item.get(name) for name in ("date_published", "date_modified"))
            texts = [each if isinstance(each, str) else None for each in given]
            minute = max(map(minute_of, texts))
            yield Listed(str(item.get("url") or ""), minute, moments_of(*texts))
