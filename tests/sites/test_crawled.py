from __future__ import annotations

import logging

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.sites.context import SiteUpdate
from scrapy_mss.sites.crawled import (
    MAX_WAITING,
    WATCHED,
    Batch,
    CrawledSites,
    LayoutWatch,
    agreement,
)
from scrapy_mss.sites.memory import VOTES, SiteMemory
from scrapy_mss.sites.store import SiteStore
from tests.helpers.checkpoints import alone, finish, write
from tests.helpers.memories import NOW, page_memory
from tests.helpers.shelves import Shelf

PAGE = page_memory("<main><p>One two</p><p>Three</p></main>")
OTHER = page_memory("<table><tr><td>Four five</td></tr></table>")
SITES = [f"{letter}.example" for letter in "abcde"]
PLENTY = 10**9


def kept(shelf: Shelf) -> dict[str, SiteMemory]:
    """The memories in the store."""
    shelf.is_broken = False
    sites = SiteStore(shelf)
    return {site.name: sites.load(site.name) for site in sites.sites()}


def learn(sites: CrawledSites, site: str, update: SiteUpdate) -> None:
    """A page of *site* that was not there before."""
    sites.learn(f"http://{site}/{sites.pages}", update)


def crawl(shelf: Shelf, max_bytes: int = PLENTY) -> CrawledSites:
    return alone(CrawledSites(SiteStore(shelf), max_bytes, lambda: NOW), shelf)


def pages_known(sites: CrawledSites, site: str) -> float:
    return sites.context(f"http://{site}/").memory.pages


@given(st.lists(st.sampled_from(SITES), max_size=30), st.integers(0, 3), st.integers(1, 9))
def test_nothing_is_forgotten_however_few_sites_are_held(
    visits: list[str], held: int, every: int
) -> None:
    shelf = Shelf()
    sites = crawl(shelf, PAGE.size * held)
    for number, site in enumerate(visits, 1):
        learn(sites, site, SiteUpdate(PAGE))
        if number % every == 0:
            write(sites)

    assert [pages_known(sites, site) for site in SITES] == [visits.count(site) for site in SITES]
    write(sites)
    for site in SITES:
        assert SiteStore(shelf).load(site).pages == visits.count(site)


def test_sites_that_are_learned_or_only_looked_at_are_bounded() -> None:
    learned, seen = crawl(Shelf(), 3 * PAGE.size), crawl(Shelf(), 3 * SiteMemory().size)

    for site in SITES * 3:
        learn(learned, site, SiteUpdate(PAGE))
        seen.context(f"http://{site}/")

    assert len(learned) == len(seen) == 3


def test_a_page_that_adds_nothing_is_not_written() -> None:
    shelf = Shelf()
    sites = crawl(shelf)

    learn(sites, "a.example", SiteUpdate())
    write(sites)

    assert not kept(shelf)


def test_a_store_that_fails_costs_no_page_and_is_named_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    shelf = Shelf()
    shelf.is_broken = True
    sites = crawl(shelf)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            learn(sites, "a.example", SiteUpdate(PAGE))
            write(sites)
    assert sites.failures == 4
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "the shelf is broken" in caplog.text

    shelf.is_broken = False
    write(sites)

    assert kept(shelf)["a.example"].pages == 3


def test_a_store_that_fails_is_not_asked_again_for_each_site_that_leaves_memory() -> None:
    shelf = Shelf()
    shelf.is_broken = True
    sites = crawl(shelf, 2 * PAGE.size)

    for number in range(100):
        learn(sites, f"{number}.example", SiteUpdate(PAGE))
    write(sites)
    finish(sites)

    assert shelf.n_writes <= 4
    assert sites.lost == 100


def test_a_site_that_has_changed_its_layout_starts_from_zero(
    caplog: pytest.LogCaptureFixture,
) -> None:
    shelf = Shelf()
    sites = crawl(shelf)
    for _ in range(20):
        learn(sites, "a.example", SiteUpdate(PAGE))
    write(sites)
    with caplog.at_level(logging.INFO):
        for _ in range(WATCHED + 2):
            learn(sites, "a.example", SiteUpdate(OTHER))
    write(sites)

    assert [record.message for record in caplog.records] == [
        "scrapy-mss: a.example has changed its layout; its site memory was discarded"
    ]
    assert sites.changed == 1
    for memory in (
        SiteStore(shelf).load("a.example"),
        sites.context("http://www.a.example/").memory,
    ):
        assert memory.texts.keys.tolist() == OTHER.texts.keys.tolist()
        assert 0 < memory.pages < WATCHED


def test_a_page_that_is_read_twice_is_learned_once() -> None:
    sites = crawl(Shelf())
    for _ in range(2):
        sites.learn("http://a.example/1", SiteUpdate(PAGE))

    assert pages_known(sites, "a.example") == sites.pages == 1


def test_pages_without_a_host_are_of_no_site() -> None:
    shelf = Shelf()
    sites = crawl(shelf)
    for url in ("", "http://[/"):
        sites.learn(url, SiteUpdate(PAGE))

        assert sites.context(url).memory == SiteMemory()
    finish(sites)
    assert not kept(shelf)


def test_what_is_being_written_is_known_and_so_is_what_comes_after_it() -> None:
    shelf = Shelf()
    shelf.go_on.clear()
    sites = crawl(shelf, max_bytes=1)
    learn(sites, "a.example", SiteUpdate(PAGE))
    sites.checkpoint()
    learn(sites, "a.example", SiteUpdate(PAGE))
    learn(sites, "b.example", SiteUpdate(PAGE))

    assert pages_known(sites, "a.example") == 2
    shelf.go_on.set()
    finish(sites)
    assert {site: memory.pages for site, memory in kept(shelf).items()} == {
        "a.example": 2,
        "b.example": 1,
    }


def test_sites_that_cannot_be_written_are_bounded_and_counted() -> None:
    """However many a crawl meets while the disk is full, it keeps those that it met last."""
    shelf = Shelf()
    sites = crawl(shelf)
    for number in range(2 * MAX_WAITING):
        learn(sites, f"{number}.example", SiteUpdate(PAGE))
        shelf.is_broken = True
        if number % 100 == 99:
            write(sites)
    shelf.is_broken = False
    finish(sites)

    assert set(kept(shelf)) == {f"{n}.example" for n in range(MAX_WAITING, 2 * MAX_WAITING)}
    assert sites.lost == MAX_WAITING


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


STEPS = st.lists(st.tuples(st.sampled_from("ab"), st.booleans()), max_size=6)


def batch(steps: list[tuple[str, bool]]) -> Batch:
    """A page for each step, with which the site may start from zero."""
    made = Batch()
    for site, forgotten in steps:
        if forgotten:
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
    assert joined == at_once
    assert joined.forgotten == at_once.forgotten
