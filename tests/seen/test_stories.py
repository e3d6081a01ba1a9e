"""Which texts tell one story, what is stored of them when, and what is forgotten."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import islice
from time import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.seen import stories as seen_stories
from scrapy_mss.seen.keys import packed
from scrapy_mss.seen.stories import (
    PER_KEY,
    WINDOW,
    EmittedText,
    Numbers,
    RecentTexts,
    Stories,
    StoryMatch,
    StoryStore,
    adding,
    keys_of,
    likeness,
    sketch,
)
from scrapy_mss.storage.tables import DAY, STORIES, STORY_KEYS, Store
from tests.helpers.agency_texts import copy, text
from tests.helpers.checkpoints import alone, checkpoints_of, finish, write
from tests.helpers.effort import examples_in_stores
from tests.helpers.shelves import Clock, Shelf
from tests.helpers.stores import put

NOW = int(time() // 60)
A, B, C, D = 1, -2, 3, -(2**63)


def crawl(store: Store, clock: Clock) -> Stories:
    return alone(Stories(StoryStore(store), clock), store)


def emit(stories: Stories, address: int, words: str) -> StoryMatch:
    """Have an item go through all pipelines."""
    match = stories.match((address,), words)
    stories.begin(match.emitted)
    stories.end((address,), is_emitted=True)
    return match


def test_an_article_and_its_revisions_are_one_story_and_no_copies(
    shelf: Shelf, clock: Clock
) -> None:
    for close in (False, True):
        stories = crawl(shelf, clock)
        first = emit(stories, A, text(1))
        emit(stories, B, copy(1, 1))
        if close:
            finish(stories)
            stories = crawl(shelf, clock)
        edited, rewritten = emit(stories, A, copy(1, 2)), emit(stories, A, text(3))
        copied = emit(stories, C, copy(3, 3))

        assert (edited.story, rewritten.story, copied.story) == (first.story,) * 3
        assert not edited.emitted.is_copy
        assert not rewritten.emitted.is_copy
        assert copied.emitted.is_copy


def test_a_copy_that_was_rewritten_is_no_copy_any_more(shelf: Shelf, clock: Clock) -> None:
    stories = crawl(shelf, clock)
    first = emit(stories, A, text(1))
    emit(stories, B, copy(1, 1))

    assert emit(stories, B, copy(1, 2)).emitted.is_copy
    rewritten = emit(stories, B, text(4))
    assert not rewritten.emitted.is_copy
    assert rewritten.story == first.story


@pytest.mark.parametrize("close", [False, True])
def test_a_revision_beyond_the_window_is_no_copy_of_its_copies(
    shelf: Shelf, clock: Clock, *, close: bool
) -> None:
    stories = crawl(shelf, clock)
    first = emit(stories, A, text(1))
    clock.minute += DAY
    emit(stories, B, copy(1, 1))
    clock.minute += WINDOW - DAY // 2
    if close:
        finish(stories)
        stories = crawl(shelf, clock)
    revised = emit(stories, A, copy(1, 2))

    assert not revised.emitted.is_copy
    assert revised.story == first.story


def test_all_addresses_of_an_article_are_its_own(shelf: Shelf, clock: Clock) -> None:
    stories = crawl(shelf, clock)
    match = stories.match((A, B), text(1))
    stories.add(match.emitted)
    for _ in range(2):
        assert not stories.match((B,), text(1)).emitted.is_copy
        assert stories.match((C,), text(1)).emitted.is_copy
        finish(stories)
        stories = crawl(shelf, clock)


def test_what_is_under_way_has_copies_but_may_be_lost(shelf: Shelf, clock: Clock) -> None:
    stories = crawl(shelf, clock)
    first = stories.match((A,), text(1))
    stories.begin(first.emitted)
    second = stories.match((B,), copy(1, 1))

    assert second.emitted.is_copy
    assert second.waits_for == A
    stories.end((A,), is_emitted=False)
    assert not stories.match((B,), copy(1, 1)).emitted.is_copy

    emit(stories, A, text(1))
    assert stories.match((B,), copy(1, 1)).waits_for is None


@pytest.mark.parametrize("emitted", [(True, False), (False, True), (True, True)])
def test_of_two_items_of_an_article_one_that_is_emitted_is_enough(
    shelf: Shelf, clock: Clock, emitted: tuple[bool, bool]
) -> None:
    stories = crawl(shelf, clock)
    for _ in emitted:
        stories.begin(stories.match((A,), text(1)).emitted)
    for number, is_emitted in enumerate(emitted):
        assert stories.is_under_way(A) is not any(emitted[:number])
        stories.end((A,), is_emitted=is_emitted)

    assert not stories.is_under_way(A)
    match = stories.match((B,), copy(1, 1))
    assert match.emitted.is_copy
    assert match.waits_for is None


def test_two_crawls_that_meet_the_same_text_give_it_the_same_story(
    shelf: Shelf, clock: Clock
) -> None:
    one, other = crawl(shelf, clock), crawl(shelf, clock)

    assert emit(one, A, text(1)).story == emit(other, B, text(1)).story


def test_of_two_stories_that_turn_out_to_be_one_the_earlier_goes_on(
    shelf: Shelf, clock: Clock
) -> None:
    one, other = crawl(shelf, clock), crawl(shelf, clock)
    second = emit(one, A, copy(1, 1))
    clock.minute += 1
    emit(other, B, copy(1, 2))
    finish(one)
    finish(other)

    assert emit(crawl(shelf, clock), C, copy(1, 3)).story == second.story


def test_a_story_is_over_after_the_window(shelf: Shelf, clock: Clock) -> None:
    stories = crawl(shelf, clock)
    emit(stories, A, text(1))
    clock.minute += WINDOW
    assert stories.match((B,), copy(1, 1)).emitted.is_copy
    clock.minute += 1
    assert not stories.match((B,), copy(1, 1)).emitted.is_copy


def of(seed: int) -> Numbers | None:
    return sketch(text(seed))


def test_copies_that_are_as_good_as_one_another_are_found_by_one(
    shelf: Shelf, clock: Clock
) -> None:
    stories = crawl(shelf, clock)
    for address in range(40):
        emit(stories, address, text(1))
    finish(stories)

    assert len(StoryStore(shelf).at(range(40))) == 40
    found = {row.value for (table, _), row in shelf.rows.items() if table == STORY_KEYS}
    assert found == {packed(0)}


@pytest.mark.parametrize("after", [0, WINDOW + 1])
def test_the_words_of_an_article_stay_known_when_it_comes_again(
    shelf: Shelf, clock: Clock, after: int
) -> None:
    stories = crawl(shelf, clock)
    for _ in range(3):
        clock.minute += after
        emit(stories, A, text(1))

    assert stories.match((B,), copy(1, 1)).emitted.is_copy
    finish(stories)
    assert crawl(shelf, clock).match((B,), copy(1, 1)).emitted.is_copy


def test_the_words_of_an_article_that_has_moved_stay_known(shelf: Shelf, clock: Clock) -> None:
    for addresses in ((A,), (B, A)):
        stories = crawl(shelf, clock)
        stories.add(stories.match(addresses, text(1)).emitted)
        finish(stories)

    assert crawl(shelf, clock).match((C,), copy(1, 1)).emitted.is_copy


def test_a_phrase_that_all_pages_have_hides_no_copy(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seen_stories, "PER_KEY", 3)
    stories = crawl(store, clock)
    box = copy(500, 1, 0.2)
    first = emit(stories, 0, f"{text(0)} {box}")
    for seed in range(1, 60):
        assert not emit(stories, seed, f"{text(seed)} {box}").emitted.is_copy

    for _ in range(2):
        assert stories.match((99,), f"{copy(0, 1)} {box}").story == first.story
        finish(stories)
        stories = crawl(store, clock)


def test_many_texts_are_stored_before_the_next_checkpoint(
    shelf: Shelf, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seen_stories, "CHECKPOINT_TEXTS", 5)
    stories = crawl(shelf, clock)
    for seed in range(9):
        emit(stories, seed, text(seed))
    assert checkpoints_of(stories).settle()

    assert len(StoryStore(shelf).at(range(9))) >= 5


def test_the_story_is_that_of_the_earliest_that_all_texts_are_compared_with(
    store: Store, clock: Clock
) -> None:
    """The index finds what comparing with each text finds."""
    stories = crawl(store, clock)
    chance = random.Random(4)  # noqa: S311 - a choice of texts
    emitted: list[tuple[Numbers, str]] = []
    for address in range(120):
        clock.minute += 1
        seed = chance.randrange(12)
        words = copy(seed, address, chance.choice((0.5, 0.7, 0.9)))
        numbers = sketch(words)
        assert numbers is not None
        like = [name for each, name in emitted if likeness(numbers, each).is_copy]
        match = emit(stories, address, words)

        assert match.emitted.is_copy == bool(like)
        assert match.story == like[0] if like else match.story not in {s for _, s in emitted}
        emitted.append((numbers, match.story))
        if address % 30 == 0:
            finish(stories)
            stories = crawl(store, clock)
        elif address % 10 == 0:
            stories.checkpoint()
    finish(stories)


def test_short_texts_are_one_story_only_in_the_same_words(shelf: Shelf, clock: Clock) -> None:
    stories = crawl(shelf, clock)
    first = emit(stories, A, "Rain fell on the town.")

    assert emit(stories, B, "Rain fell on the town!").story == first.story
    assert emit(stories, C, "Rain fell on the city.").story != first.story


def test_recent_texts_that_were_removed_leave_nothing() -> None:
    recent = RecentTexts(
        EmittedText((seed, -seed), seed, seed, False, 9, of(seed)) for seed in range(1, 5)
    )
    for seed in range(1, 5):
        recent.remove(seed)

    assert not any((recent, *vars(recent).values()))


def test_what_is_being_stored_is_known(shelf: Shelf, clock: Clock) -> None:
    stories = crawl(shelf, clock)
    emit(stories, A, text(1))
    shelf.go_on.clear()

    stories.checkpoint()
    assert stories.match((B,), copy(1, 1)).emitted.is_copy
    emit(stories, C, text(2))
    shelf.go_on.set()
    finish(stories)

    assert stories.failures == 0
    assert len(StoryStore(shelf).at([A, B, C])) == 2


def test_a_store_that_fails_stops_no_crawl_and_fills_no_memory(
    shelf: Shelf, clock: Clock, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seen_stories, "MAX_UNSAVED", 5)
    monkeypatch.setattr(seen_stories, "MAX_UNDER_WAY", 5)
    shelf.is_broken = True
    stories = crawl(shelf, clock)
    for seed in range(9):
        emit(stories, seed, text(seed))
        stories.begin(stories.match((100 + seed,), text(seed)).emitted)
        write(stories)

    held = (stories._unsaved, stories._under_way)  # noqa: SLF001 - seen from inside only
    assert [len(texts) for texts in held] == [5, 5]
    assert stories.match((B,), copy(8, 1)).emitted.is_copy
    assert stories.failures > 2
    assert stories.lost == 9
    message = (
        "scrapy-mss: stories cannot be stored or read: the shelf is broken. The crawl continues, "
        "and copies may be missed; further failures are only counted"
    )
    assert caplog.messages == [message]


def test_an_original_is_in_use_while_its_story_goes_on(shelf: Shelf, clock: Clock) -> None:
    stories, begun = crawl(shelf, clock), clock.minute
    for address, words in ((A, text(1)), (C, text(2))):
        emit(stories, address, words)
    for paper in range(5):
        clock.minute += WINDOW - 1
        emit(stories, 100 + paper, copy(1, paper, 0.9))
        write(stories)

    used = {address: shelf.rows[STORIES.key(packed(address))].used for address in (A, C)}
    assert used == {A: clock.minute, C: begun}


# The store beside plain dicts


ADDRESSES = st.sampled_from([A, B, C, D, 0])


def emitted_text(addresses: Sequence[int], seed: int, number: int) -> EmittedText:
    """A text that was emitted; the *seed* 0 is that which is as good as one before."""
    words = of(seed) if seed else None
    return EmittedText(
        tuple(addresses), number, addresses[-1], number % 2 == 0, NOW + number, words
    )


TEXTS = st.lists(
    st.tuples(st.lists(ADDRESSES, min_size=1, max_size=3, unique=True), st.integers(0, 4)),
    max_size=8,
).map(lambda texts: [emitted_text(*each, number) for number, each in enumerate(texts)])


class Dicts:
    """What a store of stories says, in few lines; of each address, what was emitted there last."""

    def __init__(self, texts: Sequence[EmittedText]) -> None:
        self.emitted: dict[int, EmittedText] = {}
        self.keys: dict[int, set[int]] = {}  # addresses by key
        for emitted in texts:
            for address in emitted.addresses:
                before = self.emitted.get(address)
                sketch = before.sketch if before else None  # the words that were there stay known
                self.emitted[address] = emitted._replace(addresses=(address,), sketch=sketch)
            first = emitted.addresses[0]
            if emitted.sketch is not None:
                self.emitted[first] = self.emitted[first]._replace(sketch=emitted.sketch)
            for key in keys_of(emitted.sketch):
                self.keys.setdefault(key, set()).add(first)

    def sharing(self, keys: Sequence[int]) -> set[int]:
        return {address for key in keys for address in self.keys.get(key, ())}


def facts(emitted: EmittedText) -> tuple[object, ...]:
    """What can be compared of a text."""
    return *emitted[:-1], None if emitted.sketch is None else emitted.sketch.tolist()


@examples_in_stores(0.5)
@given(texts=TEXTS, batches=st.lists(st.integers(1, 4), min_size=8, max_size=8))
def test_whatever_crawls_add_the_store_says_what_dicts_would(
    new_store: Callable[[], Store], texts: list[EmittedText], batches: list[int]
) -> None:
    store, left = new_store(), iter(texts)
    for size in batches:
        store.write([adding(islice(left, size))])
    stories, expected = StoryStore(store), Dicts(texts)

    for address in (A, B, C, D, 0, 9):
        known = [facts(expected.emitted[address])] if address in expected.emitted else []
        assert [facts(each) for each in stories.at([address])] == known
    for seed in range(1, 6):
        found = {each.addresses[0] for each in stories.sharing(keys_of(of(seed)))}
        assert found == expected.sharing(keys_of(of(seed)))


def test_of_a_phrase_that_many_texts_have_the_latest_are_kept(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seen_stories, "MAX_CANDIDATES", 10 * PER_KEY)
    numbers = of(1)
    for first in range(0, 3 * PER_KEY, 30):
        texts = [EmittedText((n,), n, n, False, NOW, numbers) for n in range(first, first + 30)]
        store.write([adding(texts)])
    store.write([adding([EmittedText((2 * PER_KEY,), 0, 0, False, NOW, numbers)])])

    found = StoryStore(store).sharing(keys_of(numbers))

    latest = {*range(2 * PER_KEY, 3 * PER_KEY)}
    assert {emitted.addresses[0] for emitted in found} == latest


def test_damaged_rows_cost_themselves_alone(store: Store) -> None:
    keys = keys_of(of(1))
    store.write([adding(EmittedText((n,), n, n, False, NOW, of(1)) for n in (1, 2))])
    put(store, STORIES.key(packed(1)), b"half", NOW)
    put(store, STORIES.key(packed(3)), bytes(50), NOW)
    for key in keys[1:]:
        put(store, STORY_KEYS.key(key.to_bytes(4, "little")), packed(2) + b"half", NOW)
    stories = StoryStore(store)

    assert [emitted.story for emitted in stories.at([1, 2, 3])] == [2]
    assert [emitted.story for emitted in stories.sharing(keys)] == [2]
    store.write([adding([EmittedText((1, 3), 1, 1, False, NOW, of(1))])])

    assert [emitted.story for emitted in stories.at([1, 2, 3])] == [1, 2, 1]
    assert {emitted.story for emitted in stories.sharing(keys)} == {1, 2}
