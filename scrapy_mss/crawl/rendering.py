"""Which pages of a crawl are asked for through a browser, and what is learned of that by site.

A page that is a shell is asked for once more, and where that gave a page, the memory of its site
counts its address. Pages at addresses of a shape that mostly needed it are then asked for through
the browser at once, but for one now and then, by which the memory learns that it is needed no more.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final

from scrapy.http import HtmlResponse, Request

from scrapy_mss import stats
from scrapy_mss.crawl.browser import Browser
from scrapy_mss.crawl.extension import MssExtension
from scrapy_mss.crawl.jobs import answered
from scrapy_mss.crawl.wire import PageRequest
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.pages.addresses import site_of
from scrapy_mss.pages.kinds import SHELL
from scrapy_mss.pages.walls import OF_CHALLENGE
from scrapy_mss.sites.address_counts import needs_browser

logger = logging.getLogger(__name__)

MAX_PAGES: Final = 200  # of a site in a crawl: as many as `NewsSpider` has, minutes of a browser
# Of a site's pages, and beyond its first ones, how many it may show without a text: it takes some
# hundred times as long as a download.
MAX_IN_VAIN: Final = 0.1
FIRST: Final = 3
PLAINLY: Final = 20  # one of so many pages, and the first of a crawl, is asked for without it
RENDERED: Final = "mss_rendered"  # in Request.meta: the address that the browser was asked for
HEAD: Final = 2**16  # characters that are searched for words first; most pages have enough there


@dataclass(slots=True)
class _Site:
    """A site in this crawl: how many pages were of which fate."""

    pages: int = 0
    known: int = 0  # at addresses that need the browser
    shown: int = 0  # by the browser
    in_vain: int = 0  # of these, without a text


class Rendering:
    """Decides, counts and learns for one crawl."""

    def __init__(self, browser: Browser, extension: MssExtension) -> None:
        self._browser = browser
        self._jobs = extension.jobs
        self._memories = extension.sites
        self._stats = extension.stats
        self._longest = extension.options.max_body
        self._sites: dict[str, _Site] = {}

    async def at_once(self, request: Request) -> HtmlResponse | None:
        """The page that *request* asks for, by the browser, if it is known to be needed."""
        if self._memories is None:
            return None
        self._memories.recall(request.url)
        if not needs_browser(request.url, self._memories.addresses(request.url)):
            return None
        site = self._site_of(request)
        site.known += 1
        if site.known % PLAINLY == 1:
            return None
        site.pages += 1
        self._stats.add(stats.RENDER_AT_ONCE)
        return await self._shown(request, site)

    async def instead(self, response: HtmlResponse, request: Request) -> HtmlResponse:
        """*response* to *request*, or what the browser shows there if it is a shell."""
        site = self._site_of(request)
        site.pages += 1
        if not await self._is_shell(response):
            self._learn(request, needed=False)
            return response
        shown = await self._shown(request, site)
        if shown is None:
            return response
        self._learn(request, needed=True)
        return shown

    async def _shown(self, request: Request, site: _Site) -> HtmlResponse | None:
        """What the browser shows; None if it may not, fails, or has no more to show."""
        if request.meta.get(RENDERED) == request.url:
            return None
        request.meta[RENDERED] = request.url
        is_in_vain = site.in_vain >= FIRST + MAX_IN_VAIN * site.pages
        if is_in_vain or site.shown >= MAX_PAGES or not await self._browser.reaches(request.url):
            self._stats.add(stats.RENDER_LEFT_OUT)
            return None
        site.shown += 1
        self._stats.add(stats.RENDER_PAGES)
        try:
            shown = await self._browser.page(request)
            if shown is not None and not await self._is_shell(shown):
                return shown
            self._learn(request, needed=False)
        except Exception as error:  # noqa: BLE001 - of a browser, of its driver: it costs one page
            self._stats.add(stats.RENDER_FAILED)
            logger.warning("scrapy-mss: no browser for %.200s: %s", request.url, repr(error)[:300])
        site.in_vain += 1
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

    def _site_of(self, request: Request) -> _Site:
        return self._sites.setdefault(site_of(request.url), _Site())


def has_few_words(html: str) -> bool:
    """Whether a page has so few words that it may be a shell."""
    size = HEAD
    while tokenize(html[:size]).is_word.sum() < OF_CHALLENGE:
        if size >= len(html):
            return True
        size *= 4
    return False
