from __future__ import annotations

import numpy as np

from scrapy_mss.blocks.page import Page
from scrapy_mss.sites.layout import WATCHED, LayoutWatch, agreement
from scrapy_mss.sites.memory import SiteMemory
from scrapy_mss.sites.observation import BlockKeys
from tests.helpers.memories import page_memory

OLD = "<div class=story><p>One two three</p></div>"
MIXED = "<div class=story><p>Four five six</p></div><main><p>Seven</p></main>"


def known(times: int) -> SiteMemory:
    memory = SiteMemory()
    for _ in range(times):
        memory = memory.plus(page_memory(OLD))
    return memory


def of_page(memory: SiteMemory, html: str) -> float:
    page = Page.of(html)
    return agreement(memory, BlockKeys.of(page), np.ones(len(page.blocks)))


def test_agreement_is_the_share_of_words_in_known_containers() -> None:
    memory = known(WATCHED)

    assert of_page(memory, OLD) == 1.0
    assert of_page(memory, MIXED) == 0.75
    assert of_page(memory, "<main><p>Seven</p></main>") == 0.0


def test_a_memory_of_few_pages_and_a_page_without_text_agree_with_all() -> None:
    assert of_page(known(WATCHED - 1), "<main><p>Seven</p></main>") == 1.0
    assert of_page(known(WATCHED), "") == 1.0


def changes(agreements: list[float]) -> list[int]:
    """At which pages a change is noticed."""
    watch = LayoutWatch()
    return [number for number, each in enumerate(agreements, 1) if watch.has_changed(each)]


def test_a_change_is_noticed_once_when_most_of_the_latest_pages_disagree() -> None:
    assert changes([1.0] * 20 + [0.0] * WATCHED + [1.0] * 20) == [20 + 8]


def test_some_pages_that_disagree_are_no_change() -> None:
    assert changes([0.0, 0.0, 1.0] * 20) == []
