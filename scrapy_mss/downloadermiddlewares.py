"""Downloader middlewares: encodings, training, backpressure, saved downloads, answers."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import HtmlResponse, Request, Response, TextResponse
from scrapy.http.request import NO_CALLBACK

from scrapy_mss import settings, stats
from scrapy_mss.crawl.extension import Component, MssExtension, needed
from scrapy_mss.crawl.pages import (
    FED,
    LISTED,
    NOT_MODIFIED,
    OK,
    RECHECK,
    SITE,
    SKIP_EXTRACTION,
    SKIP_TRAINING,
    PrivateHostError,
    first_url,
    header,
    is_page,
    left_site,
    listed_text,
)
from scrapy_mss.files.charsets import charset_of
from scrapy_mss.pages.addresses import site_of
from scrapy_mss.quality import fates
from scrapy_mss.quality.fates import Fate
from scrapy_mss.seen.articles import SeenList
from scrapy_mss.seen.keys import address_key
from scrapy_mss.stats import CrawlStats

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from scrapy_mss.blocks.fed_text import FedText
    from scrapy_mss.crawl.fates import Fates
    from scrapy_mss.crawl.training import Trainer

logger = logging.getLogger(__name__)

GIVEN = ("ETag", "Last-Modified")
VALIDATORS = ("If-None-Match", "If-Modified-Since")
ASKED = "mss_validators_of"  # the address whose validators a request has
FIRST_ERROR = 400  # of the statuses of HTTP
MAX_VALIDATOR = 1000  # characters of an ETag
FORBIDDEN: Final = "Forbidden by robots.txt"  # the message of Scrapy's middleware, all of it


class EncodingMiddleware:
    """Has responses decoded as the encoding that they are in, where they declare another one."""

    # As soon as bodies are decompressed (590), before Scrapy looks for redirects in pages (580).
    ORDER: Final = 585

    def __init__(self, numbers: CrawlStats, max_body: int) -> None:
        self._stats = numbers
        self._max_body = max_body

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        assert crawler.stats is not None
        return cls(CrawlStats(crawler.stats), settings.read(crawler.settings).max_body)

    async def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        """Pass the response on, with another encoding if it declares a wrong one.

        Scrapy takes any label for an encoding: for some, `response.text` raises an exception.
        """
        # What a download handler that runs a browser sets: no header says so, and no other name.
        if not isinstance(response, TextResponse) or response._encoding:  # noqa: SLF001
            return response
        body = response.body[: self._max_body]  # longer pages are not read, but decoded
        charset = charset_of(body, header(response, "Content-Type"))
        if not charset.is_mended:
            return response
        self._stats.add(stats.ENCODING_MENDED, encoding=charset.name)
        logger.debug("scrapy-mss: %s is decoded as %s", response.url, charset.name)
        return response.replace(encoding=charset.name)


class FedPages:
    """Puts the text that a feed has in place of a page that cannot be had.

    It is the one next to the engine: others have retried, counted and cached what there is.
    """

    async def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        is_lost = response.status >= FIRST_ERROR or FED in response.flags
        text = _whole_text(request) if is_lost else None
        if text is None:
            return response
        page, url = text.html.encode("utf-8", "replace"), first_url(request)
        return HtmlResponse(url, body=page, encoding="utf-8", flags=[FED], request=request)

    async def process_exception(
        self, request: Request, exception: Exception, spider: Spider | None = None
    ) -> Response | None:
        """Have the text in place of what failed, unless a component has dropped the request."""
        if isinstance(exception, IgnoreRequest) or _whole_text(request) is None:
            return None
        request.meta["dont_cache"] = True
        return Response(request.url, flags=[FED], request=request)  # no page to other components


class TrainingMiddleware:
    """Learns from each page that is labelled; whatever happens, the response goes on."""

    def __init__(self, trainer: Trainer) -> None:
        self._trainer = trainer

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        extension = MssExtension.of(crawler)
        if not extension.options.train:
            # With a message Scrapy warns of what is no mistake.
            logger.debug("scrapy-mss: no training: MSS_TRAIN is off")
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
            await self._trainer.train(response, article=article, text=listed_text(request))
        return response


class WorkerRoom(Component):
    """Holds responses back while the workers have pages enough, and with them further downloads."""

    def __init__(self, extension: MssExtension) -> None:
        super().__init__(extension)
        needed(self._options.workers or None)  # 0 is off
        self._jobs = extension.jobs

    async def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        if is_page(response, request) and not request.meta.get(SKIP_EXTRACTION):
            await self._jobs.room()
        return response


class _OnlyNew(Component):
    """A middleware of crawls that remember what they have seen (`MSS_ONLY_NEW`)."""

    def __init__(self, extension: MssExtension) -> None:
        super().__init__(extension)
        self._seen = needed(extension.seen)


class SeenArticlesMiddleware(_OnlyNew):
    """Downloads no article again that needs no recheck.

    Requests with `dont_filter` or `mss_recheck` in their meta are downloaded all the same.
    """

    async def process_request(self, request: Request, spider: Spider | None = None) -> None:
        meta, is_page = request.meta, request.callback is not NO_CALLBACK
        if request.method != "GET" or request.dont_filter or meta.get(RECHECK) or not is_page:
            return
        if meta.get(SKIP_EXTRACTION):
            return
        if self._seen.needs_no_recheck(request.url, meta.get(LISTED, 0)):
            self._stats.add(stats.SEEN_SKIPPED)
            if self._fates is not None:
                keys = (address_key(request.url),)
                self._fates.decide(request, self._fates.of_seen(keys, fates.NOT_DUE))
            # Or each crawl would request the first address again, to be redirected here.
            self._seen.add_redirected(meta.get("redirect_urls", ()), request.url)
            raise IgnoreRequest(f"seen before, and no recheck is due: {request.url}")


class UnchangedLists(_OnlyNew):
    """Has servers send lists, such as feeds, only if they have changed since an earlier crawl.

    Lists are requests with `SITE` in their meta that are not to be read as articles. A spider that
    makes them takes responses of status 304, too.
    """

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


class SiteAnswers(Component):
    """Counts, for `scrapy mss report`, which sites answer, and why others and addresses do not.

    Next to the engine: what reaches it was neither retried nor redirected.
    """

    _fates: Fates

    def __init__(self, extension: MssExtension) -> None:
        super().__init__(extension)
        self._quality, self._fates = needed(extension.quality), needed(extension.fates)

    async def process_request(self, request: Request, spider: Spider | None = None) -> None:
        """Count that a list is requested: some requests end without response and exception."""
        if _is_list(request) and _counts(request):
            self._quality.tried(request.meta[SITE])

    async def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        if FED in response.flags:  # in place of none, which is counted
            return response
        is_good = response.status // 100 == OK // 100 or response.status == NOT_MODIFIED
        self._count(request, "" if is_good else f"HTTP {response.status}")
        if response.status != OK:
            self._end(request, fates.of_status(response.status))
        elif not isinstance(response, HtmlResponse):
            self._end(request, fates.NOT_HTML)
        return response

    async def process_exception(
        self, request: Request, exception: Exception, spider: Spider | None = None
    ) -> None:
        """Count why there is no response, unless a component has dropped the request."""
        fate = _fate(exception)
        if fate is not fates.IGNORED or left_site(request):
            is_known = fate is not fates.CONNECTION
            self._count(request, fate.summary if is_known else type(exception).__name__)
        self._end(request, fate)

    def _end(self, request: Request, fate: Fate) -> None:
        self._fates.decide(request, fates.OFF_SITE if left_site(request) else fate)

    def _count(self, request: Request, error: str) -> None:
        if not _counts(request):
            return
        is_list = _is_list(request)
        site = request.meta[SITE] if is_list else site_of(first_url(request))
        if left_site(request):
            error = f"redirected to {site_of(request.url)}"
        if error:
            self._quality.failed(site, error)
        else:
            self._quality.answered(site, with_list=is_list)


def _whole_text(request: Request) -> FedText | None:
    """The text that a feed has of the article of *request*, if it is whole and wanted."""
    text = None if request.meta.get(SKIP_EXTRACTION) else listed_text(request)
    return text if text is not None and text.is_whole else None


def _is_list(request: Request) -> bool:
    return SITE in request.meta and bool(request.meta.get(SKIP_EXTRACTION))


def _counts(request: Request) -> bool:
    """Whether *request* says if its site works: not robots.txt, which sites need not have.

    But where all lists lead to one address off the site, Scrapy requests that once, for the first.
    """
    is_robots = urlsplit(first_url(request)).path == "/robots.txt"
    return request.callback is not NO_CALLBACK and (not is_robots or left_site(request))


def _fate(exception: Exception) -> Fate:
    """That of an address whose request has ended with an *exception*."""
    if str(exception) == FORBIDDEN:
        return fates.ROBOTS
    if isinstance(exception, IgnoreRequest) and not isinstance(exception, PrivateHostError):
        return fates.IGNORED
    return fates.of_exception(exception)
