from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import reduce
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.sites import writer as writer_module
from scrapy_mss.sites.memory import SiteMemory
from scrapy_mss.sites.writer import ADDED_AT_ONCE, MAX_WAITING, Batch, SiteWriter
from tests.helpers.memories import NOW, page_memory

PAGE = page_memory("<main><p>One two</p><p>Three</p></main>")
LIMIT = 60.0  # seconds; no test waits that long unless something is wrong


class SlowStore:
    """Writes when it is told to."""

    def __init__(self) -> None:
        self.kept: dict[str, SiteMemory] = {}
        self.go_on = Event()
        self.fails = False

    def close(self) -> None:
        """Nothing is open."""

    def load(self, site: str) -> SiteMemory:
        return self.kept.get(site, SiteMemory())

    def add(
        self, learned: Mapping[str, SiteMemory], minute: int, anew: Collection[str] = ()
    ) -> None:
        assert minute == NOW
        assert self.go_on.wait(LIMIT)
        if self.fails:
            raise OSError("the disk is full")
        for site, memory in learned.items():
            before = SiteMemory() if site in anew else self.load(site)
            self.kept[site] = before.plus(memory)


def test_what_is_learned_while_a_checkpoint_is_written_is_in_the_next() -> None:
    store = SlowStore()
    writer = SiteWriter(store, lambda: NOW)
    writer.add("a.example", PAGE)
    writer.begin()
    writer.add("a.example", PAGE)
    writer.begin()  # the first is still being written

    store.go_on.set()
    writer.close()

    assert store.kept["a.example"].pages == 2


def test_a_site_that_is_being_written_is_loaded_with_what_is_written() -> None:
    store = SlowStore()
    writer = SiteWriter(store, lambda: NOW)
    writer.add("a.example", PAGE)
    writer.begin()
    writer.add("a.example", PAGE)
    store.go_on.set()

    assert writer.load("a.example").pages == 2
    writer.close()


def test_a_checkpoint_that_fails_is_written_with_the_next() -> None:
    store = SlowStore()
    store.go_on.set()
    store.fails = True
    writer = SiteWriter(store, lambda: NOW)
    writer.add("a.example", PAGE)
    writer.begin()
    writer.add("a.example", PAGE)
    writer.wait()
    store.fails = False

    writer.close()

    assert writer.failures == 1
    assert store.kept["a.example"].pages == 2


def test_sites_that_cannot_be_written_are_bounded_and_counted() -> None:
    """However many a crawl meets while the disk is full, it keeps those that it met last."""
    store = SlowStore()
    store.go_on.set()
    store.fails = True
    writer = SiteWriter(store, lambda: NOW)
    for number in range(3 * MAX_WAITING):
        writer.add(f"{number}.example", PAGE)
        if number % 100 == 99:
            writer.begin()
            writer.wait()

    assert len(writer) == MAX_WAITING
    store.fails = False
    writer.close()

    assert set(store.kept) == {f"{n}.example" for n in range(2 * MAX_WAITING, 3 * MAX_WAITING)}
    assert writer.lost == 2 * MAX_WAITING


STEPS = st.lists(st.tuples(st.sampled_from("ab"), st.booleans()), max_size=6)


def batch(steps: list[tuple[str, bool]]) -> Batch:
    """A page for each step, with which the site may begin anew."""
    made = Batch()
    for site, anew in steps:
        if anew:
            made.begin_anew(site)
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
    assert joined.anew == at_once.anew


@given(st.lists(st.sampled_from("ab"), max_size=3 * ADDED_AT_ONCE))
def test_a_batch_is_the_sum_of_what_was_added(sites: list[str]) -> None:
    added = batch([(site, False) for site in sites])

    for site in "ab":
        pages = [PAGE for each in sites if each == site]
        assert added.of(site) == reduce(SiteMemory.plus, pages, SiteMemory())


def test_a_site_is_loaded_while_the_store_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The event loop asks for it, and a server that has gone may let a write wait for a minute."""
    monkeypatch.setattr(writer_module, "SHORTLY", 0.01)
    store = SlowStore()
    writer = SiteWriter(store, lambda: NOW)
    writer.add("a.example", PAGE)
    writer.begin()
    writer.add("a.example", PAGE)

    assert [writer.load("a.example").pages for _ in range(3)] == [2, 2, 2]

    store.go_on.set()
    writer.close()
    assert store.kept["a.example"].pages == 2
