"""Asks for pages through a browser if only scripts fill them, and learns where that is so.

A page that is a shell is asked for once more, and where that gave a page, the memory of its site
counts its address. Pages at addresses of a shape that mostly needed it are then asked for through
the browser at once, but for one now and then, by which the memory learns that it is needed no more.
"""

from __future__ import annotations

import logging
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Final

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse, Request, Response
from scrapy.http.request import NO_CALLBACK

from scrapy_mss import stats
from scrapy_mss.crawl import _compat
from scrapy_mss.crawl.browser import FLAG, Browser, why_not
from scrapy_mss.crawl.extension import Component, MssExtension
from scrapy_mss.crawl.jobs import answered
from scrapy_mss.crawl.pages import SKIP_EXTRACTION, is_page, left_site
from scrapy_mss.crawl.wire import PageRequest
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.pages.addresses import site_of
from scrapy_mss.pages.kinds import SHELL
from scrapy_mss.pages.walls import OF_CHALLENGE
from scrapy_mss.settings import RENDER_OFF
from scrapy_mss.sites.address_counts import needs_browser
from scrapy_mss.storage.tables import MAX_SITES

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from typing_extensions import Self

logger = logging.getLogger(__name__)

MAX_SHOWN: Final = 200  # of a site in a crawl: as many as `NewsSpider` has, minutes of a browser
# Of a site's pages, and beyond its first ones, how many it may show without a text: it takes some
# hundred times as long as a download.
MAX_IN_VAIN: Final = 0.1
FIRST: Final = 3
PLAINLY: Final = 20  # one of so many pages, and the first of a crawl, is asked for without it
ASKED: Final = "mss_rendered"  # in Request.meta: the address that the browser was asked for
HEAD: Final = 2**16  # characters that are searched for words first; most pages have enough there


class RenderMiddleware(Component):
    """Gives the spider one response for a page, the browser's if that alone has a text."""

    ORDER: Final = 548  # before the page is learned (545), after redirects and retries

    def __init__(self, extension: MssExtension, browser: Browser) -> None:
        super().__init__(extension)
        self._browser = browser
        self._jobs = extension.jobs
        self._memories = extension.sites
        self._longest = extension.options.max_body
        # How many pages were of a site; at addresses that need the browser; shown; without a text.
        self._pages, self._known = Counter[str](), Counter[str]()
        self._shown, self._in_vain = Counter[str](), Counter[str]()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        extension = MssExtension.of(crawler)
        if extension.options.render == RENDER_OFF:
            raise NotConfigured
        if why := why_not(crawler.settings):
            logger.warning("scrapy-mss: MSS_RENDER is without effect: %s", why)
            raise NotConfigured
        named = getattr(crawler.spider, "named_hosts", ())
        longest = extension.options.max_body
        browser = Browser(partial(_compat.download, crawler), named, longest)
        crawler.signals.connect(browser.close, signals.spider_closed)
        return cls(extension, browser)

    async def process_request(
        self, request: Request, spider: Spider | None = None
    ) -> Response | None:
        """Give what the browser shows, where pages at such addresses needed it."""
        if self._memories is None or not _is_for_pages(request):
            return None
        self._memories.recall(request.url)
        if not needs_browser(request.url, self._memories.addresses(request.url)):
            return None
        site = site_of(request.url)
        self._known[site] += 1
        if self._known[site] % PLAINLY == 1:
            return None
        self._stats.add(stats.RENDER_AT_ONCE)
        return await self._rendered(request)

    async def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        """Pass on the response, or what the browser shows in its place."""
        if FLAG in response.flags or not is_page(response, request) or not _is_for_pages(request):
            return response
        site = site_of(request.url)
        if site in self._pages or len(self._pages) < MAX_SITES:
            self._pages[site] += 1
        is_shell = await self._is_shell(response)
        shown = await self._rendered(request) if is_shell else None
        if shown is not None or not is_shell:
            self._learn(request, needed=is_shell)
        return shown or response

    async def _rendered(self, request: Request) -> HtmlResponse | None:
        """What the browser shows; None if it may not, fails, or has no more to show."""
        if request.meta.get(ASKED) == request.url:
            return None
        request.meta[ASKED], site = request.url, site_of(request.url)
        is_in_vain = self._in_vain[site] >= FIRST + MAX_IN_VAIN * self._pages[site]
        if is_in_vain or self._shown[site] >= MAX_SHOWN:
            self._stats.add(stats.RENDER_LEFT_OUT)
            return None
        self._shown[site] += 1
        self._stats.add(stats.RENDER_PAGES)
        try:
            shown = await self._browser.page(request)
            if shown is not None and not await self._is_shell(shown):
                return shown
            self._learn(request, needed=False)
        except Exception as error:  # of a browser, of its driver: it costs one page
            self._stats.add(stats.RENDER_FAILED)
            logger.warning("scrapy-mss: no browser for %.200s: %s", request.url, repr(error)[:300])
        self._in_vain[site] += 1
        self._stats.add(stats.RENDER_IN_VAIN)
        return None

    async def _is_shell(self, response: HtmlResponse) -> bool:
        if len(response.text) > self._longest or not has_few_words(response.text):
            return False
        page = PageRequest(response.text, response.url)
        answer = await answered(self._jobs.begin(page, with_site=False))
        return answer.article is not None and answer.article.kind == SHELL

    def _learn(self, request: Request, *, needed: bool) -> None:
        if self._memories is not None:
            self._memories.learn_browser(request.url, needed=needed)


def _is_for_pages(request: Request) -> bool:
    """Whether a browser may be asked in place of *request*: it knows no proxy of a request."""
    is_other = any(map(request.meta.get, (FLAG, "proxy", SKIP_EXTRACTION)))
    is_asked = request.method == "GET" and request.callback is not NO_CALLBACK
    return is_asked and not is_other and not left_site(request)


def has_few_words(html: str) -> bool:
    """Whether a page has so few words that it may be a shell."""
    size = HEAD
    while tokenize(html[:size]).is_word.sum() < OF_CHALLENGE:
        if size >= len(html):
            return True
        size *= 4
    return False
