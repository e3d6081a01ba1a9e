"""The end of a crawl: each part is written, whatever the others do."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from scrapy.crawler import Crawler

from scrapy_mss.crawl.extension import MssExtension
from scrapy_mss.downloadermiddlewares import TrainingMiddleware
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import StoredModel
from scrapy_mss.quality.counts import PAGES
from scrapy_mss.quality.store import QualityStore
from scrapy_mss.storage.opening import store_at
from scrapy_mss.storage.sqlite_store import SQLiteStore
from tests.plugin.parts import URL, page, passed
from tests.plugin.site import RULES, wrapped

SITE = "127.0.0.1"
ALL = {"model": 1, "quality": 1}


class OnePage:
    """A crawl that has read one page, and stored nothing of it."""

    def __init__(self, crawler_of: Callable[..., Crawler], folder: Path) -> None:
        self._named = str(folder / "store")
        crawler = crawler_of(MSS_WRAPPERS=RULES, MSS_STORE=self._named, MSS_WORKERS=0)
        self.extension = MssExtension.of(crawler)
        passed(TrainingMiddleware.from_crawler(crawler), page(wrapped(1)))
        assert self.extension.quality is not None
        self.extension.quality.page(URL, None)

    def end(self) -> None:
        """End the crawl as Scrapy does."""
        asyncio.run(self.extension.close("finished"))

    def stored(self) -> dict[str, int]:
        """How much of the page is in each part of the store."""
        store = store_at(self._named)
        days = QualityStore(store).sites(0).get(SITE, {})
        return {
            "model": StoredModel(store, DEFAULT).load().bayes.pages,
            "quality": sum(counts[PAGES] for counts in days.values()),
        }


@pytest.fixture
def crawl(crawler_of: Callable[..., Crawler], tmp_path: Path) -> OnePage:
    return OnePage(crawler_of, tmp_path)


def failing(*_arguments: object) -> None:
    raise MemoryError("all is full")


class StubbornTimer:
    """A timer that cannot be stopped."""

    running = True
    stop = staticmethod(failing)


def test_all_is_stored_whatever_a_timer_does(crawl: OnePage) -> None:
    crawl.extension._timer = StubbornTimer()

    with pytest.raises(MemoryError):
        crawl.end()

    assert crawl.stored() == ALL


def test_what_may_be_lost_in_a_store_that_cannot_be_closed_is_logged(
    crawl: OnePage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It does not confirm that all of it was written."""
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(SQLiteStore, "close", failing)

    crawl.end()

    monkeypatch.undo()
    (lost,) = (line for line in caplog.messages if "not confirmed these, which may be lost" in line)
    for part in ("the counts of 1 sites and days", "the counts of 1 learned pages"):
        assert part in lost
    assert "learned 1 of 1 page of 1 wrapped site" in caplog.text
    assert crawl.stored() == ALL
