"""Sitemaps: the addresses in them with their dates, and the sitemaps in an index."""

from __future__ import annotations

import re
import zlib
from itertools import islice
from typing import Final, NamedTuple

from lxml import etree
from scrapy.http import Response, TextResponse
from scrapy.utils.gz import gunzip, gzip_magic_number

from scrapy_mss.spiders.listed import MAX_BYTES, MAX_LISTED, Listed, listing, web_url

_IN_ROBOTS = re.compile(r"^[ \t]*sitemap[ \t]*:[ \t]*(\S+)", re.IGNORECASE | re.MULTILINE)
# When a page was published, and modified. A video of the page may have dates of its own.
DATES: Final = ("{*}news/{*}publication_date", "{*}lastmod")


class TooLargeError(Exception):
    """A packed sitemap has more than `MAX_BYTES`."""


class Sitemap(NamedTuple):
    """What a sitemap names: pages, or as an index other sitemaps."""

    pages: list[Listed]
    sitemaps: list[Listed]


def named_in_robots(robots: TextResponse) -> list[str]:
    """The sitemaps that a robots.txt names."""
    named = (web_url(url, robots.url) for url in _IN_ROBOTS.findall(robots.text))
    return [url for url in named if url]


def read(response: Response) -> Sitemap:
    """The sitemap in *response*, which may be packed; an empty one if it is none.

    One that is too large raises `TooLargeError`.
    """
    try:
        body = _unpacked(response) if gzip_magic_number(response) else response.body
        parser = etree.XMLParser(
            recover=True, resolve_entities=False, no_network=True, remove_comments=True
        )
        # None for what has no element at all, which its types do not say.
        root: etree._Element | None = etree.fromstring(body, parser=parser)
    except (etree.LxmlError, OSError, EOFError, ValueError, zlib.error):
        root = None
    if root is None:
        return Sitemap([], [])
    pages: list[Listed] = []
    sitemaps: list[Listed] = []
    for element in islice(root.iterchildren("{*}url", "{*}sitemap"), MAX_LISTED):
        url = web_url(element.findtext("{*}loc") or "", response.url)
        if url:
            texts = [(element.findtext(path) or "").strip() or None for path in DATES]
            kind = pages if _local_name(element) == "url" else sitemaps
            kind.append(listing(url, *texts))
    return Sitemap(pages, sitemaps)


def _unpacked(response: Response) -> bytes:
    try:
        return gunzip(response.body, max_size=MAX_BYTES)
    except ValueError as error:  # Scrapy's class for it is private
        raise TooLargeError(f"unpacked, it has more than {MAX_BYTES} bytes") from error


def _local_name(element: etree._Element) -> str:
    return etree.QName(element).localname
