"""What is due, what is new, and what is stored when, in each kind of store."""

from __future__ import annotations

from collections.abc import Callable
from time import time
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.seen import articles as seen_articles
from scrapy_mss.seen.articles import (
    MET_AGAIN,
    Addresses,
    Comparison,
    SeenArticle,
    SeenArticles,
    SeenList,
    SeenStore,
    Wording,
    adding,
    adding_lists,
)
from scrapy_mss.seen.keys import address_key, packed
from scrapy_mss.storage.tables import DAY, LISTS, PARAGRAPHS, SEEN, Store
from tests.helpers.checkpoints import alone, finish, write
from tests.helpers.effort import examples_in_stores
from tests.helpers.shelves import Clock, Shelf
from tests.helpers.stores import put

URL, OTHER = "http://a.example/story", "http://a.example/other"
LIST = "http://a.example/feed"


def of(*urls: str) -> Addresses:
    return Addresses(urls)


def crawl(shelf: Shelf, clock: Clock, recheck: int = DAY) -> SeenArticles:
    return alone(SeenArticles(SeenStore(shelf), recheck, clock), shelf)


def add(seen: SeenArticles, addresses: Addresses, *wording: Any, **listed: Any) -> None:
    seen.add(addresses, seen.compare(addresses, Wording(*wording, **listed)).seen)


def is_due(seen: SeenArticles, url: str, listed: int = 0) -> bool:
    return seen.due([(url, listed)])[0]


def facts(found: Comparison) -> tuple[bool, int, tuple[str, ...]]:
    return found.is_new, found.seen.revision, found.changed


def test_an_article_is_due_until_it_was_seen_and_again_after_a_day(
    shelf: Shelf, clock: Clock
) -> None:
    seen = crawl(shelf, clock)
    assert is_due(seen, URL)
    add(seen, of(URL), "Rain", "Rain fell.")
    assert not is_due(seen, URL)
    finish(seen)

    clock.minute += DAY - 1
    assert not is_due(crawl(shelf, clock), URL)
    clock.minute += 1
    assert is_due(crawl(shelf, clock), URL)


def test_a_later_date_than_before_makes_it_due(shelf: Shelf, clock: Clock) -> None:
    seen = crawl(shelf, clock)
    listed = clock.minute - 300  # by a clock of another zone
    add(seen, of(URL), "Rain", "Rain fell.", listed=listed)
    clock.minute += 9 * DAY

    assert not is_due(seen, URL, listed)
    assert is_due(seen, URL, listed + 1)


def test_the_first_date_of_an_article_is_kept_for_later_ones(shelf: Shelf, clock: Clock) -> None:
    seen = crawl(shelf, clock)
    add(seen, of(URL), "Rain", "Rain fell.")

    assert not is_due(seen, URL, clock.minute)
    finish(seen)
    clock.minute += 60
    assert not is_due(crawl(shelf, clock), URL, clock.minute - 60)
    assert is_due(crawl(shelf, clock), URL, clock.minute)


def test_an_article_that_is_due_without_a_date_is_so_for_spider_and_middleware(
    shelf: Shelf, clock: Clock
) -> None:
    seen = crawl(shelf, clock)
    add(seen, of(URL), "Rain", "Rain fell.")
    clock.minute += DAY

    assert is_due(seen, URL, clock.minute - DAY)
    assert not seen.needs_no_recheck(URL, clock.minute - DAY)


def test_a_wall_is_due_after_an_hour_and_then_less_and_less_often(
    shelf: Shelf, clock: Clock
) -> None:
    listed, due = clock.minute, []
    for hour in range(24):
        seen = crawl(shelf, clock)
        if is_due(seen, URL, listed):
            due.append(hour)
            seen.add_other(URL, listed, is_wall=True)
        finish(seen)
        clock.minute += 60

    assert due == [0, 1, 2, 4, 8, 14, 20]


def test_a_date_in_the_future_hides_nothing(shelf: Shelf, clock: Clock) -> None:
    seen = crawl(shelf, clock)
    add(seen, of(URL), "Rain", "Rain fell.", listed=clock.minute + 400 * DAY)
    assert not is_due(seen, URL, clock.minute + 400 * DAY)

    clock.minute += 60
    assert is_due(seen, URL, clock.minute)


def test_an_article_in_other_words_is_a_revision(shelf: Shelf, clock: Clock) -> None:
    seen = crawl(shelf, clock)
    assert facts(seen.compare(of(URL), Wording("Rain", "Rain fell."))) == (True, 1, ())
    add(seen, of(URL), "Rain", "Rain fell.")

    assert not seen.compare(of(URL), Wording("Rain", "Rain  fell")).is_new
    assert facts(seen.compare(of(URL), Wording("Rain", "Rain falls."))) == (True, 2, ("text",))
    add(seen, of(URL), "Storm", "Rain falls.")
    assert facts(seen.compare(of(URL), Wording("Rain", "Rain."))) == (True, 3, ("title", "text"))


