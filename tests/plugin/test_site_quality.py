"""What a crawl counts of its sites before it is stored."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from threading import Event

import pytest

from scrapy_mss.crawl import site_quality
from scrapy_mss.quality.counts import PAGES
from scrapy_mss.quality.store import QualityStore
from scrapy_mss.storage.sqlite_store import SQLiteStore
from scrapy_mss.storage.tables import Change
from tests.helpers.checkpoints import alone, checkpoints_of, finish, write

pytestmark = pytest.mark.any_scrapy("counts and their store; there is no crawl")


def quality_in(store: SQLiteStore) -> site_quality.SiteQuality:
    return alone(site_quality.SiteQuality(QualityStore(store)), store)


def pages_in(store: SQLiteStore) -> dict[str, int]:
    """How many pages of each site were counted."""
    found = QualityStore(store).sites(0)
    return {site: sum(day[PAGES] for day in days.values()) for site, days in found.items()}


def test_sites_that_are_counted_go_on_when_there_is_no_room_for_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site_quality, "MAX_SITES", 2)
    store = SQLiteStore(tmp_path)
    quality = quality_in(store)

    for host in ("a.example", "b.example", "c.example", "a.example", "b.example"):
        quality.page(f"https://{host}/1", None)
    finish(quality)

    assert pages_in(store) == {"a.example": 2, "b.example": 2}


class SlowStore(SQLiteStore):
    """Writes when it is told to, as a server may that does not answer."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.go_on = Event()

    def write(self, changes: Sequence[Change]) -> None:
        assert self.go_on.wait(60)
        super().write(changes)


def test_the_end_of_a_crawl_does_not_wait_long_for_what_has_declined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The event loop waits for it, that of other crawls in the process, too."""
    monkeypatch.setattr(site_quality, "EVALUATION_SECONDS", 0.05)
    store = SlowStore(tmp_path)
    quality = quality_in(store)
    quality.page("https://a.example/1", None)

    assert quality.evaluated_at_once() == []

    assert quality.failures == 1
    assert "no answer in 0.05 seconds" in caplog.text
    store.go_on.set()
    asyncio.run(checkpoints_of(quality).finish(finished=True))
    finish(quality)
    assert pages_in(store) == {"a.example": 1}


def test_what_was_counted_is_kept_whatever_a_checkpoint_fails_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise MemoryError("all is full")

    store = SQLiteStore(tmp_path)
    quality = quality_in(store)
    quality.page("https://a.example/1", None)
    with monkeypatch.context() as patch:
        patch.setattr(SQLiteStore, "write", failing)
        write(quality)
    quality.page("https://a.example/2", None)
    finish(quality)

    assert pages_in(store) == {"a.example": 2}
    assert (quality.failures, quality.lost) == (1, 0)
