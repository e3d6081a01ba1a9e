"""Requests: by how probably their address is that of an article, and by the shard of their site."""

from __future__ import annotations

from pathlib import Path

import pytest
from scrapy import FormRequest, Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from scrapy_mss import LinkPriority
from scrapy_mss.crawl.extension import MssExtension
from scrapy_mss.crawl.pages import SITE
from scrapy_mss.sites.context import SiteUpdate
from scrapy_mss.sites.shards import shard_of
from scrapy_mss.spidermiddlewares import ShardMiddleware
from scrapy_mss.spiders.news import NewsSpider
from tests.helpers.memories import address_memory
from tests.plugin.crawling import crawl, fetching
from tests.plugin.parts import MakeCrawler, items_of, page, stat
from tests.plugin.site import Site, index

HOST = "http://a.example"
ARTICLE, SECTION = f"{HOST}/2024/03/26/storm-over-the-harbour", f"{HOST}/section/council"


def ordered(crawler: Crawler, *yielded: object) -> list[object]:
    """What leaves the middleware for a page that the spider yields *yielded* for."""
    part = LinkPriority.from_crawler(crawler)
    return items_of(part, page(index(1), f"{HOST}/"), *yielded)


def remember(crawler: Crawler, path: str, n_pages: int, probability: float) -> None:
    """Have pages at addresses like *path* read, in which {n} is a number."""
    sites = MssExtension.of(crawler).sites
    assert sites is not None
    for n in range(n_pages):
        url = f"{HOST}{path.format(n=n)}"
        sites.learn(url, SiteUpdate(address_memory(url, probability, 30_000_000)))


@pytest.mark.parametrize("part", [LinkPriority, ShardMiddleware])
def test_both_are_off_unless_a_setting_asks_for_them(
    crawler_of: MakeCrawler, part: type[LinkPriority | ShardMiddleware]
) -> None:
    with pytest.raises(NotConfigured):
        part.from_crawler(crawler_of())


@pytest.mark.parametrize("memory", [64, 0])
def test_a_probable_article_comes_before_a_section_and_priorities_add_up(
    crawler_of: MakeCrawler, memory: int
) -> None:
    article, section = Request(ARTICLE, priority=7), Request(SECTION, priority=7)

    ordered(crawler_of(MSS_LINK_PRIORITY=True, MSS_SITE_MEMORY=memory), article, section)

    assert 7 <= section.priority < article.priority <= 17


def test_a_priority_is_by_what_the_site_had_at_such_addresses(crawler_of: MakeCrawler) -> None:
    crawler = crawler_of(MSS_LINK_PRIORITY=True)
    remember(crawler, "/section/x{n}", 20, probability=1.0)
    remember(crawler, "/{n}/03/26/storm-over-the-harbour", 20, probability=0.0)
    article, section = Request(f"{HOST}/section/x99"), Request(ARTICLE.replace("2024", "99"))

    ordered(crawler, article, section)

    assert section.priority < article.priority


def test_a_page_that_is_asked_for_again_keeps_its_priority_and_its_links_get_their_own(
    crawler_of: MakeCrawler,
) -> None:
    crawler, first = crawler_of(MSS_LINK_PRIORITY=True), Request(ARTICLE)
    ordered(crawler, first)
    again, link = first.replace(dont_filter=True), Request(f"{ARTICLE}-again", meta=first.meta)

    ordered(crawler, again, link)

    assert again.priority == link.priority == first.priority > 0


def test_only_requests_of_pages_are_changed(crawler_of: MakeCrawler) -> None:
    item, form = {"url": ARTICLE}, FormRequest(ARTICLE, formdata={"a": "b"})

    assert ordered(crawler_of(MSS_LINK_PRIORITY=True), item, form) == [item, form]
    assert form.priority == 0


def test_links_are_dropped_where_such_pages_were_read(crawler_of: MakeCrawler) -> None:
    crawler = crawler_of(MSS_LINK_PRIORITY=0.3)
    remember(crawler, "/section/x{n}", 20, probability=0.0)
    known, unknown = Request(f"{HOST}/section/x99"), Request(f"{HOST}/tag/storm")

    assert ordered(crawler, known, unknown, Request(ARTICLE))[0] is unknown
    assert stat(crawler, "links/dropped") == 1
    assert unknown.priority < 5


@pytest.mark.parametrize("url", ["data:,x", "http:///", "http://a.example/" + "x" * 5000])
def test_no_address_stops_a_crawl(crawler_of: MakeCrawler, url: str) -> None:
    request = Request(url)

    assert ordered(crawler_of(MSS_LINK_PRIORITY=True), request) == [request]


# Shards

SITES = [f"paper-{number}.example" for number in range(20)]
OURS = [site for site in SITES if shard_of(site, 3) == 2]
OTHERS = [site for site in SITES if site not in OURS]


def test_a_request_with_a_site_is_of_that_site(crawler_of: MakeCrawler) -> None:
    part = ShardMiddleware.from_crawler(crawler_of(MSS_SHARD="2/3"))
    ours = Request(f"https://{OTHERS[0]}/", meta={SITE: OURS[0]})

    assert part.get_processed_request(ours, page("")) is ours


def test_the_spider_begins_with_the_sites_of_its_shard(crawler_of: MakeCrawler) -> None:
    crawler = crawler_of(MSS_SHARD="2/3")

    spider = NewsSpider.from_crawler(crawler, sites=SITES)

    assert sorted(spider.sites) == sorted(OURS)


def test_crawls_of_all_shards_have_each_page_once(tmp_path: Path, site: Site) -> None:
    hosts = ("127.0.0.1", "localhost")
    urls = [url for host in hosts for url in site.urls("plain", range(3), host)]

    found = crawl(tmp_path, [fetching(urls, MSS_SHARD=f"{n}/3") for n in range(1, 4)])

    assert sorted(item.url for each in found for item in each.items) == sorted(urls)
    assert sum(each.mss("shard/dropped") for each in found) == 2 * len(urls)
    for number, each in enumerate(found, 1):
        own = [host for host in hosts if shard_of(host, 3) == number]
        assert len(each.items) == 3 * len(own)
