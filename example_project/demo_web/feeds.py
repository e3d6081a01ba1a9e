"""What names the stories of a site: a feed of one of three kinds, or a sitemap for news.

The made-up web is always two days old: its stories are an hour apart, the newest an hour ago, and
what the last hour has brought is from now.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from email.utils import format_datetime
from typing import NamedTuple
from xml.sax.saxutils import escape

from demo_web.content import ARTICLES
from demo_web.site import SITES, Site


class Entry(NamedTuple):
    """A story in a feed."""

    url: str
    title: str
    moment: datetime


class Feed(NamedTuple):
    """Where a kind of feed is, what it is sent as, and what is in it."""

    path: str
    content_type: str
    write: Callable[[Site, list[Entry]], str]


def entries(site: Site, now: datetime) -> Iterator[Entry]:
    """The stories of *site* as they are listed *now*."""
    first = {page.path for page in SITES[site.name].content}
    hours = 0
    for page in site.content:
        if page.kind in ARTICLES:
            hours += page.path in first
            age = timedelta(hours=0 if page.path in site.latest else hours)
            yield Entry(f"http://{site.host}{page.path}", page.title, now - age)


def _rss(site: Site, found: list[Entry]) -> str:
    items = "".join(
        f"<item><title>{escape(each.title)}</title><link>{escape(each.url)}</link>"
        f"<pubDate>{format_datetime(each.moment)}</pubDate></item>"
        for each in found
    )
    channel = f"<title>{escape(site.title)}</title><link>http://{site.host}/</link>{items}"
    return f'<rss version="2.0"><channel>{channel}</channel></rss>'


def _atom(site: Site, found: list[Entry]) -> str:
    items = "".join(
        f'<entry><title>{escape(each.title)}</title><link href="{escape(each.url)}"/>'
        f"<id>{escape(each.url)}</id><updated>{each.moment.isoformat()}</updated></entry>"
        for each in found
    )
    return f'<feed xmlns="http://www.w3.org/2005/Atom"><title>{site.title}</title>{items}</feed>'


def _json(site: Site, found: list[Entry]) -> str:
    items = [
        {"url": each.url, "title": each.title, "date_modified": each.moment.isoformat()}
        for each in found
    ]
    version = "https://jsonfeed.org/version/1.1"
    return json.dumps({"version": version, "title": site.title, "items": items})


def _sitemap(_: Site, found: list[Entry]) -> str:
    urls = "".join(
        f"<url><loc>{escape(each.url)}</loc><n:news><n:publication_date>{each.moment.isoformat()}"
        f"</n:publication_date><n:title>{escape(each.title)}</n:title></n:news></url>"
        for each in found
    )
    spaces = (
        'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
        'xmlns:n="http://www.google.com/schemas/sitemap-news/0.9"'
    )
    return f"<urlset {spaces}>{urls}</urlset>"


FEEDS: Mapping[str, Feed] = {
    "rss": Feed("/rss.xml", "application/rss+xml", _rss),
    "atom": Feed("/atom.xml", "application/atom+xml", _atom),
    "json": Feed("/feed.json", "application/feed+json", _json),
    "sitemap": Feed("/sitemap-news.xml", "application/xml", _sitemap),
}
