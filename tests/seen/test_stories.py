"""Which texts tell one story, what is stored of them when, and what is forgotten."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterable
from pathlib import Path

import pytest

from scrapy_mss.seen import stories as seen_stories
from scrapy_mss.seen import story_store
from scrapy_mss.seen.sketches import Numbers, keys_of, likeness, sketch
from scrapy_mss.seen.stories import Judged, Stories
from scrapy_mss.seen.story_store import RecentTexts, StoryStore, Told, adding
from scrapy_mss.storage.opening import store_at
from scrapy_mss.storage.sqlite_store import FILE
from scrapy_mss.storage.tables import DAY, STORIES, STORY_KEYS, Store
from tests.helpers.checkpoints import alone, checkpoints_of, finish, write
from tests.helpers.stores import put, redis_address, store, store_name
from tests.helpers.told import copy, text

__all__ = ["redis_address", "store", "store_name"]  # fixtures

WEEK = 7 * DAY
A, B, C, D = 1, -2, 3, -(2**63)


class Clock:
    minute = 40_000_000  # in the year 2046, as a server lets rows of long ago expire

    def __call__(self) -> int:
        return self.minute


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store"


def crawl(path: Path | str, clock: Clock) -> Stories:
    store = store_at(str(path))
    return alone(Stories(StoryStore(store), clock), store)


def stored(path: Path | str, addresses: Iterable[int]) -> list[Told]:
    """What a store has of some addresses."""
    return StoryStore(store_at(str(path))).at(list(addresses))


def forget(path: Path | str, minute: int) -> None:
    store_at(str(path)).forget(minute)


def tell(stories: Stories, address: int, words: str) -> Judged:
    """Have an item go through all pipelines."""
    judged = stories.judge((address,), words)
    stories.begin(judged.told)
    stories.end((address,), is_told=True)
    return judged


def test_copies_have_the_story_of_the_first_in_this_crawl_and_in_later_ones(
    path: Path, clock: Clock
) -> None:
    stories = crawl(path, clock)
    first = tell(stories, A, text(1))
    second = tell(stories, B, copy(1, 1))
    other = tell(stories, C, text(2))
    finish(stories)
    third = tell(crawl(path, clock), D, copy(1, 2))

    assert {second.story, third.story} == {first.story}
    assert other.story != first.story
    assert [each.told.is_copy for each in (first, second, other, third)] == [0, 1, 0, 1]


def test_an_article_and_its_revisions_are_one_story_and_no_copies(path: Path, clock: Clock) -> None:
    for close in (False, True):
        stories = crawl(path, clock)
        first = tell(stories, A, text(1))
        tell(stories, B, copy(1, 1))
        if close:
            finish(stories)
            stories = crawl(path, clock)
        edited, rewritten = tell(stories, A, copy(1, 2)), tell(stories, A, text(3))
        copied = tell(stories, C, copy(3, 3))

        assert (edited.story, rewritten.story, copied.story) == (first.story,) * 3
        assert not edited.told.is_copy
        assert not rewritten.told.is_copy
        assert copied.told.is_copy


def test_a_copy_that_was_rewritten_is_none_any_more(path: Path, clock: Clock) -> None:
    stories = crawl(path, clock)
    first = tell(stories, A, text(1))
    tell(stories, B, copy(1, 1))

    assert tell(stories, B, copy(1, 2)).told.is_copy
    rewritten = tell(stories, B, text(4))
    assert not rewritten.told.is_copy
    assert rewritten.story == first.story


@pytest.mark.parametrize("close", [False, True])
def test_a_revision_beyond_the_window_is_no_copy_of_its_copies(
    path: Path, clock: Clock, *, close: bool
) -> None:
    stories = crawl(path, clock)
    first = tell(stories, A, text(1))
    clock.minute += DAY
    tell(stories, B, copy(1, 1))
    clock.minute += WEEK - DAY // 2
    if close:
        finish(stories)
        stories = crawl(path, clock)
    revised = tell(stories, A, copy(1, 2))

    assert not revised.told.is_copy
    assert revised.story == first.story


def test_an_article_that_is_told_anew_after_the_window_has_copies(path: Path, clock: Clock) -> None:
    stories = crawl(path, clock)
    tell(stories, A, text(1))
    clock.minute += WEEK + 1
    tell(stories, A, text(1))

    assert stories.judge((B,), copy(1, 1)).told.is_copy


def test_all_addresses_of_an_article_are_its_own(path: Path, clock: Clock) -> None:
    stories = crawl(path, clock)
    judged = stories.judge((A, B), text(1))
    stories.add(judged.told)
    for _ in range(2):
        assert not stories.judge((B,), text(1)).told.is_copy
        assert stories.judge((C,), text(1)).told.is_copy
        finish(stories)
        stories = crawl(path, clock)


def test_what_is_under_way_has_copies_but_may_be_lost(path: Path, clock: Clock) -> None:
    stories = crawl(path, clock)
    first = stories.judge((A,), text(1))
    stories.begin(first.told)
    second = stories.judge((B,), copy(1, 1))

    assert second.told.is_copy
    assert second.waits_for == A
    stories.end((A,), is_told=False)
    assert not stories.judge((B,), copy(1, 1)).told.is_copy

    tell(stories, A, text(1))
    assert stories.judge((B,), copy(1, 1)).waits_for is None


@pytest.mark.parametrize("told", [(True, False), (False, True), (True, True)])
def test_of_two_items_of_an_article_one_that_is_told_is_enough(
    path: Path, clock: Clock, told: tuple[bool, bool]
) -> None:
    stories = crawl(path, clock)
    for _ in told:
        stories.begin(stories.judge((A,), text(1)).told)
    for number, is_told in enumerate(told):
        assert stories.is_under_way(A) is not any(told[:number])
        stories.end((A,), is_told=is_told)

    assert not stories.is_under_way(A)
    judged = stories.judge((B,), copy(1, 1))
    assert judged.told.is_copy
    assert judged.waits_for is None


def test_two_crawls_that_meet_the_same_text_give_it_the_same_story(
    path: Path, clock: Clock
) -> None:
    one, other = crawl(path, clock), crawl(path, clock)

    assert tell(one, A, text(1)).story == tell(other, B, text(1)).story


def test_of_two_stories_that_turn_out_to_be_one_the_earlier_goes_on(
    path: Path, clock: Clock
) -> None:
    one, other = crawl(path, clock), crawl(path, clock)
    second = tell(one, A, copy(1, 1))
    clock.minute += 1
    tell(other, B, copy(1, 2))
    finish(one)
    finish(other)

    assert tell(crawl(path, clock), C, copy(1, 3)).story == second.story


def of(seed: int) -> Numbers | None:
    return sketch(text(seed))


def test_an_original_is_kept_while_its_story_goes_on(path: Path, clock: Clock) -> None:
    stories = crawl(path, clock)
    first = tell(stories, A, text(1))
    tell(stories, C, text(2))
    for address in range(10, 15):
        clock.minute += WEEK - DAY
        tell(stories, address, copy(1, address))
        write(stories)
        forget(path, clock.minute)
    revised = tell(stories, A, copy(1, 3))
    finish(stories)

    assert [told.addresses for told in stored(path, (A, C))] == [(A,)]
    assert not revised.told.is_copy
    assert revised.story == first.story
    forget(path, clock.minute + STORIES.days * DAY + 1)
    assert stored(path, (A, *range(10, 15))) == []


def test_a_story_is_over_after_the_window(path: Path, clock: Clock) -> None:
    stories = crawl(path, clock)
    tell(stories, A, text(1))
    clock.minute += WEEK
    assert stories.judge((B,), copy(1, 1)).told.is_copy
    clock.minute += 1
    assert not stories.judge((B,), copy(1, 1)).told.is_copy


def test_a_phrase_of_a_site_takes_no_more_room_than_so_many_texts(
    path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(story_store, "PER_KEY", 3)
    numbers = of(1)
    store = store_at(str(path))
    for address in range(10):
        told = Told((address,), address, address, False, clock(), numbers)
        store.write([adding([told])])

    (row,) = store.get([STORY_KEYS.key(struct.pack("<I", keys_of(numbers)[0]))]).values()
    assert len(row) == 3 * 8
    assert {told.story for told in StoryStore(store).sharing(keys_of(numbers))} == {7, 8, 9}


@pytest.mark.parametrize("row", [b"", b"short", b"x" * 23])
def test_a_damaged_row_costs_its_text_alone(path: Path, clock: Clock, row: bytes) -> None:
    stories = crawl(path, clock)
    for address, seed in ((A, 1), (B, 2)):
        tell(stories, address, text(seed))
    finish(stories)
    put(store_at(str(path)), STORIES.key(struct.pack("<q", A)), row, clock())

    later = crawl(path, clock)
    assert not later.judge((C,), copy(1, 1)).told.is_copy
    assert later.judge((C,), copy(2, 1)).told.is_copy


def test_recent_texts_and_the_store_answer_alike(store: Store) -> None:
    now = Clock.minute
    texts = [Told((n,), n, n, bool(n % 2), now + n, of(n % 7)) for n in range(20)]
    recent = RecentTexts(texts)
    for number in range(0, 20, 3):
        store.write([adding(texts[number : number + 3])])
    kept = StoryStore(store)

    for seed in range(8):
        keys = keys_of(of(seed))
        found = [{told.story for told in place.sharing(keys)} for place in (recent, kept)]
        assert found[0] == found[1] == {n for n in range(20) if n % 7 == seed}
    at = [[told[:5] for told in place.at((3, 99, 5))] for place in (recent, kept)]
    assert at[0] == at[1] == [((n,), n, n, True, now + n) for n in (3, 5)]
    (found_at,) = kept.at((3,))
    assert (found_at.sketch == of(3)).all()  # type: ignore[union-attr]


def test_the_words_of_an_article_stay_known_when_it_comes_again(path: Path, clock: Clock) -> None:
    stories = crawl(path, clock)
    for _ in range(3):
        tell(stories, A, text(1))

    assert stories.judge((B,), copy(1, 1)).told.is_copy
    finish(stories)
    assert crawl(path, clock).judge((B,), copy(1, 1)).told.is_copy


def test_a_phrase_that_all_pages_have_hides_no_copy(
    path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(story_store, "PER_KEY", 3)
    stories = crawl(path, clock)
    box = copy(500, 1, 0.2)
    first = tell(stories, 0, f"{text(0)} {box}")
    for seed in range(1, 60):
        assert not tell(stories, seed, f"{text(seed)} {box}").told.is_copy

    for _ in range(2):
        assert stories.judge((99,), f"{copy(0, 1)} {box}").story == first.story
        finish(stories)
        stories = crawl(path, clock)


def test_many_texts_are_stored_without_being_told_to(
    path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seen_stories, "CHECKPOINT_TEXTS", 5)
    stories = crawl(path, clock)
    for seed in range(9):
        tell(stories, seed, text(seed))
    assert checkpoints_of(stories).settle()

    assert len(stored(path, range(9))) >= 5


def test_the_story_is_that_of_the_earliest_that_all_texts_are_compared_with(
    path: Path, clock: Clock
) -> None:
    """The index finds what comparing with each text finds."""
    stories = crawl(path, clock)
    chance = random.Random(4)  # noqa: S311 - a choice of texts
    told: list[tuple[Numbers, str]] = []
    for address in range(120):
        clock.minute += 1
        seed = chance.randrange(12)
        words = copy(seed, address, chance.choice((0.5, 0.7, 0.9)))
        numbers = sketch(words)
        assert numbers is not None
        like = [name for each, name in told if likeness(numbers, each).is_copy]
        judged = tell(stories, address, words)

        assert judged.told.is_copy == bool(like)
        assert judged.story == (like[0] if like else judged.story)
        told.append((numbers, judged.story))
        if address % 30 == 0:
            stories.checkpoint()


def test_short_texts_are_one_story_only_in_the_same_words(path: Path, clock: Clock) -> None:
    stories = crawl(path, clock)
    first = tell(stories, A, "Rain fell on the town.")

    assert tell(stories, B, "Rain fell on the town!").story == first.story
    assert tell(stories, C, "Rain fell on the city.").story != first.story


def test_a_crawl_that_is_killed_loses_what_came_after_its_checkpoint(
    path: Path, clock: Clock
) -> None:
    stories = crawl(path, clock)
    tell(stories, A, text(1))
    write(stories)
    tell(stories, B, text(2))
    stories.begin(stories.judge((C,), text(3)).told)

    later = crawl(path, clock)
    copies = [later.judge((D,), copy(seed, 1)).told.is_copy for seed in (1, 2, 3)]
    assert copies == [True, False, False]


def test_a_file_that_fails_stops_no_crawl_and_fills_no_memory(
    path: Path, clock: Clock, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seen_stories, "MAX_UNSAVED", 5)
    monkeypatch.setattr(seen_stories, "MAX_UNDER_WAY", 5)
    path.mkdir()
    (path / FILE).write_bytes(b"no database" * 99)
    stories = crawl(path, clock)
    for seed in range(9):
        tell(stories, seed, text(seed))
        stories.begin(stories.judge((100 + seed,), text(seed)).told)
        write(stories)

    held = (stories._unsaved, stories._under_way)  # noqa: SLF001 - seen from inside only
    assert [len(texts.texts) for texts in held] == [5, 5]
    assert stories.judge((B,), copy(8, 1)).told.is_copy
    finish(stories)
    assert stories.failures > 2
    assert stories.lost == 9
    assert len(caplog.records) == 1


def test_recent_texts_that_were_removed_leave_nothing() -> None:
    recent = RecentTexts(
        Told((seed, -seed), seed, seed, False, 9, of(seed)) for seed in range(1, 5)
    )
    for seed in range(1, 5):
        recent.remove(seed)

    assert not any(vars(recent).values())
