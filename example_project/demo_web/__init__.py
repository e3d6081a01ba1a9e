"""Five made-up news sites to crawl: their pages, what an extractor should find, and a server.

    >>> import demo_web
    >>> [page.url for page in demo_web.pages("daily-harbour") if page.kind == "video"]

Nothing here is needed for using scrapy-mss.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from demo_web.rendering import render
from demo_web.server import serving
from demo_web.site import LATER, SITES, Site

__all__ = ["LATER", "SITES", "RenderedPage", "pages", "serving"]


class RenderedPage(NamedTuple):
    """A page as it is served; *expected* is the text of its article, empty on all other pages."""

    url: str
    kind: str
    html: str
    expected: str


def pages(name: str, sites: Mapping[str, Site] = SITES) -> Iterator[RenderedPage]:
    """All pages of the site of that name, the same on every run; of `LATER`, an hour later."""
    site = sites[name]
    for page in site.pages:
        url = f"http://{site.host}{page.path}"
        yield RenderedPage(url, page.kind, render(site, page), page.expected)
