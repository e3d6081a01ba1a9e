"""One crawl over sites that try what a list can try: what it asks for, and what comes of it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from scrapy_mss.spiders.news import MAX_LISTS
from tests.plugin.crawling import Crawl, crawl_news
from tests.spiders.hostile_sites import HOSTILE, LIMIT, SOUND, VAULT, Web, serving

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="sites have addresses from 127.0.0.2 on"),
    pytest.mark.slow("a crawl of all that a list can try"),
]


class Crawled(NamedTuple):
    """The sites, and what came of the crawl."""

    web: Web
    found: Crawl

    def items(self) -> Counter[str]:
        """How many items came from each site."""
        names = {site.url: name for name, site in self.web.sites.items()}
        urls = (item.url for item in self.found.items)
        return Counter(names.get("/".join(url.split("/")[:3]) + "/", url) for url in urls)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    folder = tmp_path_factory.mktemp("hostile")
    with serving(folder) as web:
        sites = ",".join(site.url for site in web.sites.values())
        settings = {"ROBOTSTXT_OBEY": True, "CONCURRENT_REQUESTS": 32}
        yield Crawled(web, crawl_news(folder, sites, limit=LIMIT, **settings))


def test_nothing_is_asked_for_that_no_list_may_name(crawled: Crawled) -> None:
    assert crawled.web.inside.asked == Counter()
    assert VAULT not in repr(crawled.found.items)
    assert not any("file" in name for name in crawled.found.stats if "downloader/" in name)


def test_each_site_gives_its_own_articles_and_no_others(crawled: Crawled) -> None:
    expected = {"sound 1": SOUND, "sound 2": SOUND} | {name: n for name, (_, n) in HOSTILE.items()}

    items = crawled.items()
    wrong = {name: (items[name], expected.get(name)) for name in {*items, *expected}}
    assert {name: both for name, both in wrong.items() if len({*both}) > 1} == {}
    assert len({item.url for item in crawled.found.items}) == len(crawled.found.items)


def test_no_site_is_asked_for_more_than_its_share(crawled: Crawled) -> None:
    # Of each: robots.txt for Scrapy, lists, articles, and the further pages of these.
    most = 1 + MAX_LISTS + 2 * LIMIT

    assert all(site.asked.total() <= most for site in crawled.web.sites.values())


def test_no_list_raises(crawled: Crawled) -> None:
    assert crawled.found.stats["finish_reason"] == "finished"
    assert not [name for name in crawled.found.stats if "spider_exceptions" in name]
    assert crawled.found.mss("lists/failed/error") == 0
    assert crawled.found.mss("lists/failed/too_large") == 1  # the packed sitemap of a gigabyte
