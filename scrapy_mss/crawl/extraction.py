"""Reads the pages of a crawl, each once for all consumers, and counts them in one place.

A page that a wrapper labels gets the wrapper's text, any other that of the model. Results are kept
as long as the crawl holds the response, so that the items of a page and scrapy-poet's provider
share one reading.
"""

from __future__ import annotations

import logging
from asyncio import Lock
from collections.abc import Awaitable
from dataclasses import dataclass, field, replace
from weakref import WeakKeyDictionary

from scrapy.http import HtmlResponse, Response

from scrapy_mss import stats
from scrapy_mss.article import ArticleResult
from scrapy_mss.blocks.fed_text import FedText
from scrapy_mss.crawl._compat import runs_asyncio
from scrapy_mss.crawl.further_pages import FURTHER_PAGE, FurtherPages
from scrapy_mss.crawl.jobs import PageLabels, answered
from scrapy_mss.crawl.pages import FED, listed_moments, listed_text, requested_url
from scrapy_mss.crawl.processes import ERROR, FAILURES
from scrapy_mss.crawl.reservations import Reservations
from scrapy_mss.crawl.site_quality import UncertainPages
from scrapy_mss.crawl.wire import PageAnswer, PageRequest
from scrapy_mss.items import FEED
from scrapy_mss.metadata import languages
from scrapy_mss.metadata.dates import Moments
from scrapy_mss.pages.kinds import WITHOUT_TEXT
from scrapy_mss.pages.reservations import Reservation, is_reserved
from scrapy_mss.settings import EMIT_UNRESERVED, Options
from scrapy_mss.stats import CrawlStats

logger = logging.getLogger(__name__)

# Why a page has no article, besides the reasons of `article` and `page_work`.
TOO_LARGE = "too_large"
IMPROBABLE = "improbable"
OTHER_LANGUAGE = "other_language"
RESERVED = "reserved"


@dataclass(slots=True)
class _PageReading:
    """The result of a page, once it is known; other consumers wait for the lock meanwhile.

    A lock and not a task, which a crawl without asyncio does not have: there nothing suspends a
    reading, and a lock that is free asks for no event loop.
    """

    result: ArticleResult | None = None
    lock: Lock = field(default_factory=Lock)


