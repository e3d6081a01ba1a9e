"""What pages and sites of a crawl say on their use by machines.

Pages say it themselves. robots.txt is read when it comes by, as Scrapy's middleware downloads it;
what has not come by is requested, once for each host that an article comes from.
"""

from __future__ import annotations

import logging
from asyncio import Lock
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

from scrapy_mss.crawl._compat import runs_asyncio
from scrapy_mss.crawl.pages import OF_PROXY, OK, inherited_meta, proxy_login
from scrapy_mss.pages.reservations import HEADER, HEADERS, MAX_FILE, Reservation, SiteFiles, stated

logger = logging.getLogger(__name__)

MAX_HOSTS: Final = 10_000  # whose files are kept: as a rule some kilobytes each
ROBOTS, TDMREP = "/robots.txt", "/.well-known/tdmrep.json"
# Nobody else is asked, no error is mended, no more is downloaded than is read, and not for long:
# the articles of the host wait for it, and where these are many, the crawl.
ONCE: Final = {
    "download_timeout": 15,
    "dont_redirect": True,
    "dont_retry": True,
    "download_maxsize": MAX_FILE,
    "download_warnsize": 0,
}
Fetch = Callable[[Request], Awaitable[Response]]


@dataclass(slots=True)
class _Host:
    files: SiteFiles = field(default_factory=SiteFiles)
    lock: Lock = field(default_factory=Lock)
    known: set[str] = field(default_factory=set)  # paths of files that were read, or are not there


class Reservations:
    """What is published on the pages of a crawl; *fetch* downloads what has not come by."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._hosts: dict[str, _Host] = {}

    async def of(
        self, response: Response, declared: tuple[Reservation, ...]
    ) -> tuple[Reservation, ...]:
        """What is published on the page of *response*, which says what is *declared* in it."""
        url = urlsplit(response.url)
        host = self._host(response.url)
        if runs_asyncio():
            async with host.lock:
                for path in (ROBOTS, TDMREP):
                    asked = f"{url.scheme}://{url.netloc}{path}"
                    await self._ask(host, asked, path, response.request)
        values = {
            name: [str(value, "latin-1") for value in response.headers.getlist(name)]
            for name in HEADERS
        }
        path = url._replace(scheme="", netloc="", fragment="").geturl() or "/"
        return (*stated(HEADER, values), *declared, *host.files.of(path))

    def note(self, response: Response) -> None:
        """Note what *response* says, if it is a robots.txt, or that there is none."""
        if urlsplit(response.url).path == ROBOTS:
            self._read(self._host(response.url), ROBOTS, response)

    def _host(self, url: str) -> _Host:
        host = self._hosts.setdefault("://".join(urlsplit(url)[:2]), _Host())
        if len(self._hosts) > MAX_HOSTS:
            del self._hosts[next(iter(self._hosts))]
        return host

    async def _ask(self, host: _Host, url: str, path: str, page: Request | None) -> None:
        """Read the file at *url*, through the proxy of the request for a *page*, if it has one."""
        if path in host.known:
            return
        host.known.add(path)
        given = inherited_meta(page)
        meta = {**ONCE, "dont_obey_robotstxt": path == ROBOTS}
        meta |= {name: given[name] for name in OF_PROXY if name in given}
        request = Request(url, NO_CALLBACK, headers=proxy_login(page), meta=meta, dont_filter=True)
        try:
            response = await self._fetch(request)
        except Exception:
            logger.debug("scrapy-mss: cannot download %s", url, exc_info=True)
            return
        self._read(host, path, response)

    def _read(self, host: _Host, path: str, response: Response) -> None:
        host.known.add(path)
        if response.status != OK:
            return
        text = response.body[:MAX_FILE].decode("utf-8-sig", "replace")
        files = host.files
        host.files = files.with_robots(text) if path == ROBOTS else files.with_tdmrep(text)
