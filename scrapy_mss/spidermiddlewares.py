"""One item a page: pairs the spider's items with their page, and makes one where there is none."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse, Request, Response
from scrapy.utils.misc import load_object

from scrapy_mss.session import SKIP_EXTRACTION, Session, is_page

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
        self.item_class = load_object(session.options.item_class)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not crawler.settings.getbool("MSS_ENABLED", True):
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
            item = self._made(page)
            self.session.pair(item, page, made=True)
            yield item

    def _made(self, page: HtmlResponse) -> object:
        name = self.session.options.field_map.get("url", "url")
        return self.item_class(**{name: page.url} if name else {})


def _wanted(response: Response) -> bool:
    request = response.request
    return (
        request is not None
        and is_page(request, response)
        and not response.meta.get(SKIP_EXTRACTION)
    )
