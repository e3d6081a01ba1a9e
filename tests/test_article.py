"""Reading a page for a crawl, for a worker and for a command is one function."""

from __future__ import annotations

import pytest

from scrapy_mss import Extractor
from scrapy_mss.article import ModelState, read_article
from scrapy_mss.models.bundled import bundled_model
from tests.page_cases import PageCase, read_cases


@pytest.mark.parametrize("case", read_cases()[:40], ids=lambda case: case.name)
def test_a_page_is_read_with_its_address(case: PageCase) -> None:
    for url in ("https://news.example/", "https://news.example/2026/03/05/rain-falls-in-may.html"):
        extraction = Extractor.load().extract(case.source, url)
        result = read_article(case.source, url, ModelState.of(bundled_model()))

        found = result.article.probability if result.article else None
        assert found == (round(extraction.probability, 4) if extraction.is_article else None)
