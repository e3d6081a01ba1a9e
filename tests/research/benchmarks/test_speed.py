"""The stages that are timed are those of an extraction, and what is beyond a target is marked."""

from __future__ import annotations

import pytest

from research.benchmarks.speed import WAYS, Clock, Costs, read_in_stages
from scrapy_mss import Extractor
from scrapy_mss.models.files import bundled_model
from tests.helpers.news_pages import news_page


@pytest.mark.parametrize("way", WAYS)
def test_the_stages_of_a_page_come_to_its_text(way: str) -> None:
    html, costs, model = news_page(0).html, Costs(), bundled_model()

    with WAYS[way]():
        text = read_in_stages(html, "", model, Clock(costs.stages))

    assert text == Extractor.of(model).extract(html).text
    assert len(text) > 100
    assert all(len(times) == 1 and times[0] >= 0 for times in costs.stages.values())
