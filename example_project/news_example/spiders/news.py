"""Follows the links of news sites; what is an article is found by scrapy-mss."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor


class NewsSpider(Spider):
    """Crawls whole sites: ``scrapy crawl news -a start=https://a.example/,https://b.example/``."""

    name = "news"

    def __init__(self, start: str = "", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.start_addresses = [address for address in start.split(",") if address]
        hosts = {urlsplit(address).hostname or "" for address in self.start_addresses}
        self.links = LinkExtractor(allow_domains=[host.removeprefix("www.") for host in hosts])

    async def start(self) -> AsyncIterator[Any]:
        if not self.start_addresses:
            self.logger.error("nowhere to start: scrapy crawl news -a start=https://…")
        for address in self.start_addresses:
            yield Request(address)

    def parse(self, response: Response, **_: Any) -> Iterator[Request]:
        """Follow links; no item is yielded, the add-on makes one of each page."""
        if isinstance(response, HtmlResponse):
            for link in self.links.extract_links(response):
                yield response.follow(link)
