"""Spider middlewares: an item per page, a priority per request, no requests for other shards."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, cast

from scrapy.http import Request, Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from scrapy.utils.misc import load_object

from scrapy_mss import stats
from scrapy_mss.crawl.extension import Component, MssExtension, needed
from scrapy_mss.crawl.pages import ANNOUNCED, SITE, SKIP_EXTRACTION, is_page
from scrapy_mss.pages.addresses import site_of
from scrapy_mss.settings import SettingError
from scrapy_mss.sites.address_counts import MIN_PAGES

if TYPE_CHECKING:
    from scrapy import Spider


# Steps of priority: more than links of most crawls are deep, for which Scrapy may take one each.
# With a JOBDIR, Scrapy keeps a queue for each.
LEVELS = 10
PRIORITY_OF = "mss_priority_of"  # in Request.meta: the address that a priority was given for


class ArticleMiddleware(Component):
    """Gives every HTML page an item that the pipeline fills, and notes what is announced.

    Items that the spider yields for a page are the page's items; only for a page without any, one
    is made. It belongs near the spider, so that it sees items as the spider made them.
    """

    def __init__(self, extension: MssExtension) -> None:
        super().__init__(extension)
        self._url_field = extension.options.field_name("url")
        self._item_class = _loaded(extension.options.item_class)
        self._made("about:blank")  # a class that cannot be made of an address stops the crawl here

    async def process_start(self, start: AsyncIterator[Any]) -> AsyncIterator[Any]:
        async for each in start:
            if isinstance(each, Request):
                self._announce(each)
            yield each

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any], spider: Spider | None = None
    ) -> AsyncIterator[Any]:
        page = response if is_page(response, response.request) else None
        if page is not None and page.meta.get(SKIP_EXTRACTION):
            page = None
        yielded = False
        async for each in result:
            if isinstance(each, Request):
                self._announce(each)
            elif each is not None:
                yielded = True
                if page is not None:
                    self._item_pages.put(each, page, False)
            yield each
        if page is not None and not yielded:
            item = self._made(page.url)
            self._item_pages.put(item, page, True)
            yield item

    def _announce(self, request: Request) -> None:
        if ANNOUNCED in request.meta and self._fates is not None:
            self._fates.announce(request)

    def _made(self, url: str) -> object:
        name = self._url_field
        values = {name: url} if name else {}
        try:
            return self._item_class(**values)
        except (KeyError, TypeError) as error:
            given = f"{name!r} alone" if name else "no argument"
            raise SettingError(
                f"MSS_ITEM_CLASS: expected a class that can be called with {given}, got "
                f"{self._item_class!r}: {error}. Give its other fields defaults, or name "
                "its field for the URL in MSS_FIELD_MAP"
            ) from error


class LinkPriority(Component):
    """Has pages downloaded first whose address is probably that of an article.

    With `MSS_LINK_PRIORITY`, requests get more priority, by how probable that is; with a number,
    those that are less probable are dropped. What other pages of the site were at such addresses is
    known from its memory, while there is one.
    """

    def __init__(self, extension: MssExtension) -> None:
        super().__init__(extension)
        given = needed(self._options.link_priority or None)  # 0 is off
        self._least = given if given < 1 else 0.0
        self._sites, self._guess = extension.sites, extension.guess

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any], spider: Spider | None = None
    ) -> AsyncIterator[Any]:
        if self._sites is not None:
            self._sites.recall(response.url)
        async for each in result:
            if not isinstance(each, Request) or each.method != "GET" or self._is_taken(each):
                yield each

    def _is_taken(self, request: Request) -> bool:
        """Give *request* its priority; whether it is to be sent at all."""
        probability, pages = self._guess(request.url)
        if pages >= MIN_PAGES and probability < self._least:
            self._stats.add(stats.LINKS_DROPPED)
            return False
        if request.meta.get(PRIORITY_OF) != request.url:  # once, also for a page asked for again
            request.meta[PRIORITY_OF] = request.url
            request.priority += round(probability * LEVELS)
        return True


class ShardMiddleware(Component, BaseSpiderMiddleware):
    """Drops requests for sites that another shard takes (`MSS_SHARD`).

    It sees what spiders yield: redirects, pictures and further pages of an article belong to the
    page that they come from, wherever they are.
    """

    def __init__(self, extension: MssExtension) -> None:
        Component.__init__(self, extension)
        self._shard = needed(self._options.shard)

    def get_processed_request(self, request: Request, response: Response | None) -> Request | None:
        """Pass on *request* if this crawl takes it; one with a site in its meta is of that site."""
        if self._shard.takes(request.meta.get(SITE) or site_of(request.url)):
            return request
        self._stats.add(stats.SHARD_DROPPED)
        return None


def _loaded(item_class: str | type) -> Callable[..., object]:
    try:
        return cast("Callable[..., object]", load_object(item_class))
    except (AttributeError, ImportError, NameError, TypeError, ValueError) as error:
        expected = "expected a class or its dotted path"
        raise SettingError(f"MSS_ITEM_CLASS: {expected}, got {item_class!r}: {error}") from error
