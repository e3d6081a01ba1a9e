"""A spider that needs only a list of news sites.

For each site it reads everything that lists articles: the front page and section pages, the feeds
that these declare, and the news sitemaps in robots.txt. Addresses that are probably articles are
downloaded, newest first, except those that an earlier crawl has seen (`MSS_ONLY_NEW`).
"""

from __future__ import annotations

from asyncio import Lock, sleep
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from weakref import WeakValueDictionary, finalize

from scrapy import Request, Spider, signals
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Response
from scrapy.spidermiddlewares.httperror import HttpError

from scrapy_mss import stats
from scrapy_mss.addon import Addon
from scrapy_mss.blocks.fed_text import FedText
from scrapy_mss.crawl import _compat
from scrapy_mss.crawl.extension import MssExtension
from scrapy_mss.crawl.hosts import ORDER, PublicHosts, Scope, web_host
from scrapy_mss.crawl.pages import (
    ANNOUNCED,
    LISTED,
    LISTED_MOMENTS,
    LISTED_TEXT,
    NOT_MODIFIED,
    SITE,
    SKIP_EXTRACTION,
    SKIP_TRAINING,
    header,
    listed_text,
)
from scrapy_mss.pages.addresses import site_of
from scrapy_mss.pages.kinds import ARTICLE
from scrapy_mss.quality import fates
from scrapy_mss.seen.keys import address_key
from scrapy_mss.settings import COPIES_MARK, listed, read
from scrapy_mss.spiders.lists import (
    FEED,
    FRONT,
    MAX_BYTES,
    PAGES,
    ROBOTS,
    About,
    ListAnswer,
    Listed,
    ListReader,
    check_feedparser,
)
from scrapy_mss.spiders.site_lists import SiteListError, entries_of
from scrapy_mss.storage.checkpoints import completed
from scrapy_mss.storage.tables import minute_now

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure
    from typing_extensions import Self

    from scrapy_mss.crawl.fates import Fates
    from scrapy_mss.seen.articles import SeenArticles

MAX_LISTS: Final = 200  # of a site in all: sitemaps may name sitemaps without an end
MAX_AGE: Final = 7 * 24 * 60  # minutes: what a list has that is older is its archive
LISTS_FIRST: Final = 1000  # priority, so that the newest of all that is listed comes first
UNDATED: Final = 24 * 60  # minutes: how old an article without a date is taken to be
MAX_SECONDS: Final = 30  # of processor time for the lists of a site; a list has a limit of its own
MAX_TEXTS: Final = 2**21  # characters of all texts of a site that requests bring along in a crawl
MAX_WAITING: Final = 2**26  # of all that wait at a time: of most languages that is a byte each
MAX_BODY: Final = {"download_maxsize": MAX_BYTES, "download_warnsize": 0}

# Why a list is not read, beside what its process says.
SLOW: Final = "slow"  # others of its site took too long
NOT_HTML: Final = "not_html"  # a front or section page
GONE: Final = frozenset({404, 410})
PROBABLE: Final = 0.5
TOO_OFTEN: Final = "max redirections reached"  # the message of Scrapy's middleware


@dataclass(slots=True)
class ListedSite:
    """A site of the list, in this crawl."""

    name: str  # the registered domain
    fronts: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)  # that the list of sites names beside it
    meta: dict[str, Any] = field(default_factory=dict)  # that it has for requests of pages
    domains: set[str] = field(default_factory=set)  # its own, and where its front pages are now
    asked: set[int] = field(default_factory=set)  # keys of the addresses of its articles
    lists: set[str] = field(default_factory=set)
    seconds: float = 0.0  # of processor time that its lists took
    waiting: WeakValueDictionary[int, Request] = field(default_factory=WeakValueDictionary)
    failed: set[int] = field(default_factory=set)  # of `asked`, those whose download failed
    text_left: int = MAX_TEXTS  # how much more text requests may have
    turn: Lock = field(default_factory=Lock)  # of one list at a time, to know `seconds` before it
    is_full: bool = False  # whether there are more articles than the limit
    is_off_site: bool = False  # whether it was logged that its lists name other sites

    @property
    def scope(self) -> Scope:
        return Scope(frozenset({self.name, *self.domains}), frozenset(self.hosts))


