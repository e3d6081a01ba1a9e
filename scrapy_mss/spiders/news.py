"""A spider that needs a list of news sites and nothing else.

For each site it reads what names articles: the front page and those of sections, the feeds that
these declare, and the news sitemaps in robots.txt. Addresses that are probably articles are
downloaded, newest first; those that an earlier crawl has seen are not (`MSS_ONLY_NEW`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field
from time import time
from typing import TYPE_CHECKING, Any, Final

from scrapy import Request, Spider
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.sitemap import sitemap_urls_from_robots

from scrapy_mss.crawl.extension import MssExtension
from scrapy_mss.crawl.pages import LISTED, SITE, SKIP_EXTRACTION, SKIP_TRAINING
from scrapy_mss.metadata.sites import site_of
from scrapy_mss.seen.keys import address_key
from scrapy_mss.sites.addresses import AddressCounts
from scrapy_mss.sites.article_address import guess, is_section
from scrapy_mss.spiders import feeds, sitemaps
from scrapy_mss.spiders.listed import Listed, newest_first
from scrapy_mss.spiders.site_lists import SiteListError, sites_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from typing_extensions import Self

MAX_SECTIONS: Final = 20  # fronts of sections that are read, of a site
MAX_FEEDS: Final = 20
MAX_SITEMAPS: Final = 10  # of an index, the newest
MAX_AGE: Final = 7 * 24 * 60  # minutes: what a list has that is older is its archive
LISTS_FIRST: Final = 1000  # priority, so that the newest of all that is listed comes first
UNDATED: Final = 24 * 60  # minutes: how old an article without a date is taken to be
GONE: Final = frozenset({404, 410})
PROBABLE: Final = 0.5
NOTHING_KNOWN: Final = AddressCounts()


@dataclass(slots=True)
class Site:
    """A site of the list, in this crawl."""

    front: str
    asked: set[int] = field(default_factory=set)  # keys of the addresses of its articles
    lists: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """The registered domain."""
        return site_of(self.front)


class NewsSpider(Spider):
    """Crawls the articles of news sites: ``scrapy crawl news -a sites=sites.txt``.

    *sites* is a file with a site on each line, names separated by commas, or, in Python, a list;
    without it the setting `MSS_SITES` is used. *limit* is how many articles of a site one crawl
    downloads at most.
    """

    name = "news"

    def __init__(self, sites: str | Iterable[str] = "", limit: int | str = 200, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.sites = [Site(front) for front in sites_of(sites)]
        self.limit = int(limit)
        self._links = LinkExtractor()

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Have the add-on enabled and what was seen remembered, unless a setting says otherwise."""
        super().update_settings(settings)
        settings.setdefault_in_component_priority_dict("ADDONS", "scrapy_mss.Addon", 500)
        settings.setdefault("MSS_ONLY_NEW", True)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        if not args and not kwargs.get("sites"):
            kwargs["sites"] = MssExtension.of(crawler).options.sites
        spider = super().from_crawler(crawler, *args, **kwargs)
        if not spider.sites:
            raise SiteListError(
                "no sites: give a list, as in scrapy crawl news -a sites=sites.txt, or set "
                "MSS_SITES"
            )
        return spider

    async def start(self) -> AsyncIterator[Any]:
        """Read the front page and robots.txt of each site."""
        for site in self.sites:
            yield self._list(site, site.front, self.parse_front, depth=0)
            robots = HtmlResponse(site.front).urljoin("/robots.txt")
            yield self._list(site, robots, self.parse_robots)

    def parse_front(self, response: Response, site: Site, depth: int) -> Iterator[Request]:
        """Follow feeds, sections, and what is probably an article."""
        if not isinstance(response, HtmlResponse):
            return
        for url in feeds.feeds_of(response)[:MAX_FEEDS]:
            yield from self._lists(site, [url], self.parse_feed)
        links = [link.url for link in self._links.extract_links(response)]
        own = [url for url in links if site_of(url) == site.name]
        if not depth:
            sections = [url for url in own if is_section(url)][:MAX_SECTIONS]
            yield from self._lists(site, sections, self.parse_front, depth=1)
        yield from self._articles(site, [Listed(url, 0) for url in own if self._is_probable(url)])

    def parse_feed(self, response: Response, site: Site) -> Iterator[Request]:
        """Follow what a feed names."""
        if isinstance(response, TextResponse):
            yield from self._articles(site, newest_first(feeds.entries(response)))

    def parse_robots(self, response: Response, site: Site) -> Iterator[Request]:
        """Follow the sitemaps that robots.txt names."""
        if isinstance(response, TextResponse):
            named = list(sitemap_urls_from_robots(response.text, base_url=response.url))
            yield from self._lists(site, named[:MAX_SITEMAPS], self.parse_sitemap)

    def parse_sitemap(self, response: Response, site: Site) -> Iterator[Request]:
        """Follow the newest sitemaps of an index, and what a sitemap dates as new."""
        found = sitemaps.read(response)
        newest = [each.url for each in newest_first(found.sitemaps)][:MAX_SITEMAPS]
        yield from self._lists(site, newest, self.parse_sitemap)
        dated = [each for each in newest_first(found.pages) if each.minute]
        yield from self._articles(site, [each for each in dated if self._is_probable(each.url)])

    def parse_article(self, response: Response, **_: Any) -> Any:
        """Yield nothing: the add-on makes the item of a page, and fills it."""

    def failed(self, failure: Any) -> None:
        """Have the lists of a site read again by the next crawl, where something is missing."""
        seen = MssExtension.of(self.crawler).seen
        error = failure.value
        is_gone = isinstance(error, HttpError) and error.response.status in GONE
        if seen is not None and not is_gone and not isinstance(error, IgnoreRequest):
            seen.leave_incomplete(failure.request.meta[SITE])

    def _is_probable(self, url: str) -> bool:
        memories = MssExtension.of(self.crawler).sites
        known = memories.addresses(url) if memories is not None else NOTHING_KNOWN
        return guess(url, known).probability >= PROBABLE

    def _lists(
        self, site: Site, urls: Iterable[str], callback: Any, **arguments: Any
    ) -> Iterator[Request]:
        """Requests for the lists at *urls* that were not read in this crawl."""
        for url in urls:
            if url not in site.lists:
                yield self._list(site, url, callback, **arguments)

    def _list(self, site: Site, url: str, callback: Any, **arguments: Any) -> Request:
        site.lists.add(url)
        meta = {SKIP_EXTRACTION: True, SKIP_TRAINING: True, SITE: site.name}
        return Request(
            url,
            callback,
            errback=self.failed,
            meta=meta,
            priority=LISTS_FIRST,
            cb_kwargs={"site": site, **arguments},
        )

    def _articles(self, site: Site, listed: Iterable[Listed]) -> Iterator[Request]:
        """Requests for the articles that are due, until the site has had its share."""
        seen, now = MssExtension.of(self.crawler).seen, int(time() // 60)
        for url, minute in listed:
            key = address_key(url)
            is_old = bool(minute) and now - minute > MAX_AGE
            if key in site.asked or is_old or (seen and not seen.is_due(url, minute)):
                continue
            if len(site.asked) >= self.limit:
                if seen:
                    seen.leave_incomplete(site.name)
                return
            site.asked.add(key)
            yield Request(
                url,
                self.parse_article,
                errback=self.failed,
                meta={LISTED: minute, SITE: site.name},
                priority=-max(now - minute if minute else UNDATED, 0) // 60,
            )
