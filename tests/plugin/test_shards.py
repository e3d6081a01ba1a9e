"""Crawls that share the sites of one list."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from scrapy_mss.crawl.pages import SITE
from scrapy_mss.sites.shards import shard_of
from scrapy_mss.spidermiddlewares import ShardMiddleware
from scrapy_mss.spiders.news import NewsSpider
from tests.plugin.crawling import ADDON, Job, crawl
from tests.plugin.parts import items_of, page, stat
from tests.plugin.site import Site

MakeCrawler = Callable[..., Crawler]
SITES = [f"paper-{number}.example" for number in range(20)]
OURS = [site for site in SITES if shard_of(site, 3) == 2]
OTHERS = [site for site in SITES if site not in OURS]


def test_it_is_off_unless_the_setting_asks_for_it(crawler_of: MakeCrawler) -> None:
    with pytest.raises(NotConfigured):
        ShardMiddleware.from_crawler(crawler_of())


def test_requests_for_sites_of_other_shards_are_dropped_and_counted(
    crawler_of: MakeCrawler,
) -> None:
    crawler = crawler_of(MSS_SHARD="2/3")
    part = ShardMiddleware.from_crawler(crawler)
    found = [Request(f"https://www.{site}/story") for site in SITES]
    item = {"url": f"https://{OTHERS[0]}/"}

    kept = items_of(part, page("", f"https://{OURS[0]}/"), *found, item)

    assert [each.url for each in kept[:-1]] == [f"https://www.{site}/story" for site in OURS]
    assert kept[-1] is item
    assert stat(crawler, "shard/dropped") == len(OTHERS)


def test_a_request_with_a_site_is_of_that_site(crawler_of: MakeCrawler) -> None:
    part = ShardMiddleware.from_crawler(crawler_of(MSS_SHARD="2/3"))
    ours = Request(f"https://{OTHERS[0]}/", meta={SITE: OURS[0]})

    assert items_of(part, page(""), ours) == [ours]


def test_the_spider_begins_with_the_sites_of_its_shard(crawler_of: MakeCrawler) -> None:
    crawler = crawler_of(MSS_SHARD="2/3")

    spider = NewsSpider.from_crawler(crawler, sites=SITES)

    assert sorted(spider.sites) == sorted(OURS)


def test_crawls_of_all_shards_have_each_page_once(tmp_path: Path, site: Site) -> None:
    hosts = ("127.0.0.1", "localhost")
    urls = [url for host in hosts for url in site.urls("plain", range(3), host)]
    jobs = [
        Job(arguments={"urls": urls}, settings={**ADDON, "MSS_SHARD": f"{n}/3"})
        for n in range(1, 4)
    ]

    found = crawl(tmp_path, jobs)

    assert sorted(item.url for each in found for item in each.items) == sorted(urls)
    assert sum(each.mss("shard/dropped") for each in found) == 2 * len(urls)
    for number, each in enumerate(found, 1):
        own = [host for host in hosts if shard_of(host, 3) == number]
        assert len(each.items) == 3 * len(own)


def test_what_is_no_shard_stops_the_crawl_and_says_what_is_expected(tmp_path: Path) -> None:
    (found,) = crawl(tmp_path, [Job(settings={**ADDON, "MSS_SHARD": "9/8"})])

    assert "MSS_SHARD: expected two numbers such as '3/8'" in found.error
