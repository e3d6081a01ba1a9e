"""The site of a host: its registrable domain, which all hosts of one publisher share.

Where a registrable domain begins only the Public Suffix List knows: `bbc.co.uk`, `sub.bbc.com`. The
snapshot that tldextract brings is used, and neither the network nor a cache on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final, Protocol
from urllib.parse import urlsplit

CACHED: Final = 4096  # hosts; a crawl asks for the same few again and again


def site_of(host_or_url: str) -> str:
    """The site of a host or an absolute URL, in lower case and ASCII; "" if there is no host.

    A host without a registrable domain, such as ``localhost`` or an IP address, is its own site.
    """
    has_scheme = "//" in host_or_url
    try:
        host = urlsplit(host_or_url if has_scheme else f"//{host_or_url}").hostname or ""
    except ValueError:  # an unclosed bracket, and the like
        return ""
    return _site_of_host(host)


@lru_cache(CACHED)
def _site_of_host(host: str) -> str:
    host = _in_ascii(host.strip(".")).removeprefix("www.")
    parts = domain_extractor()(host)
    return f"{parts.domain}.{parts.suffix}" if parts.domain and parts.suffix else host


def _in_ascii(host: str) -> str:
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:  # an empty or overlong label, or a lone surrogate
        return host


class _Parts(Protocol):
    domain: str
    suffix: str


@lru_cache(maxsize=1)
def domain_extractor() -> Callable[[str], _Parts]:
    """What splits a host or a URL by the bundled Public Suffix List; nothing is fetched."""
    import tldextract  # 90 ms and `requests`, which the extractor alone does not need

    return tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