Sites: TypeAlias = "str | Iterable[str]"


class NewsSpider(Spider):
    """Crawls the articles of news sites: ``scrapy crawl news -a sites=sites.txt``.

    *sites* is a file with a site on each line, names separated by commas, or, in Python, a list;
    without it the setting `MSS_SITES` is used. *limit* is how many articles of a site one crawl
    downloads at most.
    """

    name = "news"

    def __init__(self, sites: Sites = "", limit: int | str = 200, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.sites: dict[str, ListedSite] = {}
        for entry in entries_of(sites):
            name = site_of(entry.front)
            site = self.sites.setdefault(name, ListedSite(name))
            site.fronts.append(entry.front)
            site.hosts.update(entry.hosts)
            site.meta.update(entry.meta)
        self.limit = _limit(limit)
        self.text_left = MAX_WAITING
        self.list_reader = ListReader()

    @property
    def named_hosts(self) -> set[str]:
        """The hosts in the list of sites, which `PublicHosts` permits even if they are private."""
        fronts = {web_host(front) or "" for site in self.sites.values() for front in site.fronts}
        return fronts.union(*(site.hosts for site in self.sites.values()))

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Enable the add-on and the memory of seen articles, unless a setting says otherwise."""
        super().update_settings(settings)
        enabled = (("ADDONS", Addon, 500), ("DOWNLOADER_MIDDLEWARES", PublicHosts, ORDER))
        for name, component, order in enabled:
            settings.setdefault_in_component_priority_dict(name, component, order)
            # Of a priority that the runner's own defaults do not replace.
            settings.set(name, settings.getdict(name), priority="spider")
        settings.setdefault("MSS_ONLY_NEW", True)
        settings.setdefault("MSS_COPIES", COPIES_MARK)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        if not args and not kwargs.get("sites"):
            kwargs["sites"] = listed(crawler.settings.get("MSS_SITES"))
        check_feedparser()
        spider = super().from_crawler(crawler, *args, **kwargs)
        if not spider.sites:
            raise SiteListError(
                "no sites: give a list, as in scrapy crawl news -a sites=sites.txt, or set "
                "MSS_SITES"
            )
        shard = read(crawler.settings).shard
        crawler.signals.connect(spider.list_reader.close, signals.spider_closed)
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

    async def parse_list(self, response: Response, kind: str) -> AsyncIterator[Request]:
        """Read a list of the *kind*; one that has not changed names what it named before."""
        site = self.sites[response.meta[SITE]]
        if kind in (FRONT, ROBOTS):  # where the site has moved to
            site.domains.add(site_of(response.url))
        is_known = response.status == NOT_MODIFIED
        answer = self._known(response) if is_known else await self._read(response, kind, site)
        if answer is None:
            return
        for each, urls in answer.lists.items():
            if self._seen and not is_known:
                self._seen.add_named(response.url, each, urls)
            for request in self._lists(site, each, urls):
                yield request
        self._drop_old(site, answer.old, guessed=kind != FEED)
        for some in answer.chunks():
            if site.is_full and (self._fates is None or self._fates.is_full(site.name)):
                break
            self._add_details(site, some)
            for request in (
                *self._again(site, some),
                *self._articles(site, some, guessed=kind != FEED),
            ):
                yield request
            if _compat.runs_asyncio():
                await sleep(0)  # let other tasks run

    def _known(self, response: Response) -> ListAnswer:
        """What a list named when an earlier crawl read it."""
        seen = self._seen.list(response.url) if self._seen else None
        lists: dict[str, list[str]] = {}
        for kind, url in seen.lists if seen else ():
            lists.setdefault(kind, []).append(url)
        return ListAnswer(lists)

    async def _read(self, response: Response, kind: str, site: ListedSite) -> ListAnswer | None:
        """The contents of a list; None if it cannot be read, which is logged and counted."""
        async with site.turn:
            answer = await self._answer(response, kind, site)
        if answer is None:
            return None
        site.seconds += answer.seconds
        if answer.off_site and not site.is_off_site:
            site.is_off_site = True
            self.logger.info(
                "scrapy-mss: lists of %s name addresses of other sites, such as %.200s, which are "
                "left out; to have them, name the host in MSS_SITES, on the line of the site",
                site.name,
                answer.off_site,
            )
        if not answer.reason:
            return answer
        self.logger.warning("scrapy-mss: %s cannot be read: %s", response.url, answer.details)
        MssExtension.of(self.crawler).stats.add(stats.LISTS_FAILED, reason=answer.reason)
        # What is not HTML stays so until it changes, and then the server sends it again.
        if self._seen and answer.reason != NOT_HTML:
            self._seen.leave_incomplete(site.name)
        return None

    async def _answer(self, response: Response, kind: str, site: ListedSite) -> ListAnswer | None:
        """The contents of a list, or why it cannot be read; None if the crawl ends."""
        if kind in PAGES and not isinstance(response, HtmlResponse):
            details = f"expected HTML, got {type(response).__name__}"
            return ListAnswer({}, reason=NOT_HTML, details=details)
        if site.seconds >= MAX_SECONDS:
            details = f"the lists of {site.name} take too long"
            return ListAnswer({}, reason=SLOW, details=details)
        since = minute_now() - MAX_AGE
        content_type = header(response, "Content-Type")
        about = About(kind, response.url, content_type, site.name, site.scope, since)
        answer = self.list_reader.read(about, response.body)
        await completed(answer)
        return None if answer.cancelled() else answer.result()

    def request_meta(self, site: str, kind: str) -> dict[str, Any]:
        """What the meta of a request of *site* has beside our own keys; override it for more.

        The *kind* is `article`, `front`, `section`, `feed`, `robots` or `sitemap`. What the list of
        sites names is for the first three, which are pages: a browser gives no feed.
        """
        return self.sites[site].meta if kind == ARTICLE or kind in PAGES else {}

    def parse_article(self, response: Response) -> Iterable[Any] | None:
        """Yield nothing: the add-on makes the item of a page, and fills it."""

    def failed(self, failure: Failure) -> None:
        """After a failed download, have the next crawl read the lists of the site again."""
        error = failure.value
        status = error.response.status if isinstance(error, HttpError) else None
        is_refused = isinstance(error, IgnoreRequest) and status is None  # by robots.txt, say
        request: Request = failure.request  # type: ignore[attr-defined]  # which Scrapy sets
        mark = request.meta.get(ANNOUNCED)
        site = self.sites.get(request.meta.get(SITE, ""))  # None in a resumed crawl of other sites
        if mark and site is not None and not is_refused and not request.meta.get(LISTED_TEXT):
            site.failed.add(mark[1])
        if self._fates and TOO_OFTEN in str(error):
            self._fates.decide(request, fates.REDIRECTS)
        if self._seen and not is_refused and status not in GONE:
            self._seen.leave_incomplete(request.meta[SITE])

    @property
    def _seen(self) -> SeenArticles | None:
        return MssExtension.of(self.crawler).seen

    @property
    def _fates(self) -> Fates | None:
        return MssExtension.of(self.crawler).fates

    def _drop_old(self, site: ListedSite, urls: Iterable[str], *, guessed: bool) -> None:
        """Note articles that a list dates before what is asked for."""
        counted = self._fates
        for url in urls:
            if counted is None or counted.is_full(site.name, of_old=True):
                return
            key = address_key(url)
            if key not in site.asked and (not guessed or self._is_probable(url)):
                counted.set(site.name, key, url, fates.AGE)

    def _is_probable(self, url: str) -> bool:
        return MssExtension.of(self.crawler).guess(url).probability >= PROBABLE

    def _lists(self, site: ListedSite, kind: str, urls: Iterable[str]) -> Iterator[Request]:
        """Requests for the lists at *urls* that were not read in this crawl."""
        meta = {SKIP_EXTRACTION: True, SKIP_TRAINING: True, SITE: site.name}
        meta |= {"handle_httpstatus_list": [NOT_MODIFIED], **MAX_BODY}
        scope = site.scope
        for url in urls:
            if url in site.lists or len(site.lists) >= MAX_LISTS or not scope.has(url):
                continue
            site.lists.add(url)
            yield Request(
                url,
                self.parse_list,
                errback=self.failed,
                meta={**self.request_meta(site.name, kind), **meta},
                priority=LISTS_FIRST,
                cb_kwargs={"kind": kind},
            )

    def _articles(
        self, site: ListedSite, listed: Iterable[Listed], *, guessed: bool
    ) -> Iterator[Request]:
        """Requests for the articles that are due, up to the limit of the site.

        Those of a list that has other pages, too, are *guessed* by their addresses.
        """
        for key, each in self._due(site, listed):
            url = each.url
            if key in site.asked or (guessed and not self._is_probable(url)):
                continue
            if len(site.asked) >= self.limit:
                site.is_full = True
                if self._seen:
                    self._seen.leave_incomplete(site.name)
                if self._fates:
                    self._fates.set(site.name, key, url, fates.LIMIT)
                continue
            site.asked.add(key)
            request = site.waiting[key] = self._article(site, key, each)
            yield request

    def _again(self, site: ListedSite, listed: Iterable[Listed]) -> Iterator[Request]:
        """Requests for pages that could not be had before a feed was read that has their texts."""
        for each in listed if site.failed else ():
            if each.text is None or not each.text.is_whole:
                continue
            key = address_key(each.url)
            if key in site.failed:
                site.failed.remove(key)
                request = self._article(site, key, each, again=True)
                if listed_text(request):
                    yield request

    def _article(
        self, site: ListedSite, key: int, listed: Listed, *, again: bool = False
    ) -> Request:
        """The request for an article, whose address has that *key*."""
        ours = {**listed._replace(text=None).meta, SITE: site.name, ANNOUNCED: [site.name, key]}
        age = minute_now() - listed.minute if listed.minute else UNDATED
        request = Request(
            listed.url,
            self.parse_article,
            errback=self.failed,
            meta={**self.request_meta(site.name, ARTICLE), **ours},
            priority=-max(age, 0) // 60,
            dont_filter=again,
        )
        self._add_text(site, request, listed.text)
        return request

    def _add_details(self, site: ListedSite, listed: Iterable[Listed]) -> None:
        """Have the requests that wait for pages of a list bring along what it says of them.

        Front pages, which name the same articles, are read before feeds and sitemaps.
        """
        for each in listed:
            has_details = each.text or each.minute
            request = site.waiting.get(address_key(each.url)) if has_details else None
            if request is None:
                continue
            self._add_text(site, request, each.text)
            request.meta[LISTED] = max(request.meta[LISTED], each.minute)
            if not any(request.meta[LISTED_MOMENTS]):
                request.meta[LISTED_MOMENTS] = list(each.moments)

    def _add_text(self, site: ListedSite, request: Request, text: FedText | None) -> None:
        """Have *request* bring along what its feed has of the page, within the limits."""
        if text is None or listed_text(request):
            return
        length = len(text.html)
        if length <= min(site.text_left, self.text_left):
            site.text_left -= length
            self.text_left -= length
            request.meta[LISTED_TEXT] = text
            finalize(request, self._forget_text, length).atexit = False

    def _forget_text(self, length: int) -> None:
        self.text_left += length

    def _due(self, site: ListedSite, listed: Iterable[Listed]) -> Iterator[tuple[int, Listed]]:
        """Those that were not asked for in this crawl and are to be read, with their keys."""
        keyed = ((address_key(each.url), each) for each in listed)
        rest = [(key, each) for key, each in keyed if key not in site.asked]
        if not self._seen:
            yield from rest
            return
        due = self._seen.due([(each.url, each.minute) for _, each in rest])
        for (key, each), is_due in zip(rest, due, strict=True):
            if is_due:
                yield key, each
            elif self._fates:
                self._fates.set(site.name, key, each.url, fates.NOT_DUE)


def _limit(given: int | str) -> int:
    try:
        limit = int(given)
    except ValueError:
        limit = -1
    if limit < 0:
        raise ValueError(f"limit: expected a number of articles, got {given!r}")
    return limit
