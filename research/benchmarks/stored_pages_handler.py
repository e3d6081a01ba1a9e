"""A download handler that serves stored pages instead of the network: real pages in a real crawl.

    DOWNLOAD_HANDLERS = {"https": "research.benchmarks.stored_pages_handler.StoredPagesHandler"}
    STORED_PAGES = ["pages.jsonl.xz", "news.warc.gz"]

The response is the page that was stored under the request's URL, or has status 404. Pages are kept
compressed.
"""

from __future__ import annotations

import logging
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag

import scrapy
from scrapy.http import HtmlResponse, Request, Response
from w3lib.url import canonicalize_url

from scrapy_mss.files.sources import Source

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

logger = logging.getLogger(__name__)


class StoredPagesHandler:
    """A download handler that answers from files."""

    lazy = False

    def __init__(self, crawler: Crawler) -> None:
        self._pages: dict[str, bytes] = {}
        for path in crawler.settings.getlist("STORED_PAGES"):
            self._read(Path(path))

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _read(self, path: Path) -> None:
        source = Source(path)
        for page in source:
            packed = zlib.compress(page.html.encode("utf-8", "replace"), 1)
            self._pages.setdefault(canonicalize_url(page.url), packed)
        if source.skipped.count:
            logger.warning("scrapy-mss: %s: skipped %d records", path, source.skipped.count)

    def respond(self, request: Request) -> Response:
        """The stored page for *request*, or 404."""
        url, _ = urldefrag(request.url)
        packed = self._pages.get(canonicalize_url(url))
        if packed is None:
            return Response(url, status=404)
        headers = {"Content-Type": "text/html; charset=utf-8"}
        body = zlib.decompress(packed)
        return HtmlResponse(url, headers=headers, body=body, encoding="utf-8")

    if scrapy.version_info >= (2, 14):  # before, download handlers return Deferreds

        async def download_request(self, request: Request) -> Response:
            return self.respond(request)

    else:

        def download_request(  # type: ignore[misc]
            self, request: Request, spider: Any
        ) -> Any:
            from twisted.internet.defer import succeed

            return succeed(self.respond(request))

    async def close(self) -> None:
        self._pages.clear()
