"""Asks for pages through a browser if only scripts fill them, and learns where that is so.

A page that is a shell is asked for once more, and where that gave a page, the memory of its site
counts its address. Pages at addresses of a shape that mostly needed it are then asked for through
the browser at once, but for one now and then, by which the memory learns that it is needed no more.

Browsers are those of scrapy-playwright, and reach no other sites. Whatever a page asks for, by
scripts, frames, sockets and further windows, and wherever that is redirected, passes a proxy on the
loopback. It connects to the sites of the pages that were asked for and to hosts that the spider
names, at public or named addresses alone.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from itertools import count
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.http import HtmlResponse, Request, Response
from scrapy.http.request import NO_CALLBACK

from scrapy_mss import stats
from scrapy_mss.crawl import _compat
from scrapy_mss.crawl.extension import Component, MssExtension
from scrapy_mss.crawl.further_pages import Fetch
from scrapy_mss.crawl.hosts import WEB, Scope, permitted_address, web_host
from scrapy_mss.crawl.jobs import answered
from scrapy_mss.crawl.pages import OK, SKIP_EXTRACTION, inherited_meta, is_page, left_site
from scrapy_mss.crawl.wire import PageRequest
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.pages.addresses import site_of
from scrapy_mss.pages.kinds import SHELL
from scrapy_mss.pages.walls import OF_CHALLENGE
from scrapy_mss.settings import RENDER_OFF
from scrapy_mss.sites.address_counts import needs_browser
from scrapy_mss.storage.tables import MAX_SITES

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page
    from playwright.async_api import Response as Answer
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings
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

# Of the browser.
HANDLER: Final = "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"
CHROMIUM: Final = "chromium"
ASYNCIO: Final = "AsyncioSelectorReactor"
BY_PROXY_ALONE: Final = "--webrtc-ip-handling-policy=disable_non_proxied_udp"  # calls, too
FLAG: Final = "playwright"  # of responses by scrapy-playwright, and in the meta of requests for it
CONTEXT: Final = "scrapy-mss"  # beside those of the project, without this proxy
WINDOWS: Final = 4  # at once; each takes some hundred megabytes
RENDERER: Final = "renderer"  # a process that shows pages
MOST_MEMORY: Final = 2**31  # bytes of its data: an empty one has 600 MB, of which it uses a tenth
LIMIT_SECONDS: Final = 0.25  # until a new one has its limit; pages fill some 2 GB a second
MAX_OPENED: Final = 5  # further windows of a page, closed at once; some open without an end
SECONDS: Final = 45.0  # for a page in all; its navigation alone may take 30, as Playwright has it
IDLE_SECONDS: Final = 5.0  # after it was loaded, until it asks for nothing; some never do
CONNECT_SECONDS: Final = 10.0
MAX_BYTES: Final = 2**26  # of a connection; a page and its scripts have some megabytes
OF_CONNECTIONS: Final = (b"connection:", b"proxy-connection:")
REFUSED: Final = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


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


# --- the browser ----------------------------------------------------------------------------------


def add_to(settings: BaseSettings) -> None:
    """Have pages downloaded by scrapy-playwright if a request asks for that, and it is there."""
    has_loop = settings.getbool("TWISTED_REACTOR_ENABLED", True) and ASYNCIO in str(
        settings.get("TWISTED_REACTOR")
    )
    if not has_loop or find_spec("scrapy_playwright") is None:
        return
    if most := settings.getint("PLAYWRIGHT_MAX_CONTEXTS"):  # others would wait for one of ours
        name = "PLAYWRIGHT_MAX_CONTEXTS"
        settings.set(name, most + WINDOWS, settings.getpriority(name) or 0)
    options = settings.getdict("PLAYWRIGHT_LAUNCH_OPTIONS")
    options["args"] = [*options.get("args", ()), BY_PROXY_ALONE]
    handlers = dict.fromkeys(WEB, HANDLER) | settings.getdict("DOWNLOAD_HANDLERS")
    for name, value in (("DOWNLOAD_HANDLERS", handlers), ("PLAYWRIGHT_LAUNCH_OPTIONS", options)):
        settings.set(name, value, settings.getpriority(name) or 0)


def why_not(settings: BaseSettings) -> str:
    """Why no browser can be asked; empty if one can."""
    if find_spec("scrapy_playwright") is None:
        return "it needs scrapy-playwright; run: pip install 'scrapy-mss[render]'"
    handlers = settings.getwithbase("DOWNLOAD_HANDLERS")
    if any(handlers.get(scheme) != HANDLER for scheme in WEB):
        return f"DOWNLOAD_HANDLERS has not {HANDLER} for http and https, which needs asyncio"
    if settings.get("PLAYWRIGHT_BROWSER_TYPE", CHROMIUM) != CHROMIUM:
        return "PLAYWRIGHT_BROWSER_TYPE is not chromium, which alone stops scripts"
    return "the browser knows no proxy of the environment" if getproxies() else ""


class Browser:
    """Shows pages, each in a window of its own; *fetch* is the download of a crawl."""

    def __init__(self, fetch: Fetch, named: Iterable[str], longest: int) -> None:
        """*named* are hosts that may be private; a page has at most *longest* characters."""
        self._fetch = fetch
        self._proxy = Proxy(frozenset(named))
        self._longest = longest
        self._numbers = count()
        self._limits: asyncio.Task[None] | None = None
        self._contexts = asyncio.LifoQueue[int]()  # one for each window: the latest has a cache
        for _ in range(WINDOWS):
            self._contexts.put_nowait(next(self._numbers))

    async def page(self, request: Request) -> HtmlResponse | None:
        """What is shown at the address of *request*; None if it is no page of its site.

        Raises what scrapy-playwright does, and `TimeoutError`.
        """
        self._proxy.sites.add(site_of(request.url))
        context, window = await self._contexts.get(), _Window()

        async def begin(page: Page, _: Request) -> None:
            if self._limits is None or self._limits.done():
                self._limits = asyncio.create_task(_limited(page))
            await window.begin(page)

        try:
            meta = await self._meta(request, context, begin)
            asked = request.replace(callback=NO_CALLBACK, errback=None, cb_kwargs={}, meta=meta)
            shown = await asyncio.wait_for(self._fetch(asked), SECONDS)
        finally:
            is_quiet = await window.end()
            self._contexts.put_nowait(context if is_quiet else next(self._numbers))
        is_page = isinstance(shown, HtmlResponse) and shown.status == OK and FLAG in shown.flags
        url = window.url or request.url  # whatever its scripts show in the line of the address
        if not is_page or {site_of(shown.url), site_of(url)} != {site_of(request.url)}:
            return None
        if url != request.url:  # a script went on to it: as a redirect
            request.meta["redirect_urls"] = [*request.meta.get("redirect_urls", ()), request.url]
        return shown.replace(url=url, request=request, cls=HtmlResponse)

    async def _meta(
        self, request: Request, context: int, begin: Callable[..., Any]
    ) -> dict[str, Any]:
        from scrapy_playwright.page import PageMethod

        options = {
            "proxy": {"server": await self._proxy.address()},
            "service_workers": "block",
            "accept_downloads": False,
        }
        return {
            **inherited_meta(request),
            FLAG: True,
            "playwright_context": f"{CONTEXT}-{context}",
            "playwright_context_kwargs": options,
            "playwright_page_init_callback": begin,
            "playwright_page_methods": [PageMethod(_settled, longest=self._longest)],
            "autothrottle_dont_adjust_delay": True,
            "dont_cache": True,  # a cache would answer with the page that has no text
            "dont_redirect": True,
            "dont_retry": True,
        }

    def close(self) -> None:
        self._proxy.close()
        if self._limits is not None:
            self._limits.cancel()


async def _limited(page: Page) -> None:
    """Let allocations for pages in the browser of *page* fail beyond a limit, as in workers."""
    limit = getattr(resource, "prlimit", None)  # on Linux
    if limit is None or page.context.browser is None:
        return
    with suppress(Exception):  # the browser is gone; the next one gets limits of its own
        tools, known = await page.context.browser.new_browser_cdp_session(), set[int]()
        while True:
            found = (await tools.send("SystemInfo.getProcessInfo"))["processInfo"]
            for process in {each["id"] for each in found if each["type"] == RENDERER} - known:
                known.add(process)
                with suppress(ProcessLookupError):
                    limit(process, resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
            await asyncio.sleep(LIMIT_SECONDS)


async def _settled(page: Page, longest: int) -> None:
    """Wait until *page* asks for nothing any more; then no script runs, and it has to be short."""
    from playwright.async_api import TimeoutError as TooLateError

    with suppress(TooLateError):
        await page.wait_for_load_state("networkidle", timeout=1000 * IDLE_SECONDS)
    await asyncio.wait_for(_stopped(page, longest), IDLE_SECONDS)


async def _stopped(page: Page, longest: int) -> None:
    tools = await page.context.new_cdp_session(page)
    await tools.send("Emulation.setScriptExecutionDisabled", {"value": True})
    length = await page.evaluate("document.documentElement.outerHTML.length")
    if length > longest:
        raise ValueError(f"the page has {length} characters, more than {longest}")


class _Window:
    """Shows one page in a context, and closes whatever windows that opens."""

    def __init__(self) -> None:
        self.url = ""  # of the page that is shown in the end
        self._page: Page | None = None
        self._is_over = False
        self._n_opened = 0

    async def begin(self, page: Page) -> None:
        """Take *page*, a new one of scrapy-playwright, if it is the first and not too late.

        For a page that crashes or hangs it opens others, which would do the same.
        """
        if self._is_over or self._page is not None:
            self._is_over = True
            await _closed(page.context)
            return
        self._page = page
        page.context.on("page", self._opened)
        page.on("response", self._answered)

    def _answered(self, response: Answer) -> None:
        of_page = self._page is not None and response.frame == self._page.main_frame
        if of_page and response.status == OK and response.request.is_navigation_request():
            self.url = response.url

    async def _opened(self, page: Page) -> None:
        """Close *page*, which another one has opened; if there are many, all that would go on."""
        self._n_opened += 1
        if self._n_opened <= MAX_OPENED:
            await _closed(page)
        elif not self._is_over:
            self._is_over = True
            await _closed(page.context)

    async def end(self) -> bool:
        """Close what is still open; whether the context may show other pages."""
        is_quiet = self._page is not None and not self._is_over and not self._n_opened
        self._is_over = True
        if self._page is not None:
            context = self._page.context
            context.remove_listener("page", self._opened)
            await _closed(self._page if is_quiet else context)
        return is_quiet


async def _closed(what: Page | BrowserContext) -> None:
    with suppress(Exception):  # of a browser that is gone
        await asyncio.wait_for(what.close(), CONNECT_SECONDS)


class Proxy:
    """A proxy on the loopback for the browser, which connects to *sites* and *named* hosts."""

    def __init__(self, named: frozenset[str]) -> None:
        self.named = named
        self.sites: set[str] = set()
        self._server: asyncio.Server | None = None

    async def address(self) -> str:
        if self._server is None:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def close(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Connect the browser with the host that it asks for, or refuse."""
        try:
            host = await asyncio.wait_for(self._connected(reader, writer), CONNECT_SECONDS)
            if host is None:
                writer.write(REFUSED)
            else:
                await asyncio.gather(_passed(reader, host[1]), _passed(host[0], writer))
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError, asyncio.TimeoutError):
            pass  # the browser shows what it has
        finally:
            writer.close()

    async def _connected(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        """The connection with a host, to which the beginning of a request was sent."""
        head = await reader.readuntil(b"\r\n\r\n")
        line, *fields = head.split(b"\r\n")
        method, target, version = line.decode("ascii").split(" ")
        is_tunnel = method == "CONNECT"
        url = urlsplit(f"https://{target}" if is_tunnel else target)
        host = web_host(url.geturl())
        scope = Scope(frozenset(self.sites), self.named)
        is_known = host and scope.has(url.geturl())
        address = await permitted_address(host, self.named) if host and is_known else None
        if address is None:
            return None
        port = url.port or (443 if url.scheme == "https" else 80)
        to_host = await asyncio.open_connection(address, port)
        if is_tunnel:
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        else:  # each request by a connection of its own: the next may be for another host
            path = url._replace(scheme="", netloc="").geturl() or "/"
            kept = (each for each in fields if not each.lower().startswith(OF_CONNECTIONS))
            begun = f"{method} {path} {version}\r\nConnection: close".encode()
            to_host[1].write(b"\r\n".join((begun, *kept)))
        return to_host


async def _passed(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    """Pass on what *source* gives until it ends, and close *target*."""
    left = MAX_BYTES
    try:
        while left > 0 and (data := await source.read(2**16)):
            left -= len(data)
            target.write(data)
            await target.drain()
    finally:
        target.close()
