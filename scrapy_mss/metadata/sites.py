"""The site of a host: its registrable domain, which all hosts of one publisher share.

Where a registrable domain begins only the Public Suffix List knows: `bbc.co.uk`, `sub.bbc.com`. The
snapshot that tldextract brings is used, and neither the network nor a cache on disk. Of the list a
set of its rules is kept: what tldextract itself makes of it is some 18,000 objects, which take 6 MB
and a third of the time of each collection of garbage.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple
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
    return site_of_host(host)


@lru_cache(CACHED)
def site_of_host(host: str) -> str:
    """The site of a *host* in lower case."""
    host = _in_ascii(host.strip(".")).removeprefix("www.")
    labels = host.rsplit(".", public_suffixes().most_labels + 1)
    n_labels = _labels_of_suffix(labels)
    return ".".join(labels[-n_labels - 1 :]) if 0 < n_labels < len(labels) else host


def _in_ascii(host: str) -> str:
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:  # an empty or overlong label, or a lone surrogate
        return host


def _labels_of_suffix(labels: list[str]) -> int:
    """How many of the last *labels* are a public suffix: by an exception, else the longest rule."""
    rules, longest = public_suffixes().rules, 0
    for n_labels in range(1, len(labels) + 1):
        label, *parents = labels[-n_labels:]
        parent = ".".join(parents)
        if f"!{label}.{parent}" in rules:
            return n_labels - 1
        if (f"{label}.{parent}" if parents else label) in rules or f"*.{parent}" in rules:
            longest = n_labels
    return longest


class PublicSuffixes(NamedTuple):
    """The rules of the Public Suffix List, as they are written there and in ASCII."""

    rules: frozenset[str]
    most_labels: int  # of a rule


@lru_cache(maxsize=1)
def public_suffixes() -> PublicSuffixes:
    """The bundled Public Suffix List; nothing is fetched."""
    import tldextract  # 90 ms and `requests`, which the extractor alone does not need

    listed = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None).tlds
    rules = frozenset(listed) | {_in_ascii(rule) for rule in listed if not rule.isascii()}
    return PublicSuffixes(rules, max(rule.count(".") + 1 for rule in rules))
