from __future__ import annotations

import numpy as np
import pytest

from scrapy_mss.sites.crawled import VOTES, WATCHED, LayoutWatch, agreement
from scrapy_mss.sites.memory import SiteMemory
from tests.helpers.memories import page_memory

OLD = page_memory("<div class=story><p>One two three</p></div>")
NEW = page_memory("<main><p>Four five six</p></main>")
BOTH = page_memory("<div class=story><p>One two</p></div><main><p>Three</p></main>")


def test_agreement_is_the_share_of_votes_for_known_containers() -> None:
    known = OLD.containers.keys

    assert agreement(known, OLD) == 1.0
    assert agreement(known, NEW) == 0.0
    assert 0 < agreement(known, BOTH) <= 1
    assert agreement(known, SiteMemory()) == 1.0
    assert agreement(SiteMemory().containers.keys, OLD) == 0.0
    votes = BOTH.containers.rows[:, VOTES]
    assert agreement(known, BOTH) == votes[np.isin(BOTH.containers.keys, known)].sum() / votes.sum()


def changes(pages: list[SiteMemory]) -> list[int]:
    """After how many pages a change is noticed, where all pages are remembered."""
    watch, known, noticed = LayoutWatch(), SiteMemory(), []
    for number, page in enumerate(pages, 1):
        if watch.has_changed(known, page):
            noticed.append(number)
            known = SiteMemory()
        known = known.plus(page)
    return noticed


@pytest.mark.parametrize("before", range(WATCHED, 4 * WATCHED))
def test_a_change_is_noticed_once_within_two_windows(before: int) -> None:
    """Although the first page of the new layout makes its containers known."""
    (noticed,) = changes([OLD] * before + [NEW] * 6 * WATCHED)

    assert 0 < noticed - before <= 2 * WATCHED


def test_a_site_with_two_layouts_does_not_change() -> None:
    assert changes([OLD, OLD, NEW] * 30) == []


def test_of_few_pages_nothing_is_told() -> None:
    assert changes([OLD] * (WATCHED - 1) + [NEW] * (WATCHED - 1)) == []
