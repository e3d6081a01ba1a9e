"""What addresses are worth in a crawl, by the studies of sites."""

from __future__ import annotations

from research.studies.link_priority import ORDERS, CrawledPage, area, crawl, in_first_half

HOST = "http://a.example"
STORIES = [f"{HOST}/2024/03/26/storm-over-the-harbour-{n}" for n in range(6)]
LISTS = [f"{HOST}/section/{name}" for name in ("council", "sport", "weather")]


def site() -> dict[str, CrawledPage]:
    """A site whose front page links to all of its pages, and lists to stories."""
    front = CrawledPage(f"{HOST}/", is_article=False, probability=0.1, links=(*STORIES, *LISTS))
    pages = [front]
    pages += [CrawledPage(url, is_article=True, probability=0.9, links=()) for url in STORIES]
    pages += [CrawledPage(url, is_article=False, probability=0.1, links=()) for url in LISTS]
    return {page.url: page for page in pages}


def test_addresses_bring_articles_into_the_first_half() -> None:
    without, by_address, *_ = (in_first_half(crawl(site(), f"{HOST}/", order)) for order in ORDERS)

    assert without < by_address == 4 / 6


def test_the_area_is_the_share_of_pairs_in_order() -> None:
    assert area([0.9, 0.5], [0.1, 0.5]) == 0.875
    assert area([0.1], [0.9]) == 0.0
