"""Eight made-up news sites to crawl: their pages, their gold texts, and a small server for them.

    >>> import demo_web
    >>> demo_web.gold("daily-harbour")["/2024/01/08/…"].text

Nothing here is needed for using scrapy-mss. The sites' hosts end in `.example`, a domain that
belongs to nobody: the server is used as an HTTP proxy, and no name is ever looked up.
"""

from __future__ import annotations

from collections.abc import Iterator

from demo_web import publishing
from demo_web.page import Gold, Page
from demo_web.running import running
from demo_web.sites import SITES

__all__ = ["SITES", "Gold", "Page", "gold", "pages", "running"]


def pages(site: str) -> Iterator[Page]:
    """All pages of the site of that name, the same bytes on every run."""
    return publishing.pages(SITES[site])


def gold(site: str) -> dict[str, Gold]:
    """What an extractor should find, by address, for every article and live blog of the site."""
    every = SITES[site]
    return {
        found.url: found
        for found in (publishing.gold(every, story) for story in (*every.stories, *every.live))
    }
