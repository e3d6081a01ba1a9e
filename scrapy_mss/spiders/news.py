"""A spider that needs only a list of news sites.

For each site it reads everything that lists articles: the front page and section pages, the feeds
that these declare, and the news sitemaps in robots.txt. Addresses that are probably articles are
downloaded, newest first, except those that an earlier crawl has seen (`MSS_ONLY_NEW`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import compress, islice
from time import time
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, TypeAlias

from scrapy import Request, Spider
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.spidermiddlewares.httperror import HttpError

from scrapy_mss.addon import Addon
from scrapy_mss.crawl.extension import MssExtension
from scrapy_mss.crawl.pages import (
    LISTED,
    LISTED_MOMENTS,
    NOT_MODIFIED,
    SITE,
    SKIP_EXTRACTION,
    SKIP_TRAINING,
)
from scrapy_mss.metadata.sites import site_of
from scrapy_mss.seen.keys import address_key
from scrapy_mss.settings import COPIES_MARK, listed, read
from scrapy_mss.sites.addresses import AddressCounts
from scrapy_mss.sites.article_address import guess, is_section
from scrapy_mss.spiders import feeds, sitemaps
from scrapy_mss.spiders.listed import Listed, newest_first
from scrapy_mss.spiders.site_lists import SiteListError, sites_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure
    from typing_extensions import Self

    from scrapy_mss.seen.crawled import SeenArticles

MAX_SECTIONS: Final = 20  # fronts of sections that are read, of a site
MAX_FEEDS: Final = 20
MAX_SITEMAPS: Final = 10  # of an index, the newest
MAX_LISTS: Final = 200  # of a site in all: sitemaps may name sitemaps without an end
MAX_AGE: Final = 7 * 24 * 60  # minutes: what a list has that is older is its archive
LISTS_FIRST: Final = 1000  # priority, so that the newest of all that is listed comes first
DUE_AT_ONCE: Final = 500  # addresses whose articles are looked for together
UNDATED: Final = 24 * 60  # minutes: how old an article without a date is taken to be
FRONT, SECTION, FEED, ROBOTS, SITEMAP = "front", "section", "feed", "robots", "sitemap"

GONE: Final = frozenset({404, 410})
PROBABLE: Final = 0.5
NOTHING_KNOWN: Final = AddressCounts()


@dataclass(slots=True)
class Site:
    """A site of the list, in this crawl."""

    name: str  # the registered domain
    fronts: list[str] = field(default_factory=list)
    asked: set[int] = field(default_factory=set)  # keys of the addresses of its articles
    lists: set[str] = field(default_factory=set)


class Named(NamedTuple):
    """Lists of a kind that another list names."""

    kind: str
    urls: list[str]


Sites: TypeAlias = "str | Iterable[str]"
Found: TypeAlias = "Iterator[Named | list[Listed]]"


class NewsSpider(Spider):
    """Crawls the articles of news sites: ``scrapy crawl news -a sites=sites.txt``.

    *sites* is a file with a site on each line, names separated by commas, or, in Python, a list;
    without it the setting `MSS_SITES` is used. *limit* is how many articles of a site one crawl
    downloads at most.
    """

    name = "news"

    def __init__(self, sites: Sites = "", limit: int | str = 200, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.sites: dict[str, Site] = {}
        for front in sites_of(sites):
            name = site_of(front)
            self.sites.setdefault(name, Site(name)).fronts.append(front)
        self.limit = _limit(limit)
        self._links = LinkExtractor()

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Have the add-on enabled and what was seen remembered, unless a setting says otherwise."""
        super().update_settings(settings)
        settings.setdefault_in_component_priority_dict("ADDONS", Addon, 500)
        # Of a priority that the runner's own defaults do not replace.
        settings.set("ADDONS", settings.getdict("ADDONS"), priority="spider")
        settings.setdefault("MSS_ONLY_NEW", True)
        settings.setdefault("MSS_COPIES", COPIES_MARK)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        if not args and not kwargs.get("sites"):
            kwargs["sites"] = listed(crawler.settings.get("MSS_SITES"))
        feeds.check()
        spider = super().from_crawler(crawler, *args, **kwargs)
        if not spider.sites:
            raise SiteListError(
                "no sites: give a list, as in scrapy crawl news -a sites=sites.txt, or set "
                "MSS_SITES"
            )
        shard = read(crawler.settings).shard
        if shard is not None:
            own = {name: site for name, site in spider.sites.items() if shard.takes(name)}
            spider.logger.info("shard %s takes %d of %d sites", shard, len(own), len(spider.sites))
            spider.sites = own
        return spider

    async def start(self) -> AsyncIterator[Any]:
        """Read the front page and robots.txt of each site."""
        for site in self.sites.values():
            robots = [HtmlResponse(front).urljoin("/robots.txt") for front in site.fronts]
            for kind, urls in ((FRONT, site.fronts), (ROBOTS, robots)):
                for request in self._lists(site, kind, urls):
                    yield request

    def parse_list(self, response: Response, kind: str) -> Iterator[Request]:
        """Read a list of the *kind*; one that has not changed names what it named before."""
        site = self.sites[response.meta[SITE]]
        if response.status == NOT_MODIFIED:
            seen = self._seen.list(response.url) if self._seen else None
            for each, url in seen.lists if seen else ():
                yield from self._lists(site, each, [url])
            return
        for found in self.READERS[kind](self, response, site):
            if isinstance(found, Named):
                if self._seen:
                    self._seen.add_named(response.url, found.kind, found.urls)
                yield from self._lists(site, found.kind, found.urls)
            else:
                yield from self._articles(site, found)

    def read_front(self, response: Response, site: Site) -> Found:
        """Find feeds, sections, and what is probably an article, on a front page."""
        if isinstance(response, HtmlResponse):
            links = self._own_links(response, site)
            yield Named(SECTION, list(filter(is_section, links))[:MAX_SECTIONS])
            yield from self._named_by(response, links)

    def read_section(self, response: Response, site: Site) -> Found:
        """Find feeds, and what is probably an article, on the front page of a section."""
        if isinstance(response, HtmlResponse):
            yield from self._named_by(response, self._own_links(response, site))

    def read_feed(self, response: Response, _: Site) -> Found:
        """Find the articles of a feed."""
        if isinstance(response, TextResponse):
            yield newest_first(feeds.entries(response))

    def read_robots(self, response: Response, _: Site) -> Found:
        """Find the sitemaps that robots.txt names."""
        if isinstance(response, TextResponse):
            yield Named(SITEMAP, sitemaps.named_in_robots(response)[:MAX_SITEMAPS])

    def read_sitemap(self, response: Response, _: Site) -> Found:
        """Find the newest sitemaps of an index, and what a sitemap dates as new."""
        sitemap = sitemaps.read(response)
        newest = newest_first(sitemap.sitemaps)
        if len(newest) > MAX_SITEMAPS and not newest[0].minute:  # who knows at which end they are?
            newest = newest[: MAX_SITEMAPS // 2] + newest[-(MAX_SITEMAPS // 2) :]
        yield Named(SITEMAP, [each.url for each in newest[:MAX_SITEMAPS]])
        dated = (each for each in newest_first(sitemap.pages) if each.minute)
        yield [each for each in dated if self._is_probable(each.url)]

    READERS: ClassVar[Mapping[str, Callable[[Any, Response, Site], Found]]] = {
        FRONT: read_front,
        SECTION: read_section,
        FEED: read_feed,
        ROBOTS: read_robots,
        SITEMAP: read_sitemap,
    }

    def parse_article(self, response: Response) -> Iterable[Any] | None:
        """Yield nothing: the add-on makes the item of a page, and fills it."""

    def failed(self, failure: Failure) -> None:
        """Have the lists of a site read again by the next crawl, where something is missing."""
        error = failure.value
        if isinstance(error, HttpError):
            is_final = error.response.status in GONE
        else:
            is_final = isinstance(error, IgnoreRequest)  # robots.txt forbids it, say
        if self._seen and not is_final:
            request: Request = failure.request  # type: ignore[attr-defined]  # which Scrapy sets
            self._seen.leave_incomplete(request.meta[SITE])

    @property
    def _seen(self) -> SeenArticles | None:
        return MssExtension.of(self.crawler).seen

    def _own_links(self, front: HtmlResponse, site: Site) -> list[str]:
        """What *front* links to on the domain that is listed, or that it was redirected to."""
        own = {site.name, site_of(front.url)}
        urls = (link.url for link in self._links.extract_links(front))
        return [url for url in urls if site_of(url) in own]

    def _named_by(self, front: HtmlResponse, links: Iterable[str]) -> Found:
        yield Named(FEED, feeds.feeds_of(front)[:MAX_FEEDS])
        yield [Listed(url, 0) for url in links if self._is_probable(url)]

    def _is_probable(self, url: str) -> bool:
        memories = MssExtension.of(self.crawler).sites
        known = memories.addresses(url) if memories is not None else NOTHING_KNOWN
        return guess(url, known).probability >= PROBABLE

    def _lists(self, site: Site, kind: str, urls: Iterable[str]) -> Iterator[Request]:
        """Requests for the lists at *urls* that were not read in this crawl."""
        meta = {SKIP_EXTRACTION: True, SKIP_TRAINING: True, SITE: site.name}
        meta["handle_httpstatus_list"] = [NOT_MODIFIED]
        for url in urls:
            if url in site.lists or len(site.lists) >= MAX_LISTS:
                continue
            site.lists.add(url)
            yield Request(
                url,
                self.parse_list,
                errback=self.failed,
                meta=dict(meta),
                priority=LISTS_FIRST,
                cb_kwargs={"kind": kind},
            )

    def _articles(self, site: Site, found: Iterable[Listed]) -> Iterator[Request]:
        """Requests for the articles that are due, until the site has had its share."""
        now = int(time() // 60)
        for url, minute, moments in self._due(site, found, now):
            key = address_key(url)
            if key in site.asked:
                continue
            if len(site.asked) >= self.limit:
                if self._seen:
                    self._seen.leave_incomplete(site.name)
                return
            site.asked.add(key)
            yield Request(
                url,
                self.parse_article,
                errback=self.failed,
                meta={LISTED: minute, LISTED_MOMENTS: list(moments), SITE: site.name},
                priority=-max(now - minute if minute else UNDATED, 0) // 60,
            )

    def _due(self, site: Site, found: Iterable[Listed], now: int) -> Iterator[Listed]:
        """Those of *found* that are neither old nor known to be as they were."""
        rest = iter(found)
        while some := list(islice(rest, DUE_AT_ONCE)):
            asked = [
                each
                for each in some
                if address_key(each.url) not in site.asked
                and not (each.minute and now - each.minute > MAX_AGE)
            ]
            if self._seen:
                due = self._seen.due([(each.url, each.minute) for each in asked])
                asked = [*compress(asked, due)]
            yield from asked


def _limit(given: int | str) -> int:
    try:
        limit = int(given)
    except ValueError:
        limit = -1
    if limit < 0:
        raise ValueError(f"limit: expected a number of articles, got {given!r}")
    return limit
