"""The end of a crawl: each part is written, whatever the others do."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest
from scrapy.crawler import Crawler

from scrapy_mss.crawl.extension import MssExtension
from scrapy_mss.downloadermiddlewares import TrainingMiddleware
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import FileStore
from scrapy_mss.quality.counts import PAGES
from scrapy_mss.quality.store import QualityStore
from scrapy_mss.seen.crawled import Addresses, Wording
from scrapy_mss.seen.keys import address_key
from scrapy_mss.seen.store import SeenStore
from scrapy_mss.seen.story_store import StoryStore
from tests.plugin.parts import URL, page, passed, stat
from tests.plugin.site import RULES, wrapped

SITE = "127.0.0.1"
ALL = {"model": 1, "seen": 1, "quality": 1}


class OnePage:
    """A crawl that has read one page, and stored nothing of it."""

    def __init__(self, crawler_of: Callable[..., Crawler], folder: Path) -> None:
        self._model, self._seen = folder / "model", folder / "seen.db"
        self._quality = folder / "quality.db"
        self.crawler = crawler_of(
            MSS_WRAPPERS=RULES,
            MSS_MODEL=str(self._model),
            MSS_SEEN=str(self._seen),
            MSS_QUALITY_FILE=str(self._quality),
            MSS_ONLY_NEW=True,
            MSS_WORKERS=0,
        )
        self.extension = MssExtension.of(self.crawler)
        passed(TrainingMiddleware.from_crawler(self.crawler), page(wrapped(1)))
        state = self.extension.state
        assert state.seen is not None
        assert state.quality is not None
        addresses = Addresses((URL,))
        verdict = state.seen.judge(addresses, Wording("Rain", "Rain fell."))
        state.seen.add(addresses, verdict.seen)
        state.quality.page(URL, None)

    def end(self) -> None:
        """End the crawl as Scrapy does."""
        asyncio.run(self.extension.close("finished"))

    def stored(self) -> dict[str, int]:
        """How much of the page is in each file."""
        days = QualityStore(self._quality).sites(0).get(SITE, {})
        return {
            "model": FileStore(self._model, DEFAULT).load().bayes.pages,
            "seen": len(SeenStore(self._seen).articles([address_key(URL)])),
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


def test_a_crawl_stores_all_at_its_end(crawl: OnePage) -> None:
    crawl.end()

    assert crawl.stored() == ALL


def test_all_is_stored_whatever_a_timer_does(crawl: OnePage) -> None:
    crawl.extension.state._timer = StubbornTimer()

    with pytest.raises(MemoryError):
        crawl.end()

    assert crawl.stored() == ALL


def test_the_event_loop_continues_while_old_stories_are_forgotten(
    crawler_of: Callable[..., Crawler], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, continued = Event(), Event()

    def forget_before(_store: StoryStore, _minute: int) -> int:
        begun.set()
        assert continued.wait(5)
        return 0

    async def end() -> None:
        closing = asyncio.create_task(extension.close("finished"))
        while not begun.is_set():
            await asyncio.sleep(0.01)
        continued.set()
        await closing

    monkeypatch.setattr(StoryStore, "forget_before", forget_before)
    crawler = crawler_of(MSS_COPIES="mark", MSS_SEEN=str(tmp_path / "seen.db"), MSS_WORKERS=0)
    extension = MssExtension.of(crawler)

    asyncio.run(end())

    assert stat(crawler, "stories/failed") == 0


def test_what_a_part_has_not_stored_is_told_whatever_another_does(
    crawl: OnePage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    close = SeenStore.close

    def closed_with_an_error(store: SeenStore) -> None:
        close(store)
        failing()

    monkeypatch.setattr(SeenStore, "close", closed_with_an_error)
    monkeypatch.setattr(QualityStore, "add", failing)

    with pytest.raises(MemoryError):
        crawl.end()

    monkeypatch.undo()
    assert "perhaps not: the quality of 1 sites" in caplog.text
    assert "learned 1 of 1 pages of 1 wrapped sites" in caplog.text
    assert stat(crawl.crawler, "model/pages") == 1
    assert crawl.stored() == {"model": 1, "seen": 1, "quality": 0}
