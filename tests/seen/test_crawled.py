"""What is due, what is new, and what is stored when."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from scrapy_mss.seen import crawled as seen_crawled
from scrapy_mss.seen.crawled import Addresses, SeenArticles, Times, Verdict, Wording
from scrapy_mss.seen.store import DAY, Seen, SeenList, SeenStore
from tests.helpers.checkpoints import alone, finish, write

URL, OTHER = "http://a.example/story", "http://a.example/other"
LIST = "http://a.example/feed"


class Clock:
    minute = 10**6

    def __call__(self) -> int:
        return self.minute


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "seen.db"


def of(*urls: str) -> Addresses:
    return Addresses(urls)


def crawl(path: Path, clock: Clock) -> SeenArticles:
    return alone(SeenArticles(SeenStore(path), Times(DAY, 10 * DAY), clock))


def add(seen: SeenArticles, addresses: Addresses, *wording: Any, **listed: Any) -> None:
    seen.add(addresses, seen.judge(addresses, Wording(*wording, **listed)).seen)


def facts(verdict: Verdict) -> tuple[bool, int, tuple[str, ...]]:
    return verdict.is_new, verdict.seen.revision, verdict.changed


def test_an_article_is_due_until_it_was_seen_and_again_after_a_day(
    path: Path, clock: Clock
) -> None:
    seen = crawl(path, clock)
    assert seen.is_due(URL)
    add(seen, of(URL), "Rain", "Rain fell.")
    assert not seen.is_due(URL)
    finish(seen, finished=True)

    clock.minute += DAY - 1
    assert not crawl(path, clock).is_due(URL)
    clock.minute += 1
    assert crawl(path, clock).is_due(URL)


def test_a_later_date_than_before_makes_it_due(path: Path, clock: Clock) -> None:
    seen = crawl(path, clock)
    listed = clock.minute - 300  # by a clock of another zone
    add(seen, of(URL), "Rain", "Rain fell.", listed=listed)
    clock.minute += 9 * DAY

    assert not seen.is_due(URL, listed)
    assert seen.is_due(URL, listed + 1)


def test_the_first_date_of_an_article_tells_nothing(path: Path, clock: Clock) -> None:
    seen = crawl(path, clock)
    add(seen, of(URL), "Rain", "Rain fell.")

    assert not seen.is_due(URL, clock.minute)
    clock.minute += DAY
    assert seen.is_due(URL, clock.minute)


def test_a_date_in_the_future_hides_nothing(path: Path, clock: Clock) -> None:
    seen = crawl(path, clock)
    add(seen, of(URL), "Rain", "Rain fell.", listed=clock.minute + 400 * DAY)
    assert not seen.is_due(URL, clock.minute + 400 * DAY)

    clock.minute += 60
    assert seen.is_due(URL, clock.minute)


def test_an_article_in_other_words_is_a_revision(path: Path, clock: Clock) -> None:
    seen = crawl(path, clock)
    assert facts(seen.judge(of(URL), Wording("Rain", "Rain fell."))) == (True, 1, ())
    add(seen, of(URL), "Rain", "Rain fell.")

    assert not seen.judge(of(URL), Wording("Rain", "Rain  fell")).is_new
    assert facts(seen.judge(of(URL), Wording("Rain", "Rain falls."))) == (True, 2, ("text",))
    add(seen, of(URL), "Storm", "Rain falls.")
    assert facts(seen.judge(of(URL), Wording("Rain", "Rain."))) == (True, 3, ("title", "text"))


def test_an_article_is_known_by_all_its_addresses(path: Path, clock: Clock) -> None:
    seen = crawl(path, clock)
    add(seen, of(URL, OTHER), "Rain", "Rain fell.")

    assert not seen.judge(of(OTHER), Wording("Rain", "Rain fell.")).is_new
    assert not seen.judge(of("http://a.example/third", OTHER), Wording("Rain", "Rain fell.")).is_new


def test_a_copy_is_known_by_what_the_page_says_and_its_words(path: Path, clock: Clock) -> None:
    seen = crawl(path, clock)
    add(seen, of(URL), "Rain", "Rain fell.")
    copy, other = (Addresses((url,), canonical=URL) for url in (OTHER, f"{URL}?page=2"))

    assert not seen.judge(copy, Wording("Rain", "Rain fell.")).is_new
    assert facts(seen.judge(other, Wording("Rain", "It went on."))) == (True, 1, ())
    add(seen, other, "Rain", "It went on.")
    assert not seen.judge(of(URL), Wording("Rain", "Rain fell.")).is_new
    assert not seen.judge(other, Wording("Rain", "It went on.")).is_new


def test_what_is_no_article_is_read_again_after_a_day_and_may_be_one_then(
    path: Path, clock: Clock
) -> None:
    seen = crawl(path, clock)
    seen.add_other(URL)
    assert not seen.is_due(URL)

    clock.minute += DAY
    assert seen.is_due(URL)
    assert seen.judge(of(URL), Wording("Rain", "Rain fell.")).seen.revision == 1
    add(seen, of(URL), "Rain", "Rain fell.")
    seen.add_other(URL)
    assert not seen.judge(of(URL), Wording("Rain", "Rain fell.")).is_new


def test_a_crawl_that_is_killed_loses_what_came_after_its_checkpoint(
    path: Path, clock: Clock
) -> None:
    seen = crawl(path, clock)
    add(seen, of(URL), "Rain", "Rain fell.")
    write(seen)
    add(seen, of(OTHER), "Sun", "The sun shone.")

    later = crawl(path, clock)
    assert not later.is_due(URL)
    assert later.is_due(OTHER)


@pytest.mark.parametrize(
    ("finished", "incomplete", "is_kept"),
    [(True, "another", True), (False, "another", False), (True, "a", False)],
)
def test_a_list_is_kept_if_all_that_it_names_was_downloaded(
    tmp_path: Path, *, finished: bool, incomplete: str, is_kept: bool
) -> None:
    path, clock = tmp_path / "seen.db", Clock()
    seen = crawl(path, clock)
    seen.add_list(LIST, "a", SeenList('"1"'))
    seen.add_named(LIST, "feed", [URL])
    seen.leave_incomplete(incomplete)
    finish(seen, finished=finished)

    kept = SeenList('"1"', "", (("feed", URL),))
    assert crawl(path, clock).list(LIST) == (kept if is_kept else None)


def test_a_checkpoint_does_not_wait_for_another_crawl(path: Path, clock: Clock) -> None:
    seen = crawl(path, clock)
    add(seen, of(URL), "Rain", "Rain fell.")
    SeenStore(path).check()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    seen.checkpoint()
    assert not seen.is_due(URL)
    add(seen, of(OTHER), "Sun", "The sun shone.")
    other.execute("COMMIT")
    other.close()
    finish(seen, finished=True)

    assert seen.failures == 0
    assert not crawl(path, clock).is_due(URL)
    assert not crawl(path, clock).is_due(OTHER)


def test_an_address_that_is_met_is_kept_even_if_nobody_reads_it(path: Path, clock: Clock) -> None:
    seen = crawl(path, clock)
    for url in (URL, OTHER):
        add(seen, of(url), "Rain", "Rain fell.", listed=5)
    write(seen)
    clock.minute += 20 * DAY
    assert not seen.is_due(URL, 5)
    finish(seen, finished=True)

    assert not crawl(path, clock).is_due(URL, 5)
    assert crawl(path, clock).is_due(OTHER, 5)


def test_what_is_met_every_day_is_kept_however_short_the_time(path: Path, clock: Clock) -> None:
    first = alone(SeenArticles(SeenStore(path), Times(99 * DAY, 3 * DAY), clock))
    add(first, of(URL), "Rain", "Rain fell.")
    finish(first, finished=True)

    for _ in range(9):
        clock.minute += DAY
        seen = alone(SeenArticles(SeenStore(path), Times(99 * DAY, 3 * DAY), clock))
        assert not seen.is_due(URL)
        finish(seen, finished=True)


def test_a_file_that_fails_stops_no_crawl(
    path: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    seen = crawl(path, clock)
    path.write_bytes(b"no database" * 99)
    add(seen, of(URL), "Rain", "Rain fell.")

    assert seen.is_due(OTHER)
    write(seen)
    finish(seen, finished=True)
    assert seen.failures > 2
    assert len(caplog.records) == 1


class FailingOnce(SeenStore):
    """Fails once as no store should; so does the one for the other thread."""

    is_failing = True

    def another(self) -> FailingOnce:
        return FailingOnce(self.path)

    def add(self, articles: Mapping[int, Seen]) -> None:
        if self.is_failing:
            self.is_failing = False
            raise MemoryError("all is full")
        super().add(articles)


def test_what_was_seen_is_kept_whatever_a_checkpoint_fails_with(path: Path, clock: Clock) -> None:
    seen = alone(SeenArticles(FailingOnce(path), Times(DAY), clock))
    add(seen, of(URL), "Rain", "Rain fell.")
    write(seen)
    assert not seen.is_due(URL)
    finish(seen, finished=True)

    assert (seen.failures, seen.lost) == (1, 0)
    assert not crawl(path, clock).is_due(URL)


def test_a_store_that_fails_fills_no_memory_and_what_is_dropped_is_lost(
    path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list names what was dropped, too, and so must be read again."""
    monkeypatch.setattr(seen_crawled, "MAX_UNSAVED", 3)
    seen = alone(SeenArticles(FailingOnce(path), Times(DAY), clock))
    urls = [f"{URL}/{number}" for number in range(5)]
    for url in urls:
        add(seen, of(url), "Rain", "Rain fell.")
    seen.add_list(LIST, "a", SeenList('"1"'))
    write(seen)
    assert seen.lost == 5
    finish(seen, finished=True)

    assert seen.lost == 2
    later = crawl(path, clock)
    assert [later.is_due(url) for url in urls] == [True] * 2 + [False] * 3
    assert later.list(LIST) is None


def test_all_is_closed_whatever_the_end_fails_with(
    path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(_store: SeenStore, _minute: int) -> int:
        raise MemoryError("all is full")

    closed: list[SeenStore] = []
    close = SeenStore.close

    def noted(store: SeenStore) -> None:
        closed.append(store)
        close(store)

    monkeypatch.setattr(SeenStore, "forget", failing)
    monkeypatch.setattr(SeenStore, "close", noted)
    seen = crawl(path, clock)
    add(seen, of(URL), "Rain", "Rain fell.")

    finish(seen, finished=True)

    assert len(closed) == 2
    assert (seen.failures, seen.lost) == (1, 0)
