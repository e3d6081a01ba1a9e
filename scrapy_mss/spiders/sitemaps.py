"""Sitemaps: the addresses in them with their dates, and the sitemaps in an index."""

from __future__ import annotations

import re
from itertools import islice
from typing import Final, NamedTuple

from lxml import etree
from scrapy.http import Response, TextResponse
from scrapy.utils.gz import gunzip, gzip_magic_number

from scrapy_mss.spiders.listed import MAX_LISTED, Listed, minute_of, moments_of

MAX_BYTES: Final = 50 * 2**20  # unpacked: what the sitemap protocol allows
_IN_ROBOTS = re.compile(r"^[ \t]*sitemap[ \t]*:[ \t]*(\S+)", re.IGNORECASE | re.MULTILINE)
# When a page was published, and modified. A video of the page may have dates of its own.
DATES: Final = ("{*}news/{*}publication_date", "{*}lastmod")


class Sitemap(NamedTuple):
    """What a sitemap names: pages, or as an index other sitemaps."""

    pages: list[Listed]
    sitemaps: list[Listed]


def named_in_robots(robots: TextResponse) -> list[str]:
    """The sitemaps that a robots.txt names."""
    return [robots.urljoin(url) for url in _IN_ROBOTS.findall(robots.text)]


def read(response: Response) -> Sitemap:
    """The sitemap in *response*, which may be packed; an empty one if it is none."""
    body = response.body
    try:
        if gzip_magic_number(response):
            body = gunzip(body, max_size=MAX_BYTES)
        parser = etree.XMLParser(
            recover=True, resolve_entities=False, no_network=True, remove_comments=True
        )
        # None for what has no element at all, which its types do not say.
        root: etree._Element | None = etree.fromstring(body, parser=parser)
    except (etree.LxmlError, OSError, ValueError):
        root = None
    if root is None:
        return Sitemap([], [])
    pages: list[Listed] = []
    sitemaps: list[Listed] = []
    for element in islice(root.iterchildren("{*}url", "{*}sitemap"), MAX_LISTED):
        location = (element.findtext("{*}loc") or "").strip()
        if not location:
            continue
        texts = [(element.findtext(path) or "").strip() or None for path in DATES]
        minute = max(map(minute_of, texts))
        kind = pages if _local_name(element) == "url" else sitemaps
        kind.append(Listed(response.urljoin(location), minute, moments_of(*texts)))
    return Sitemap(pages, sitemaps)


def _local_name(element: etree._Element) -> str:
    return etree.QName(element).localname