def test_an_article_is_known_by_all_its_addresses(shelf: Shelf, clock: Clock) -> None:
    seen = crawl(shelf, clock)
    add(seen, of(URL, OTHER), "Rain", "Rain fell.")

    assert not seen.compare(of(OTHER), Wording("Rain", "Rain fell.")).is_new
    assert not seen.compare(
        of("http://a.example/third", OTHER), Wording("Rain", "Rain fell.")
    ).is_new


def test_a_copy_is_known_by_what_the_page_says_and_its_words(shelf: Shelf, clock: Clock) -> None:
    seen = crawl(shelf, clock)
    add(seen, of(URL), "Rain", "Rain fell.")
    copy, other = (Addresses((url,), canonical=URL) for url in (OTHER, f"{URL}?page=2"))

    assert not seen.compare(copy, Wording("Rain", "Rain fell.")).is_new
    assert facts(seen.compare(other, Wording("Rain", "It went on."))) == (True, 1, ())
    add(seen, other, "Rain", "It went on.")
    assert not seen.compare(of(URL), Wording("Rain", "Rain fell.")).is_new
    assert not seen.compare(other, Wording("Rain", "It went on.")).is_new


def test_what_is_no_article_is_read_again_after_a_day_and_may_be_one_then(
    shelf: Shelf, clock: Clock
) -> None:
    seen = crawl(shelf, clock)
    seen.add_other(URL)
    assert not is_due(seen, URL)

    clock.minute += DAY
    assert is_due(seen, URL)
    assert seen.compare(of(URL), Wording("Rain", "Rain fell.")).seen.revision == 1
    add(seen, of(URL), "Rain", "Rain fell.")
    seen.add_other(URL)
    assert not seen.compare(of(URL), Wording("Rain", "Rain fell.")).is_new


@pytest.mark.parametrize(
    ("finished", "incomplete", "is_kept"),
    [(True, "another", True), (False, "another", False), (True, "a", False)],
)
def test_a_list_is_kept_if_all_that_it_names_was_downloaded(  # noqa: PLR0913 - fixtures and a case
    shelf: Shelf, clock: Clock, *, finished: bool, incomplete: str, is_kept: bool
) -> None:
    seen = crawl(shelf, clock)
    seen.add_list(LIST, "a", SeenList('"1"'))
    seen.add_named(LIST, "feed", [URL])
    seen.leave_incomplete(incomplete)
    finish(seen, finished=finished)

    kept = SeenList('"1"', "", (("feed", URL),))
    assert crawl(shelf, clock).list(LIST) == (kept if is_kept else None)


def test_a_checkpoint_does_not_wait_for_the_store(shelf: Shelf, clock: Clock) -> None:
    seen = crawl(shelf, clock)
    add(seen, of(URL), "Rain", "Rain fell.")
    shelf.go_on.clear()

    seen.checkpoint()
    assert not is_due(seen, URL)
    add(seen, of(OTHER), "Sun", "The sun shone.")
    shelf.go_on.set()
    finish(seen)

    assert seen.failures == 0
    assert not is_due(crawl(shelf, clock), URL)
    assert not is_due(crawl(shelf, clock), OTHER)


def test_an_address_that_is_met_is_in_use_even_if_nobody_reads_it(
    shelf: Shelf, clock: Clock
) -> None:
    seen = crawl(shelf, clock, 99 * DAY)
    add(seen, of(URL), "Rain", "Rain fell.")
    finish(seen)
    row = SEEN.key(packed(address_key(URL)))

    for _ in range(30):
        clock.minute += DAY
        seen = crawl(shelf, clock, 99 * DAY)
        assert not is_due(seen, URL)
        finish(seen)
        assert clock.minute - shelf.rows[row].used < MET_AGAIN


def test_the_store_is_asked_once_for_all_that_a_list_names(shelf: Shelf, clock: Clock) -> None:
    """The event loop waits for each answer."""
    seen = crawl(shelf, clock)

    assert all(seen.due([(f"http://a.example/{number}", 0) for number in range(2500)]))
    assert shelf.n_asked == 1


