"""Which hosts a crawl of listed sites may send requests to, whatever the sites name.

Two checks. `Scope` is for addresses in feeds, sitemaps, robots.txt and front pages: they have to be
on the site itself, or on a host that the list of sites names for it. `PublicHosts` is for all
requests of the crawl, redirects and robots.txt included: the host has to be public, as a site can
have its own name resolve to an address in the network of whoever crawls it.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit

from twisted.internet.error import DNSLookupError

from scrapy_mss import stats
from scrapy_mss.crawl import _compat
from scrapy_mss.crawl.pages import PrivateHostError
from scrapy_mss.pages.addresses import site_of_host
from scrapy_mss.stats import CrawlStats

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from typing_extensions import Self

logger = logging.getLogger(__name__)

WEB: Final = ("http", "https")
ORDER: Final = 760  # after Scrapy's proxy middleware (750); requests of robots.txt pass here, too
GLOBAL_UNICAST: Final = IPv6Network("2000::/3")  # all others are local or reserved
MAX_ROBOTS: Final = 2**20  # bytes of a robots.txt; RFC 9309 has crawlers read half of that


class Scope(NamedTuple):
    """The addresses that the lists of a site may name."""

    sites: frozenset[str]  # registered domains
    hosts: frozenset[str] = frozenset()  # with their subdomains

    def has(self, url: str) -> bool:
        host = web_host(url)
        if host is None:
            return False
        parents = (host.split(".", count)[-1] for count in range(host.count(".") + 1))
        return site_of_host(host) in self.sites or not self.hosts.isdisjoint(parents)


def web_host(url: str) -> str | None:
    """The host of *url*; None unless that is an http or https address."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:  # an unclosed bracket, and the like
        return None
    return host.rstrip(".") if host and parts.scheme in WEB else None


def is_public(address: str) -> bool:
    """Whether the IP *address* is one of the public internet."""
    ip = ip_address(address)
    if isinstance(ip, IPv6Address) and ip not in GLOBAL_UNICAST:
        return False
    return ip.is_global and not ip.is_multicast


class PublicHosts:
    """Drops requests that are not for http or https, or for a host that is not public.

    The spider's ``named_hosts`` are exempt: IP addresses, and names without a dot, which nobody can
    register. A name is resolved as for its download, and Scrapy's cache of names answers both: it
    cannot mean another address in between. One that cannot be resolved passes only to a proxy,
    which may know it: the cache keeps no failures, so the download would ask again.
    """

    def __init__(self, named: Iterable[str], counts: CrawlStats) -> None:
        self._named = frozenset(named)
        self._stats = counts
        self._logged: set[str] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(getattr(crawler.spider, "named_hosts", ()), CrawlStats(crawler.stats))

    async def process_request(
        self,
        request: Request,
        spider: Spider | None = None,  # noqa: ARG002 - the oldest Scrapy gives it
    ) -> None:
        """Let *request* pass, or raise `PrivateHostError`."""
        host = web_host(request.url)
        why = "it is not for http or https"
        if host is not None:
            private = await self._private_address(request, host)
            if private is None:
                if urlsplit(request.url).path == "/robots.txt":  # Scrapy's own request, too
                    request.meta.setdefault("download_maxsize", MAX_ROBOTS)
                return
            why = (
                f"{host} has the address {private}, which is not public; if that is right, name "
                f"{private} in MSS_SITES, on the line of its site"
            )
        self._stats.add(stats.HOSTS_REFUSED)
        if why not in self._logged:
            self._logged.add(why)
            logger.warning("scrapy-mss: no request for %.200s: %s", request.url, why)
        raise PrivateHostError(why)

    async def _private_address(self, request: Request, host: str) -> str | None:
        if _is_exempt(host, self._named):
            return None
        addresses = [host]
        if not is_ip(host):
            # As the download has it: to the cache, `host.` is another name.
            name = urlsplit(request.url).hostname or host
            addresses = await _compat.addresses_of(name)
            if not addresses and not request.meta.get("proxy"):
                raise DNSLookupError(f"{name}: no address")
        return next(
            (each for each in addresses if each not in self._named and not is_public(each)), None
        )


async def permitted_address(host: str, named: Collection[str]) -> str | None:
    """An address of *host* that may be connected to: one that is public, or *named*."""
    addresses = [host] if is_ip(host) else await _compat.addresses_of(host)
    is_exempt = _is_exempt(host, named)
    permitted = (each for each in addresses if is_exempt or each in named or is_public(each))
    return next(permitted, None)


def _is_exempt(host: str, named: Collection[str]) -> bool:
    """Whether *host* is *named*, and an IP address or a name without a dot."""
    return host in named and ("." not in host or is_ip(host))


def is_ip(host: str) -> bool:
    """Whether *host* is an IP address, and not a name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
