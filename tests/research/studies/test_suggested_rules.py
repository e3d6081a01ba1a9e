"""The study of suggested rules: what is measured on a page, and what its table counts."""

from __future__ import annotations

from research.datasets.pages import LabelledPage
from research.studies.suggested_rules import GIVEN, Measured, Site, measured
from scrapy_mss.extractor import Extractor
from scrapy_mss.wrappers import Registry, Wrapper, css
from tests.helpers.suggested_sites import article, text_of


def labelled(number: int) -> LabelledPage:
    page = article(number)
    return LabelledPage(str(number), "news.example", page.html, (text_of(number),), url=page.url)


def test_a_rule_is_measured_on_the_pages_that_it_was_not_made_of() -> None:
    pages = [labelled(number) for number in range(GIVEN + 2)]
    by_hand = Wrapper(site="news.example", body=(css(".story-text"),))

    found = measured("news.example 2024", pages, Extractor(), Registry([by_hand]))

    assert len(found.pages) == 2
    assert found.in_crawl == found.alone == 1.0
    assert found.body <= 1.0
    assert found.by_hand is not None
    assert found.by_hand[0] < found.by_hand[1] == 1.0  # the one by hand has the boxes, too


def test_pages_that_a_rule_does_not_match_are_those_of_the_model() -> None:
    site = Site("a", 0, (Measured(0.8, None, None, 0.8), Measured(0.8, 1.0, 0.5, 0.9)))

    assert (site.model, site.in_crawl, site.alone) == (0.8, 0.9, 0.5)
    assert round(site.body, 3) == 0.85
    assert site.by_hand == (0.5, 1.0)
