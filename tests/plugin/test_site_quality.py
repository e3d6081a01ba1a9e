"""What a crawl counts of its sites before it is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from threading import Event

import pytest

from scrapy_mss.crawl import site_quality
from scrapy_mss.quality.counts import PAGES, Counts
from scrapy_mss.quality.store import Key, QualityStore
from tests.helpers.checkpoints import alone, checkpoints_of, finish, write

pytestmark = pytest.mark.any_scrapy("counts and their store; there is no crawl")


def test_sites_that_are_counted_go_on_when_there_is_no_room_for_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site_quality, "MAX_SITES", 2)
    store = QualityStore(tmp_path / "quality.db")
    quality = alone(site_quality.SiteQuality(store))

    for host in ("a.example", "b.example", "c.example", "a.example", "b.example"):
        quality.page(f"https://{host}/1", None)
    finish(quality)

    found = {
        site: sum(day[PAGES] for day in days.values()) for site, days in store.sites(0).items()
    }
    assert found == {"a.example": 2, "b.example": 2}


class SlowStore(QualityStore):
    """Writes when it is told to, as a server may that does not answer."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.go_on = Event()

    def add(self, counted: Mapping[Key, Counts]) -> None:
        assert self.go_on.wait(60)
        super().add(counted)


def test_the_end_of_a_crawl_does_not_wait_long_for_what_has_declined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The event loop waits for it, that of other crawls in the process, too."""
    monkeypatch.setattr(site_quality, "JUDGE_SECONDS", 0.05)
    store = SlowStore(tmp_path / "quality.db")
    quality = alone(site_quality.SiteQuality(store))
    quality.page("https://a.example/1", None)

    assert quality.judged_at_once() == []

    assert quality.failures == 1
    assert "no answer in 0.05 seconds" in caplog.text
    store.go_on.set()
    asyncio.run(checkpoints_of(quality).finish(finished=True))
    finish(quality)
    ((_, counts),) = store.sites(0)["a.example"].items()
    assert counts[PAGES] == 1


class FailingOnce(QualityStore):
    """Fails once as no store should."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.is_failing = True

    def add(self, counted: Mapping[Key, Counts]) -> None:
        if self.is_failing:
            self.is_failing = False
            raise MemoryError("all is full")
        super().add(counted)


def test_what_was_counted_is_kept_whatever_a_checkpoint_fails_with(tmp_path: Path) -> None:
    store = FailingOnce(tmp_path / "quality.db")
    quality = alone(site_quality.SiteQuality(store))
    quality.page("https://a.example/1", None)
    write(quality)
    quality.page("https://a.example/2", None)
    finish(quality)

    ((_, counts),) = store.sites(0)["a.example"].items()
    assert counts[PAGES] == 2
    assert (quality.failures, quality.lost) == (1, 0)


def test_a_store_is_closed_whatever_it_fails_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(_store: QualityStore, _day: int) -> None:
        raise MemoryError("all is full")

    closed = Event()
    monkeypatch.setattr(QualityStore, "forget_before", failing)
    monkeypatch.setattr(QualityStore, "close", lambda _store: closed.set())
    quality = alone(site_quality.SiteQuality(QualityStore(tmp_path / "quality.db")))

    finish(quality)

    assert closed.is_set()
    assert quality.failures == 1
