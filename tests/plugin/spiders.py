"""The spiders of the test crawls; *urls* is what each is given to fetch."""

from __future__ import annotations

import os
import resource
import shutil
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import psutil
from scrapy import Request, Spider, signals
from scrapy.http import Response, TextResponse

from scrapy_mss.crawl.extension import MssExtension
from scrapy_mss.items import Article
from scrapy_mss.spiders.news import NewsSpider
from tests.plugin.items import MAKERS, OWN_TITLE

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self


class Silent(Spider):
    """Fetches pages and yields nothing; *meta* goes with each request."""

    name = "silent"
    urls: list[str]
    meta: dict[str, Any] | None = None

    async def start(self) -> AsyncIterator[Any]:
        for url in self.urls:
            yield Request(url, meta=dict(self.meta or {}), dont_filter=True)

    def parse(self, response: Response, **_: Any) -> Any:
        """Yield nothing."""


class Following(Silent):
    """Follows *links* from each page that it was given."""

    name = "following"
    links: list[str]

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        if response.url in self.urls:
            yield from (Request(link) for link in self.links)


class FollowingNext(Silent):
    """Follows `rel=next` of every page."""

    name = "following-next"

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        assert isinstance(response, TextResponse)
        yield from response.follow_all(response.css("link[rel=next]::attr(href)"))


class Own(Silent):
    """Yields an item of the kind that the address asks for, with a title if it says so."""

    name = "own"

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        asked = parse_qs(urlsplit(response.url).query)
        title = {"title": OWN_TITLE} if "title" in asked else {}
        for kind in asked["item"]:
            yield MAKERS[kind](url=response.url, **title)


class Asking(Silent):
    """Asks scrapy-poet for the article, and yields it."""

    name = "asking"

    def parse(self, response: Response, article: Article) -> Iterator[Any]:  # type: ignore[override]
        yield article


class Paths(Silent):
    """Asks for its own items by its own settings."""

    name = "paths"
    custom_settings = {  # noqa: RUF012 - as Scrapy's documentation has it
        "ADDONS": {"scrapy_mss.Addon": 500},
        "MSS_EMIT": "all",
        "MSS_FIELD_MAP": {"text": "body", "html": ""},
        "MSS_ITEM_CLASS": "builtins.dict",
    }


class Disturbing(Silent):
    """Does to its crawl or its store what is asked for when it gets so many pages.

    With each page it waits for the checkpoint in progress: what is stored when does not depend on
    how busy the machine is.
    """

    name = "disturbing"
    at: int
    disturbance: str
    count = 0

    def parse(self, response: Response, **_: Any) -> Any:
        """Yield nothing."""
        MssExtension.of(self.crawler).checkpoints.settle()
        self.count += 1
        if self.count == self.at:
            DISTURBANCES[self.disturbance](Path(self.settings["MSS_STORE"]))

    def closed(self, _reason: str) -> None:
        """Undo the disturbance, or the results could not be written."""
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def _block(store: Path) -> None:
    shutil.rmtree(store, ignore_errors=True)
    store.touch()


DISTURBANCES: dict[str, Callable[[Path], object]] = {
    "kill": lambda _: os.kill(os.getpid(), signal.SIGKILL),
    "block": _block,
    "fill": lambda _: resource.setrlimit(resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY)),
}


class _Observer:
    """An extension that is told of responses and items."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler, self.count = crawler, 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        extension = cls(crawler)
        crawler.signals.connect(extension.received, signals.response_received)
        crawler.signals.connect(extension.scraped, signals.item_scraped)
        return extension

    def received(self) -> None:
        """Do nothing."""

    def scraped(self) -> None:
        self.count += 1


class WorkerKiller(_Observer):
    """An extension that kills a worker process when the fifth item is there."""

    AT = 5

    def scraped(self) -> None:
        super().scraped()
        if self.count == self.AT:
            os.kill(psutil.Process().children()[0].pid, signal.SIGKILL)


class ScraperMeter(_Observer):
    """An extension that writes into the stats how many pages Scrapy's scraper had at once."""

    STAT = "test/scraper"

    def received(self) -> None:
        self.scraped()

    def scraped(self) -> None:
        assert self.crawler.engine is not None
        assert self.crawler.stats is not None
        slot = self.crawler.engine.scraper.slot
        self.crawler.stats.max_value(self.STAT, len(slot.active) if slot else 0)


class MemoryMeter(_Observer):
    """An extension that writes the process's memory into the stats, every twenty items."""

    EVERY = 20
    STAT = "test/rss"

    def scraped(self) -> None:
        super().scraped()
        if self.count % self.EVERY == 0:
            assert self.crawler.stats is not None
            measured = self.crawler.stats.get_value(self.STAT, [])
            measured.append((self.count, psutil.Process().memory_info().rss))
            self.crawler.stats.set_value(self.STAT, measured)


SPIDERS: dict[str, type[Spider]] = {
    spider.name: spider
    for spider in (
        *(Silent, Following, FollowingNext),
        *(Own, Asking, Paths, Disturbing),
        NewsSpider,
    )
}
