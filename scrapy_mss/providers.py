"""Provides an `Article` to callbacks and page objects through scrapy-poet (extra `poet`).

    def parse(self, response, article: Article): ...

The add-on registers it; scrapy-poet's own add-on, `scrapy_poet.Addon`, has to be enabled, too. The
page is read once, even if the callback yields the article and the pipeline processes it. A page
without an article gives an `Article` with its URL and a probability of 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from scrapy.http import HtmlResponse, Response
from scrapy_poet.injection import Injector
from scrapy_poet.page_input_providers import PageObjectInputProvider

from scrapy_mss.crawl.extension import MssExtension
from scrapy_mss.items import Article


class ArticleProvider(PageObjectInputProvider):
    """Provides `Article`, extracted from the response of the request."""

    provided_classes = {Article}  # noqa: RUF012 - as the base class has it
    name = "mss_article"

    def __init__(self, injector: Injector) -> None:
        super().__init__(injector)  # type: ignore[no-untyped-call]
        # Settings that cannot be used stop the crawl here.
        self._reader = MssExtension.of(injector.crawler).reader_for_component()

    async def __call__(
        self, to_provide: set[Callable[..., Any]], response: Response
    ) -> Sequence[Article]:
        if not isinstance(response, HtmlResponse):
            return [Article(url=response.url, probability=0.0)]
        result = await self._reader.article_of(response)
        return [Article(**{"url": response.url, **result.values})]
