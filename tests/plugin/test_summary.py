from __future__ import annotations

import pytest
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.test import get_crawler

from scrapy_mss import stats
from scrapy_mss.crawl.extension import summary
from scrapy_mss.stats import CrawlStats
from scrapy_mss.wrappers import Wrapper, load_wrappers

pytestmark = pytest.mark.usefixtures("reactor")


@pytest.fixture
def numbers() -> CrawlStats:
    return CrawlStats(MemoryStatsCollector(get_crawler()))


def wrappers(*sites: str) -> list[Wrapper]:
    return list(load_wrappers([{"site": site, "body": "article", "title": "h1"} for site in sites]))


def lines(numbers: CrawlStats, *sites: str) -> list[str]:
    return summary(numbers, wrappers(*sites), "default@9p").splitlines()


def test_without_wrappers_there_are_two_lines(numbers: CrawlStats) -> None:
    numbers.add(stats.EXTRACT_PAGES, 3)
    numbers.add(stats.EXTRACT_ARTICLES, 2)
    numbers.add(stats.EXTRACT_PROBABILITY, 1.5)

    assert lines(numbers) == [
        "scrapy-mss: learned 0 of 0 pages of 0 wrapped sites (model default@9p)",
        "scrapy-mss: 2 articles in 3 pages, mean probability 0.75",
    ]


def test_a_site_is_named_if_its_wrapper_missed_and_never_hit(numbers: CrawlStats) -> None:
    for site in ("b.com", "a.com", "both.com"):
        numbers.add(stats.WRAPPER_MISS, site=site)
    numbers.add(stats.WRAPPER_HIT, site="both.com")

    *_, last = lines(numbers, "both.com", "b.com", "a.com", "unseen.com")

    told = "wrappers that matched no page of their site: a.com, b.com; check them with "
    assert last == f"scrapy-mss: {told}`scrapy mss check`"


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
    told = f"wrappers whose fields were on no page: {fields}; check them with `scrapy mss check`"
    assert last == f"scrapy-mss: {told}"
    assert len(others) == 2
