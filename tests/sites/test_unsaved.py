from __future__ import annotations

from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.sites.crawled import ADDED_AT_ONCE, Batch
from scrapy_mss.sites.memory import SiteMemory
from tests.helpers.memories import page_memory

PAGE = page_memory("<main><p>One two</p><p>Three</p></main>")
STEPS = st.lists(st.tuples(st.sampled_from("ab"), st.booleans()), max_size=6)


def batch(steps: list[tuple[str, bool]]) -> Batch:
    """A page for each step, with which the site may begin anew."""
    made = Batch()
    for site, anew in steps:
        if anew:
            made.reset(site)
        made.add(site, PAGE)
    return made


@given(STEPS, STEPS)
def test_two_batches_are_the_batch_of_all_steps(
    first: list[tuple[str, bool]], later: list[tuple[str, bool]]
) -> None:
    joined = batch(first)
    joined.follow(batch(later))

    at_once = batch(first + later)
    assert joined.learned() == at_once.learned()
    assert joined.forgotten == at_once.forgotten


@given(st.lists(st.sampled_from("ab"), max_size=3 * ADDED_AT_ONCE))
def test_a_batch_is_the_sum_of_what_was_added(sites: list[str]) -> None:
    added = batch([(site, False) for site in sites])

    for site in "ab":
        pages = [PAGE for each in sites if each == site]
        assert added.of(site) == reduce(SiteMemory.plus, pages, SiteMemory())
