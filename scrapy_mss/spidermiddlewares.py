"""One item a page: pairs the spider's items with their page, and makes one where there is none."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, cast

from scrapy.exceptions import NotConfigured
from scrapy.http import Request, Response
from scrapy.utils.misc import load_object

from scrapy_mss.crawl.session import SKIP_EXTRACTION, Session, is_page
from scrapy_mss.settings import SettingError, enabled

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from typing_extensions import Self


class ArticleMiddleware:
    """Gives every HTML page an item that the pipeline fills.

    Items that the spider yields for a page are the page's items; only for a page without any, one
    is made. It must stand near the spider, so that it sees items as the spider made them.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.item_class = _loaded(session.options.item_class)
        self._made("about:blank")  # a class that cannot be made of an address stops the crawl here

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not enabled(crawler.settings):
            raise NotConfigured("MSS_ENABLED is off")
        return cls(Session.of(crawler))

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any], spider: Spider | None = None
    ) -> AsyncIterator[Any]:
        """Pass on what the spider yields, and the page's item."""
        page = response if _wanted(response) else None
        yielded = False
        async for each in result:
            if not isinstance(each, Request) and each is not None:
                yielded = True
                if page is not None:
                    self.session.pair(each, page, made=False)
            yield each
        if page is not None and not yielded:
            item = self._made(page.url)
            self.session.pair(item, page, made=True)
            yield item

    def _made(self, url: str) -> object:
        name = self.session.options.field_map.get("url", "url")
        values = {name: url} if name else {}
        try:
            return self.item_class(**values)
        except (KeyError, TypeError) as error:
            given = f"{name!r} alone" if name else "nothing"
            raise SettingError(
                f"MSS_ITEM_CLASS: expected a class that can be made of {given}, got "
                f"{self.item_class!r}: {error}. Give its other fields defaults, or say in "
                "MSS_FIELD_MAP what it calls the url"
            ) from error


def _loaded(item_class: str | type) -> Callable[..., object]:
    try:
        return cast("Callable[..., object]", load_object(item_class))
    except (AttributeError, ImportError, NameError, TypeError, ValueError) as error:
        expected = "expected a class or its dotted path"
        raise SettingError(f"MSS_ITEM_CLASS: {expected}, got {item_class!r}: {error}") from error


def _wanted(response: Response) -> bool:
    request = response.request
    return (
        request is not None
        and is_page(request, response)
        and not response.meta.get(SKIP_EXTRACTION)
    )