def test_a_store_that_fails_stops_no_crawl(
    shelf: Shelf, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    seen = crawl(shelf, clock)
    shelf.is_broken = True
    add(seen, of(URL), "Rain", "Rain fell.")

    assert is_due(seen, OTHER)
    assert seen.list(LIST) is None
    failures = seen.failures
    write(seen)
    assert seen.failures == failures + 1 > 2
    message = (
        "scrapy-mss: what was seen cannot be stored or read: the shelf is broken. The crawl "
        "continues, and articles may come again; further failures are only counted"
    )
    assert caplog.messages == [message]


def test_a_store_that_fails_fills_no_memory_and_what_is_dropped_is_lost(
    shelf: Shelf, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list names what was dropped, too, and so must be read again."""
    monkeypatch.setattr(seen_articles, "MAX_UNSAVED", 3)
    seen = crawl(shelf, clock)
    shelf.failing = [OSError("the disk is full")]
    urls = [f"{URL}/{number}" for number in range(5)]
    for url in urls:
        add(seen, of(url), "Rain", "Rain fell.")
    seen.add_list(LIST, "a", SeenList('"1"'))
    write(seen)
    assert seen.lost == 5
    finish(seen)

    assert seen.lost == 2
    later = crawl(shelf, clock)
    assert [is_due(later, url) for url in urls] == [True] * 2 + [False] * 3
    assert later.list(LIST) is None


# The rows of a store


NOW = int(time() // 60)
ARTICLE = SeenArticle(text=1, title=2, revision=1, listed=30, checked=NOW, met=NOW)
KEYS = (-(2**63), -1, 0, 2**63 - 1)
NUMBERS = st.integers(-(2**63), 2**63 - 1)
MINUTES = st.integers(NOW, NOW + 3)
FIELDS = (NUMBERS, NUMBERS, st.integers(0, 3), *3 * [MINUTES], st.binary(max_size=3))
ARTICLES = st.builds(SeenArticle, *FIELDS)
Articles: TypeAlias = dict[int, SeenArticle]


def latest(additions: list[Articles]) -> tuple[Articles, dict[int, bytes]]:
    """What is known after *additions*: what was read last, and the greatest of some numbers."""
    known, paragraphs = Articles(), dict[int, bytes]()
    for addition in additions:
        for key, seen in addition.items():
            before = known.get(key, seen)
            if seen.checked < before.checked:
                continue
            known[key] = seen._replace(
                revision=max(before.revision, seen.revision),
                listed=max(before.listed, seen.listed),
                met=max(before.met, seen.met),
                paragraphs=b"",
            )
            paragraphs[key] = seen.paragraphs or paragraphs.get(key, b"")
    return known, paragraphs


@examples_in_stores(0.5)
@given(
    checkpoints=st.lists(
        st.lists(st.dictionaries(st.sampled_from(KEYS), ARTICLES), max_size=3), max_size=4
    )
)
def test_articles_are_known_as_they_were_read_last(
    new_store: Callable[[], Store], checkpoints: list[list[Articles]]
) -> None:
    store = new_store()
    for additions in checkpoints:
        store.write([adding(each) for each in additions])
    known, paragraphs = latest([each for additions in checkpoints for each in additions])
    seen = SeenStore(store)

    assert seen.articles([*KEYS, 7]) == known
    assert {key: seen.paragraphs(key) for key in known} == paragraphs


def test_what_no_crawl_has_met_for_long_is_forgotten(store: Store) -> None:
    ages = {1: 0, 2: PARAGRAPHS.days + 1, 3: SEEN.days + 1}
    read = ARTICLE._replace(checked=NOW - (PARAGRAPHS.days + 1) * DAY, paragraphs=b"some")
    met = {key: read._replace(met=NOW - days * DAY) for key, days in ages.items()}
    store.write([adding({**met, 4: read._replace(checked=NOW)})])
    store.write([adding_lists({str(n): SeenList('"a"') for n in ages}, NOW - LISTS.days * DAY - 1)])
    store.write([adding_lists({"1": SeenList('"b"')}, NOW)])

    store.forget(NOW)

    assert list(SeenStore(store).articles([*ages, 4])) == [1, 2, 4]
    assert [SeenStore(store).paragraphs(key) for key in (1, 2, 4)] == [b"", b"", b"some"]
    found = [SeenStore(store).list(str(n)) for n in ages]
    assert found == [SeenList('"b"'), None, None]


@pytest.mark.parametrize("damage", [b"", b"null", b"[1, 2, 3]", b'["", "", [[]]]', b"[" * 9999])
def test_a_damaged_row_costs_itself_alone_and_is_replaced(
    store: Store, damage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    feed = SeenList('"a"')
    store.write([adding({2: ARTICLE}), adding_lists({"b": feed}, NOW)])
    put(store, SEEN.key(packed(1)), damage, NOW)
    put(store, LISTS.key("a"), damage, NOW)
    seen = SeenStore(store)

    assert seen.articles([1, 2, 3]) == {2: ARTICLE}
    assert [seen.list("a"), seen.list("b")] == [None, feed]
    assert "the list 'a' is damaged" in caplog.text
    store.write([adding({1: ARTICLE, 2: ARTICLE}), adding_lists({"a": feed}, NOW)])

    assert seen.articles([1, 2]) == {1: ARTICLE, 2: ARTICLE}
    assert seen.list("a") == feed
