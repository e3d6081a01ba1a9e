"""What is counted of a wrapper's selectors, what a miss means, and the summary in the log."""

from __future__ import annotations

import pytest
from scrapy.crawler import Crawler
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.test import get_crawler

from scrapy_mss import stats
from scrapy_mss.crawl.extension import summary
from scrapy_mss.downloadermiddlewares import TrainingMiddleware
from scrapy_mss.pipelines import ArticlePipeline
from scrapy_mss.spidermiddlewares import ArticleMiddleware
from scrapy_mss.stats import CrawlStats
from scrapy_mss.wrappers import Wrapper, load_wrappers
from tests.plugin.parts import MakeCrawler, items_of, page, passed, processed, stat
from tests.plugin.site import plain, wrapped

RULE = {
    "site": "127.0.0.1",
    "body": "article.story",
    "title": "h1",
    "authors": "span.nobody",
    "exclude": "div.box",
}
DROPPING = {**RULE, "drop_misses": True}


def read(crawler: Crawler, html: str) -> dict[str, object]:
    """The item of a page of 127.0.0.1, as the pipeline leaves it."""
    response = page(html)  # which the crawl holds as long as its items are processed
    (item,) = items_of(ArticleMiddleware.from_crawler(crawler), response, {"url": ""})
    done = processed(ArticlePipeline.from_crawler(crawler), item)
    assert isinstance(done, dict)
    return done


def test_each_field_of_a_labelled_page_is_a_hit_or_a_miss(crawler_of: MakeCrawler) -> None:
    crawler = crawler_of(MSS_WRAPPERS=[RULE])

    read(crawler, wrapped(1))

    assert crawler.stats is not None
    fields = {name: n for name, n in crawler.stats.get_stats().items() if "wrapper/field" in name}
    assert fields == {
        "mss/wrapper/field/hit/127.0.0.1/title": 1,
        "mss/wrapper/field/miss/127.0.0.1/authors": 1,
        "mss/wrapper/field/hit/127.0.0.1/exclude": 1,
    }


@pytest.mark.parametrize(
    "wrapper",
    [
        {**DROPPING, "site": "example.com"},  # another site's
        {**DROPPING, "url": "/other/*"},  # not for this page
        {**DROPPING, "body": {"xpath": "//p[re:test(., //title)]"}},  # it fails
    ],
)
def test_only_a_miss_of_the_page_s_own_wrapper_is_dropped(
    crawler_of: MakeCrawler, wrapper: dict[str, object]
) -> None:
    html = plain(1).replace("<title>", "<title>(")  # no pattern, where it is taken for one

    assert "text" in read(crawler_of(MSS_WRAPPERS=[wrapper]), html)


def test_the_model_reads_the_pages_of_a_wrapper_that_only_trains(crawler_of: MakeCrawler) -> None:
    crawler = crawler_of(MSS_WRAPPERS=[{**RULE, "train_only": True}])

    item = read(crawler, wrapped(1))
    passed(TrainingMiddleware.from_crawler(crawler), page(wrapped(1)))

    assert str(item["extractor"]).startswith("mss:")
    assert stat(crawler, "extract/source/model") == 1
    assert stat(crawler, "train/learned") == 1


# The summary


@pytest.fixture
def numbers(reactor: None) -> CrawlStats:
    return CrawlStats(MemoryStatsCollector(get_crawler()))


def wrappers(*sites: str) -> list[Wrapper]:
    return list(load_wrappers([{"site": site, "body": "article", "title": "h1"} for site in sites]))


def lines(numbers: CrawlStats, *sites: str) -> list[str]:
    return summary(numbers, wrappers(*sites), "default@9p").splitlines()


def test_a_site_is_named_if_its_wrapper_missed_and_never_hit(numbers: CrawlStats) -> None:
    for site in ("b.com", "a.com", "both.com"):
        numbers.add(stats.WRAPPER_MISS, site=site)
    numbers.add(stats.WRAPPER_HIT, site="both.com")

    *_, last = lines(numbers, "both.com", "b.com", "a.com", "unseen.com")

    silent = "wrappers that matched no page of their site: a.com, b.com; check them with "
    assert last == f"scrapy-mss: {silent}`scrapy mss check`"


def test_many_sites_have_few_stats_and_are_summarized_all(numbers: CrawlStats) -> None:
    """As many rules as a folder of imported ones has."""
    sites = [f"{number}.com" for number in range(1770)]
    for site in sites:
        numbers.add(stats.WRAPPER_MISS, 2, site=site)
        numbers.add(stats.FIELD_MISS, site=site, field="title")

    assert isinstance(numbers.collector, MemoryStatsCollector)
    found = numbers.collector.get_stats()
    assert len(found) == 2 * (stats.MAX_SITES + 1)
    assert found["mss/wrapper/0.com/miss"] == 2
    assert found[f"mss/wrapper/{stats.OTHER_SITES}/miss"] == 2 * (1770 - stats.MAX_SITES)
    assert numbers.get(stats.WRAPPER_MISS, site=sites[-1]) == 2
    assert "and 1760 more" in lines(numbers, *sites)[-1]


def test_a_field_is_named_if_it_was_missed_and_never_hit(numbers: CrawlStats) -> None:
    """Not one that a page may do without, nor one of a site on which nothing was labelled."""
    for site in ("a.com", "b.com"):
        numbers.add(stats.WRAPPER_HIT, site=site)
    for field in ("exclude", "published", "title", "authors"):
        for site in ("a.com", "b.com", "none.com"):
            numbers.add(stats.FIELD_MISS, site=site, field=field)
    for site, field in (("a.com", "authors"), ("b.com", "title"), ("b.com", "published")):
        numbers.add(stats.FIELD_HIT, site=site, field=field)

    *others, last = lines(numbers, "a.com", "b.com", "none.com")

    fields = "a.com (title, published), b.com (authors)"
    missed = f"wrappers whose fields were on no page: {fields}; check them with `scrapy mss check`"
    assert last == f"scrapy-mss: {missed}"
    assert len(others) == 2
