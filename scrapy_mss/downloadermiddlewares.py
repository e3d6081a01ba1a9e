"""Downloader middlewares: training, backpressure from workers, conditional requests, WARC."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.http import Request, Response

from scrapy_mss import stats
from scrapy_mss.crawl.archive import Archive, files_in
from scrapy_mss.crawl.extension import MssExtension
from scrapy_mss.crawl.pages import (
    NOT_MODIFIED,
    OK,
    SITE,
    SKIP_EXTRACTION,
    SKIP_TRAINING,
    header,
    is_page,
)
from scrapy_mss.seen.store import SeenList

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from scrapy_mss.crawl.training import Trainer

logger = logging.getLogger(__name__)

GIVEN = ("ETag", "Last-Modified")
VALIDATORS = ("If-None-Match", "If-Modified-Since")
ASKED = "mss_validators_of"  # the address whose validators a request has
LONGEST_NAME = 100  # characters of a spider's, in the name of a file
MAX_VALIDATOR = 1000  # characters of an ETag


class TrainingMiddleware:
    """Learns from each page that a wrapper labels; whatever happens, the response goes on."""

    def __init__(self, trainer: Trainer) -> None:
        self._trainer = trainer

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        extension = MssExtension.of(crawler)
        why = ""
        if not extension.options.train:
            why = "MSS_TRAIN is off"
        elif not extension.wrappers:
            why = "there are no wrappers in MSS_WRAPPERS to label pages with"
        if why:
            # With a message Scrapy warns, at each crawl without wrappers, of what is no mistake.
            logger.debug("scrapy-mss: no training: %s", why)
            raise NotConfigured
        return cls(extension.trainer)

    async def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        """Have the page learned, if it is one, and pass it on unchanged.

        That waits where more pages are under way than workers need to be busy.
        """
        if is_page(response, request) and not request.meta.get(SKIP_TRAINING):
            article = not request.meta.get(SKIP_EXTRACTION)
            await self._trainer.train(response, article=article)
        return response


class WorkerRoom:
    """Holds responses back while the workers have pages enough, and with them further downloads."""

    def __init__(self, extension: MssExtension) -> None:
        if not extension.options.workers:
            raise NotConfigured
        self._jobs = extension.jobs

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(MssExtension.of(crawler))

    async def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        """Pass on the response unchanged, a page as soon as there is room for it."""
        if is_page(response, request) and not request.meta.get(SKIP_EXTRACTION):
            await self._jobs.room()
        return response


class UnchangedLists:
    """Has servers send lists, such as feeds, only if they have changed since an earlier crawl.

    Lists are requests with `SITE` in their meta that are not to be read as articles. A spider that
    makes them takes responses of status 304, too.
    """

    def __init__(self, extension: MssExtension) -> None:
        if extension.seen is None:
            raise NotConfigured
        self._seen = extension.seen
        self._stats = extension.stats

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(MssExtension.of(crawler))

    async def process_request(self, request: Request, spider: Spider | None = None) -> None:
        """Ask with the validators of the list, if an earlier crawl has read it."""
        if not _is_list(request):
            return
        if request.meta.get(ASKED, request.url) != request.url:  # a redirect copies the headers
            for name in VALIDATORS:
                request.headers.pop(name, None)
        seen = self._seen.list(request.url)
        if seen is not None:
            request.meta[ASKED] = request.url
            for name, value in zip(VALIDATORS, (seen.etag, seen.modified), strict=True):
                if value:
                    request.headers[name] = value

    async def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        """Note the validators of a list; of one that has not changed, what it was."""
        if _is_list(request):
            etag, modified = (header(response, name)[:MAX_VALIDATOR] for name in GIVEN)
            seen = SeenList(etag, modified)
            if response.status == NOT_MODIFIED:
                self._stats.add(stats.LISTS_UNCHANGED)
                seen = self._seen.list(request.url) or seen
            if response.status in (OK, NOT_MODIFIED) and any(seen):
                self._seen.add_list(request.url, request.meta[SITE], seen)
        return response


class ArchivingMiddleware:
    """Writes all that is received to WARC files, before anything decodes or redirects it."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        extension = MssExtension.of(crawler)
        options = extension.options
        if not options.warc:
            raise NotConfigured
        name = crawler.spider.name if crawler.spider else "crawl"
        prefix = re.sub(r"[^\w.-]", "_", name)[:LONGEST_NAME]
        files = files_in(options.warc, prefix, options.warc_megabytes)
        archive = Archive(files, extension.stats)
        crawler.signals.connect(archive.close, signals.spider_closed)
        return cls(archive)

    async def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        """Write both, and pass the response on unchanged."""
        await self._archive.add(request, response)
        return response


def _is_list(request: Request) -> bool:
    return SITE in request.meta and bool(request.meta.get(SKIP_EXTRACTION))
