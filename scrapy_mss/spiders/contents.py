"""What a list says: the articles that a feed, sitemap or page names, and the further lists.

A list is read with what is known of its site: addresses beyond the site's scope and articles that
are older than a moment are left out here, before anything dear is done with them. Nothing in a list
raises, but for a packed sitemap that is too large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain, islice
from typing import Any, Final, NamedTuple

from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.linkextractors import LinkExtractor

from scrapy_mss.pages.addresses import is_section, site_of
from scrapy_mss.spiders import feeds, sitemaps
from scrapy_mss.spiders.hosts import Scope
from scrapy_mss.spiders.listed import Listed, newest_first, web_url

FRONT, SECTION, FEED, ROBOTS, SITEMAP = "front", "section", "feed", "robots", "sitemap"
MOST: Final = {SECTION: 20, FEED: 20, SITEMAP: 10}  # of a kind that one list may name
MAX_LINKS: Final = 5000  # of a page, the first; front pages have some hundred
PAGES: Final = frozenset({FRONT, SECTION})


class About(NamedTuple):
    """What is known of a list before it is read: its site and the *scope* of that.

    Articles dated before *since*, in minutes since 1970, are left out.
    """

    kind: str
    url: str
    content_type: str
    site: str
    scope: Scope
    since: int

    def response(self, body: bytes) -> Response:
        """The list with its *body*."""
        headers = {"Content-Type": self.content_type} if self.content_type else {}
        if self.kind == SITEMAP:
            return Response(self.url, headers=headers, body=body)
        cls = HtmlResponse if self.kind in PAGES else TextResponse
        response = cls(self.url, headers=headers, body=body)
        try:
            assert isinstance(response.text, str)
        except (LookupError, UnicodeError):  # the declared encoding is none of text, as `idna`
            response = cls(self.url, body=body, encoding="utf-8")
        return response


class Contents(NamedTuple):
    """What a list says."""

    articles: list[Listed]
    lists: dict[str, list[Listed]]  # by their kind
    off_site: str = ""  # an address that was left out because of the scope


def read(about: About, body: bytes) -> Contents:
    """What the list with this *body* says."""
    found = READERS[about.kind](about.response(body))
    lists = {kind: _inside(about, each) for kind, each in found.lists.items()}
    articles = [
        _dated(about, each)
        for each in _inside(about, found.articles)
        if not each.minute or each.minute >= about.since
    ]
    named = [*chain.from_iterable(found.lists.values())]
    if about.kind not in PAGES:  # most of these have links to other sites
        named += found.articles
    return Contents(
        newest_first(articles),
        {kind: _few(about, each, MOST[kind]) for kind, each in lists.items()},
        next((each.url for each in named if not about.scope.has(each.url)), ""),
    )


def _inside(about: About, listed: Iterable[Listed]) -> list[Listed]:
    return [each for each in listed if about.scope.has(each.url)]


def _dated(about: About, listed: Listed) -> Listed:
    """*listed* without its date if it is an article of another site, which dates its own."""
    is_own = site_of(listed.url) in (about.site, site_of(about.url))
    return listed if is_own else Listed(listed.url, 0)


def _few(about: About, listed: list[Listed], most: int) -> list[Listed]:
    newest = newest_first(listed)
    if about.kind == SITEMAP and len(newest) > most and not newest[0].minute:
        # An index without dates: who knows at which end the newest are?
        return newest[: most // 2] + newest[-(most // 2) :]
    return newest[:most]


def _front(page: HtmlResponse) -> Contents:
    contents = _section(page)
    contents.lists[SECTION] = [each for each in contents.articles if is_section(each.url)]
    return contents


def _section(page: HtmlResponse) -> Contents:
    links = islice(LinkExtractor().extract_links(page), MAX_LINKS)
    urls = (web_url(link.url, page.url) for link in links)
    named = [Listed(url, 0) for url in feeds.feeds_of(page)]
    return Contents([Listed(url, 0) for url in urls if url], {FEED: named})


def _feed(feed: TextResponse) -> Contents:
    return Contents(feeds.entries(feed), {})


def _robots(robots: TextResponse) -> Contents:
    return Contents([], {SITEMAP: [Listed(url, 0) for url in sitemaps.named_in_robots(robots)]})


def _sitemap(response: Response) -> Contents:
    pages, indexed = sitemaps.read(response)
    return Contents([each for each in pages if each.minute], {SITEMAP: indexed})


READERS: Final[Mapping[str, Callable[[Any], Contents]]] = {
    FRONT: _front,
    SECTION: _section,
    FEED: _feed,
    ROBOTS: _robots,
    SITEMAP: _sitemap,
}
