"""The plugin's parts without a crawl: made for a crawler, asked directly, with its stats."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import DropItem
from scrapy.http import HtmlResponse, Response

from scrapy_mss.downloadermiddlewares import TrainingMiddleware
from scrapy_mss.pipelines import ArticlePipeline
from scrapy_mss.spidermiddlewares import ArticleMiddleware, LinkPriority

URL = "http://127.0.0.1/wrapped/1"
DROPPED = DropItem("by another pipeline")
Parts = tuple[Crawler, ArticleMiddleware, ArticlePipeline]  # of a crawler, and that
MakeCrawler = Callable[..., Crawler]  # what the fixture `crawler_of` is


def page(html: str, url: str = URL, **meta: object) -> HtmlResponse:
    request = Request(url, meta=meta)
    return HtmlResponse(url, body=html.encode(), encoding="utf-8", request=request)


def items_of(
    part: ArticleMiddleware | LinkPriority,
    response: Response,
    *yielded: object,
) -> list[Any]:
    """What leaves *part* for a page whose callback yields *yielded*."""

    async def result() -> AsyncIterator[object]:
        for each in yielded:
            yield each

    async def gathered() -> list[Any]:
        return [each async for each in part.process_spider_output(response, result())]

    return asyncio.run(gathered())


def processed(part: ArticlePipeline, *items: object) -> Any:
    """What leaves *part* for one item, or for several at once."""

    async def gathered() -> list[Any]:
        return await asyncio.gather(*map(part.process_item, items))

    done = asyncio.run(gathered())
    return done[0] if len(items) == 1 else done


def passed(part: TrainingMiddleware, response: Response) -> Response:
    """What *part* passes on for *response*."""
    assert response.request is not None
    return asyncio.run(part.process_response(response.request, response))


def reading_parts(crawler: Crawler) -> tuple[ArticleMiddleware, ArticlePipeline]:
    """The parts that give pages their items, and items their articles."""
    return ArticleMiddleware.from_crawler(crawler), ArticlePipeline.from_crawler(crawler)


def stat(crawler: Crawler, name: str) -> float:
    assert crawler.stats is not None
    return float(crawler.stats.get_value(f"mss/{name}", 0))


def tell(
    crawler: Crawler, signal: object, item: object, response: Response, **about: object
) -> None:
    """Send *signal*, as Scrapy does when an item leaves the pipelines."""
    known = {"item": item, "response": response, "spider": None, "exception": DROPPED, **about}
    crawler.signals.send_catch_log(signal, **known)
