"""The pages of a site, as its server sends them.

Strategy: content goes through the site's four methods and comes out encoded, each kind of page by
one generator; `SOURCES` is the list of them. What no reader wants to find but every crawler does
(redirects, errors, files) is the same on all sites.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timezone
from email.utils import format_datetime
from html import escape

from demo_web.content import Notice, Story
from demo_web.markup import document, picture
from demo_web.page import Gold, Page
from demo_web.site import PICTURES, Site

ROBOTS = b"User-agent: *\nDisallow: /private/\n"


def pages(site: Site) -> Iterator[Page]:
    """All pages of *site*, in the same order on each run."""
    for source in SOURCES:
        yield from source(site)


def missing(site: Site, path: str) -> Page:
    """What *site* answers where there is nothing."""
    return replace(_markup(site, path, _apology(site, "not_found_text"), "missing"), status=404)


def gold(site: Site, story: Story) -> Gold:
    """What an extractor should find on the story's page."""
    return Gold(
        url=site.url(site.story_path(story)),
        title=story.title,
        text=story.text,
        authors=tuple(author.name for author in story.authors),
        published=story.published.date().isoformat(),
        language=site.language,
    )


def _markup(site: Site, path: str, text: str, kind: str) -> Page:
    body = text.encode(site.encoding, "xmlcharrefreplace")
    return Page(path, 200, (("Content-Type", site.content_type),), body, None, kind)


def _stories(site: Site) -> Iterator[Page]:
    for story in (*site.stories, *site.live):
        headers = (
            ("Content-Type", site.content_type),
            ("Last-Modified", format_datetime(story.updated.astimezone(timezone.utc), usegmt=True)),
        )
        body = site.story_page(story).encode(site.encoding, "xmlcharrefreplace")
        kind = "liveblog" if story.live else "article"
        yield Page(site.story_path(story), 200, headers, body, gold(site, story), kind)


def _listings(site: Site) -> Iterator[Page]:
    for listing in site.listings():
        path = site.list_path(listing.kind, listing.key, listing.number)
        yield _markup(site, path, site.listing_page(listing), listing.kind)


def _galleries(site: Site) -> Iterator[Page]:
    for gallery in site.galleries:
        yield _markup(site, site.gallery_path(gallery), site.gallery_page(gallery), "gallery")


def _notices(site: Site) -> Iterator[Page]:
    for notice in site.notices:
        yield _markup(site, site.notice_path(notice), site.notice_page(notice), "notice")


def _files(site: Site) -> Iterator[Page]:
    for number in range(PICTURES):
        path, body = site.picture_path(number), picture(f"{site.name}/{number}")
        yield _file(path, "image/png", body, "picture")
    yield _file("/robots.txt", "text/plain; charset=utf-8", ROBOTS, "robots")


def _file(path: str, content_type: str, body: bytes, kind: str) -> Page:
    return Page(path, 200, (("Content-Type", content_type),), body, None, kind)


# --- the odd ones -----------------------------------------------------------------------------


def _apology(site: Site, text: str) -> str:
    return site.notice_page(Notice("", site.ui["not_found"], (site.ui[text],)))


def _moved(site: Site, path: str) -> Page:
    target = site.url(site.story_path(site.stories[0]))
    body = f'<html><body><a href="{escape(target)}">301</a></body></html>'.encode()
    headers = (("Content-Type", "text/html; charset=utf-8"), ("Location", target))
    return Page(path, 301, headers, body, None, "moved")


def _gone(site: Site, path: str) -> Page:
    return replace(_markup(site, path, _apology(site, "gone_text"), "gone"), status=410)


def _private(site: Site, path: str) -> Page:
    return _markup(site, path, site.notice_page(site.notices[0]), "private")


def _feed(site: Site, path: str) -> Page:
    entries = "".join(
        f"<item><title>{escape(story.title)}</title><link>{site.url(site.story_path(story))}</link>"
        f"<description>{escape(story.summary)}</description></item>"
        for story in site.stories[:20]
    )
    text = (
        '<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel>'
        f"<title>{escape(site.title)}</title>{entries}</channel></rss>"
    )
    return _file(path, "application/rss+xml; charset=utf-8", text.encode(), "feed")


def _document(site: Site, path: str) -> Page:
    return _file(path, "application/pdf", document(site.name), "document")


ODDITIES: dict[str, Callable[[Site, str], Page]] = {
    "moved": _moved,
    "missing": missing,
    "gone": _gone,
    "private": _private,
    "feed": _feed,
    "document": _document,
}


def _oddities(site: Site) -> Iterator[Page]:
    for kind, make in ODDITIES.items():
        yield make(site, site.odd_path(kind))


SOURCES: tuple[Callable[[Site], Iterator[Page]], ...] = (
    _stories,
    _listings,
    _galleries,
    _notices,
    _files,
    _oddities,
)
