"""One item a page: pairs the spider's items with their page, and makes one where there is none."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, cast

from scrapy.http import Request, Response
from scrapy.utils.misc import load_object

from scrapy_mss.crawl.extension import MssExtension
from scrapy_mss.crawl.pages import SKIP_EXTRACTION, is_page
from scrapy_mss.settings import SettingError

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from typing_extensions import Self


class ArticleMiddleware:
    """Gives every HTML page an item that the pipeline fills.

    Items that the spider yields for a page are the page's items; only for a page without any, one
    is made. It belongs near the spider, so that it sees items as the spider made them.
    """

    def __init__(self, extension: MssExtension) -> None:
        self._item_pages = extension.item_pages
        self._url_field = extension.options.field_map.get("url", "url")
        self._item_class = _loaded(extension.options.item_class)
        self._made("about:blank")  # a class that cannot be made of an address stops the crawl here

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(MssExtension.of(crawler))

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any], spider: Spider | None = None
    ) -> AsyncIterator[Any]:
        """Pass on what the spider yields, and the page's item."""
        page = response if is_page(response, response.request) else None
        if page is not None and page.meta.get(SKIP_EXTRACTION):
            page = None
        yielded = False
        async for each in result:
            if not isinstance(each, Request) and each is not None:
                yielded = True
                if page is not None:
                    self._item_pages.pair(each, page, made=False)
            yield each
        if page is not None and not yielded:
            item = self._made(page.url)
            self._item_pages.pair(item, page, made=True)
            yield item

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


def _loaded(item_class: str | type) -> Callable[..., object]:
    try:
        return cast("Callable[..., object]", load_object(item_class))
    except (AttributeError, ImportError, NameError, TypeError, ValueError) as error:
        expected = "expected a class or its dotted path"
        raise SettingError(f"MSS_ITEM_CLASS: {expected}, got {item_class!r}: {error}") from error
