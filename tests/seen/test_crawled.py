"""What is due, what is new, and what is stored when."""

from __future__ import annotations

from pathlib import Path

import pytest

from scrapy_mss.seen.crawled import DAY, SeenArticles, Verdict
from scrapy_mss.seen.store import SeenList, SeenStore

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


def crawl(path: Path, clock: Clock) -> SeenArticles:
    return SeenArticles(SeenStore(path), DAY, clock)


def test_an_article_is_due_until_it_was_seen_and_again_after_a_day(
    path: Path, clock: Clock
) -> None:
    seen = crawl(path, clock)
    assert seen.is_due(URL)
    seen.add([URL], "Rain", "Rain fell.")
    assert not seen.is_due(URL)
    seen.close(0, finished=True)

    clock.minute += DAY - 1
    assert not crawl(path, clock).is_due(URL)
    clock.minute += 1
    assert crawl(path, clock).is_due(URL)


def test_a_date_decides_where_there_is_one(path: Path, clock: Clock) -> None:
    seen = crawl(path, clock)
    seen.add([URL], "Rain", "Rain fell.", listed=clock.minute - 60)
    seen.add([OTHER], "Sun", "The sun shone.")
    clock.minute += 9 * DAY

    assert not seen.is_due(URL, clock.minute - 9 * DAY - 60)
    assert seen.is_due(URL, clock.minute - 9 * DAY - 59)
    assert not seen.is_due(OTHER, clock.minute - 9 * DAY)  # it was read after that
    assert seen.is_due(OTHER, clock.minute - 8 * DAY)


def test_an_article_in_other_words_is_a_revision(path: Path, clock: Clock) -> None:
    seen = crawl(path, clock)
    assert seen.judge([URL], "Rain", "Rain fell.") == Verdict(is_new=True, revision=1, changed=())
    seen.add([URL], "Rain", "Rain fell.")

    assert not seen.judge([URL], "Rain", "Rain  fell").is_new
    assert seen.judge([URL], "Rain", "Rain falls.") == Verdict(
        is_new=True, revision=2, changed=("text",)
    )
    seen.add([URL], "Storm", "Rain falls.")
    assert seen.judge([URL], "Rain", "Rain.") == Verdict(
        is_new=True, revision=3, changed=("title", "text")
    )


def test_an_article_is_known_by_all_its_addresses(path: Path, clock: Clock) -> None:
    seen = crawl(path, clock)
    seen.add([URL, OTHER], "Rain", "Rain fell.")

    assert not seen.judge([OTHER], "Rain", "Rain fell.").is_new
    assert not seen.judge([OTHER, "http://a.example/third"], "Rain", "Rain fell.").is_new


def test_a_crawl_that_is_killed_loses_what_came_after_its_checkpoint(
    path: Path, clock: Clock
) -> None:
    seen = crawl(path, clock)
    seen.add([URL], "Rain", "Rain fell.")
    seen.checkpoint()
    seen.add([OTHER], "Sun", "The sun shone.")

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
    seen.close(0, finished=finished)

    kept = SeenList('"1"', "", (("feed", URL),))
    assert crawl(path, clock).list(LIST) == (kept if is_kept else None)


def test_an_address_that_is_met_is_kept_even_if_nobody_reads_it(path: Path, clock: Clock) -> None:
    seen = crawl(path, clock)
    for url in (URL, OTHER):
        seen.add([url], "Rain", "Rain fell.", listed=5)
    seen.checkpoint()
    clock.minute += 20 * DAY
    assert not seen.is_due(URL, 5)
    seen.close(10, finished=True)

    assert not crawl(path, clock).is_due(URL, 5)
    assert crawl(path, clock).is_due(OTHER, 5)


def test_a_file_that_fails_stops_no_crawl(
    path: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    seen = crawl(path, clock)
    path.write_bytes(b"no database" * 99)
    seen.add([URL], "Rain", "Rain fell.")

    assert seen.is_due(OTHER)
    seen.checkpoint()
    seen.close(10, finished=True)
    assert seen.failures > 2
    assert len(caplog.records) == 1
