"""Feeds: RSS and Atom by feedparser, and JSON Feed; and which feeds a page names."""

from __future__ import annotations

import calendar
import json
import re
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from io import BytesIO
from itertools import islice
from typing import Any, Final

from scrapy.http import HtmlResponse, TextResponse
from scrapy.utils.response import get_base_url

from scrapy_mss.crawl.pages import header
from scrapy_mss.spiders.listed import Listed, listing, web_url

FEED_TYPES: Final = frozenset(
    {"application/rss+xml", "application/atom+xml", "application/feed+json", "application/json"}
)
DATES: Final = ("published", "published_parsed", "updated", "updated_parsed")  # of feedparser
_COMMENTS: Final = ("/comments/", "comments/feed", "feed/comments")
# feedparser takes a second for some thousand entries, and feeds have their newest ones first.
MAX_ENTRIES: Final = 2000
_ENTRY = re.compile(rb"<(?:\w+:)?(?:item|entry)\b", re.IGNORECASE)


def check() -> None:
    """Stop here if feeds cannot be read."""
    if find_spec("feedparser") is None:
        message = "feeds need feedparser; run: pip install 'scrapy-mss[spiders]'"
        raise ImportError(message, name="feedparser")


def feeds_of(page: HtmlResponse) -> list[str]:
    """The feeds that *page* names in its head, but for those of comments."""
    found = []
    base = get_base_url(page)
    for link in page.xpath("//link[@href][@rel]"):
        if "alternate" not in link.attrib["rel"].lower().split():
            continue
        kind = (link.attrib.get("type") or "").partition(";")[0].strip().lower()
        url = web_url(link.attrib["href"], base)
        if not url or kind not in FEED_TYPES:
            continue
        if "wp-json" not in url and not any(map(url.count, _COMMENTS)):
            found.append(url)
    return list(dict.fromkeys(found))


def entries(feed: TextResponse) -> list[Listed]:
    """The first articles that *feed* names, in any of the formats; none if it is no feed."""
    found = (_of_json if feed.body.lstrip()[:1] == b"{" else _of_xml)(feed)
    joined = (each._replace(url=web_url(each.url, feed.url) or "") for each in found)
    return [each for each in islice(joined, MAX_ENTRIES) if each.url]


def _of_xml(feed: TextResponse) -> Iterator[Listed]:
    import feedparser

    beyond = next(islice(_ENTRY.finditer(feed.body), MAX_ENTRIES, None), None)
    # What it would clean and resolve is the text of the entries, which nobody reads here.
    parsed = feedparser.parse(
        BytesIO(feed.body[: beyond.start()] if beyond else feed.body),
        response_headers={"content-type": header(feed, "Content-Type")},
        sanitize_html=False,
        resolve_relative_uris=False,
    )
    for entry in parsed.entries:
        # `get` would give the one for the other, and warn.
        given = {name: entry[name] for name in DATES if name in entry}
        moments = (given.get(f"{name}_parsed") for name in ("published", "updated"))
        minutes = (calendar.timegm(each) // 60 for each in moments if each)
        listed = listing(str(entry.get("link") or ""), given.get("published"), given.get("updated"))
        yield listed._replace(minute=max(minutes, default=0))


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
            yield listing(str(item.get("url") or ""), *texts)