class ArticleReader:
    """Reads pages for their articles."""

    def __init__(self, options: Options, labels: PageLabels, numbers: CrawlStats) -> None:
        self._options = options
        self._labels = labels
        self._jobs = labels.jobs
        self._stats = numbers
        self.further_pages: FurtherPages | None = None  # each page is an article of its own
        self.uncertain: UncertainPages | None = None  # not kept
        self.reservations: Reservations | None = None  # not asked for
        self._readings: WeakKeyDictionary[Response, _PageReading] = WeakKeyDictionary()
        self._languages = languages.accepted(self._options.languages)

    async def article_of(self, response: HtmlResponse) -> ArticleResult:
        """The result of the page of *response*, which is read at the first call."""
        reading = self._readings.setdefault(response, _PageReading())
        async with reading.lock:
            if reading.result is None:
                reading.result = await self._whole(response)
        return reading.result

    async def _whole(self, response: HtmlResponse) -> ArticleResult:
        """The article of *response* with its further pages, and its dates from lists."""
        further = self.further_pages if runs_asyncio() else None  # else nothing suspends a reading
        if further is not None and further.has(response.url):
            return self._further_page()
        text = listed_text(response.request)
        if text is not None and FED in response.flags:
            return await self._fed(response, text)
        result = await self._attempted(self._read_response(response), response.url)
        if further is not None and await further.takes(response.url):
            return self._further_page()
        if self.uncertain is not None:
            self.uncertain.page(response.url, response.text, result)
        result = await self._with_reservations(response, result)
        result = self._counted(result, response.url)
        result = _dated(result, listed_moments(response))
        if text is not None and text.is_whole and result.kind in WITHOUT_TEXT:
            fed = await self._fed(response, text, result.reservations)
            return result if fed.article is None else fed
        return (
            result
            if further is None
            else await further.joined(response, result, self._read_further)
        )

    async def _fed(
        self, response: HtmlResponse, text: FedText, declared: tuple[Reservation, ...] = ()
    ) -> ArticleResult:
        """The article by the *text* that its feed has; what is *declared* is what its page says."""
        url = requested_url(response) or response.url
        result = await self._attempted(self._read(PageRequest("", url, text=text)), url)
        result = await self._with_reservations(response, replace(result, reservations=declared))
        refused = self._refused(result)
        if refused:
            return replace(result, article=None, reason=refused, kind="")
        self._stats.add(stats.EXTRACT_SOURCE, source=result.source)
        response.meta[FED] = response.url  # a spider may give its meta to other requests
        return _dated(result, listed_moments(response))

    def _further_page(self) -> ArticleResult:
        self._stats.add(stats.EXTRACT_DROPPED, reason=FURTHER_PAGE)
        return ArticleResult(reason=FURTHER_PAGE)

    async def _read_further(self, response: HtmlResponse) -> ArticleResult:
        reading = self._read_response(response, further=True)
        return await self._attempted(reading, response.url)

    async def article_in(self, html: str, url: str) -> ArticleResult:
        """The result of a page that is not a response of this crawl."""
        return self._counted(await self._attempted(self._read(PageRequest(html, url)), url), url)

    async def _read_response(
        self, response: HtmlResponse, *, further: bool = False
    ) -> ArticleResult:
        """By the wrapper of the site, unless it is for training alone, or by the model.

        Of a page that its feed labels, what was read for that.
        """
        wrapper = self._labels.wrapper_for(response)
        is_for_training = wrapper is not None and wrapper.train_only
        if not is_for_training and len(response.text) <= self._options.max_body:
            labelled = self._labels.begin(response, article=True)
            if labelled is not None:
                return _result(await answered(labelled.job))
        page = PageRequest(
            response.text, response.url, further=further, requested=requested_url(response)
        )
        return await self._read(page)

    async def _read(self, page: PageRequest) -> ArticleResult:
        if len(page.html) > self._options.max_body:
            return ArticleResult(reason=TOO_LARGE)
        return _result(await answered(self._jobs.begin(page)))

    async def _with_reservations(
        self, response: HtmlResponse, result: ArticleResult
    ) -> ArticleResult:
        """*result* with all that is published on the use of the page of *response*, if asked."""
        if self.reservations is None or result.article is None:
            return result
        found = await self.reservations.of(response, result.reservations)
        if "reservations" not in self._options.fields:
            return replace(result, reservations=found)
        article = replace(result.article, reservations=[each._asdict() for each in found])
        return replace(result, article=article, reservations=found)

    def _counted(self, result: ArticleResult, url: str) -> ArticleResult:
        """Count the *result* of a page; the result without an article that is refused."""
        article = result.article
        if article is not None and (article.probability or 0) < self._options.min_probability:
            result, article = replace(result, article=None, reason=IMPROBABLE, kind=""), None
        if result.kind:
            self._stats.add(stats.KIND, kind=result.kind)
        if self._jobs.quality is not None:
            self._jobs.quality.page(url, article, result.kind)
        refused = self._refused(result)
        if article is not None and refused:
            logger.debug("scrapy-mss: %s, in %s: %s", url, article.language, refused)
            result, article = replace(result, article=None, reason=refused, kind=""), None
        self._stats.add(stats.EXTRACT_PAGES)
        self._stats.add(stats.EXTRACT_SECONDS, result.seconds)
        if article is not None:
            self._stats.add(stats.EXTRACT_ARTICLES)
            self._stats.add(stats.EXTRACT_PROBABILITY, article.probability or 0)
            self._stats.add(stats.EXTRACT_SOURCE, source=result.source)
        else:
            failed = result.reason in FAILURES
            stat = stats.EXTRACT_FAILED if failed else stats.EXTRACT_DROPPED
            self._stats.add(stat, reason=result.reason)
        return result

    def _refused(self, result: ArticleResult) -> str:
        """Why the article of a *result* is not wanted; that of one without an article."""
        if result.article is None:
            return result.reason
        language, asked = result.article.language, self._languages
        is_foreign = bool(asked and language) and language not in asked
        if EMIT_UNRESERVED in self._options.emit and is_reserved(result.reservations):
            return RESERVED
        return OTHER_LANGUAGE if is_foreign else ""

    async def _attempted(self, reading: Awaitable[ArticleResult], url: str) -> ArticleResult:
        """The result of *reading*; after any exception, the crawl goes on."""
        try:
            return await reading
        except Exception:
            logger.exception("scrapy-mss: extraction failed on %s; the crawl continues", url)
            return ArticleResult(reason=ERROR)


def _dated(result: ArticleResult, listed: Moments) -> ArticleResult:
    """*result* with what a feed or sitemap knows of the article's dates."""
    article = result.article
    if article is None or not any(listed):
        return result
    moments = Moments(article.published, article.modified).confirmed_by(listed)
    sources = dict(article.sources)
    for name, moment in moments._asdict().items():
        if sources and moment and moment != getattr(article, name):
            sources[name] = FEED
    return replace(result, article=replace(article, **moments._asdict(), sources=sources))


def _result(answer: PageAnswer) -> ArticleResult:
    return answer.article or ArticleResult(reason=answer.failure)
