"""One crawl in this process, measured: what `stall` starts again and again.

    python -m research.benchmarks.metered_crawl SETTINGS.json

A coroutine asks to be woken every five milliseconds; how much later it was is how long everything
else in the crawl had to wait: downloads, timeouts, other spiders. The memory is read every twenty
responses. It imports Scrapy alone, so that a crawl without scrapy-mss is one.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from statistics import median
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider, signals
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response
from scrapy.utils.misc import load_object

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from typing_extensions import Self

ADDRESS = "https://news.example/{}"
TICK = 0.005  # seconds
LONG = 0.05  # seconds; a stall that others notice
EVERY = 20  # responses

HANDLER = "research.benchmarks.stored_pages_handler.StoredPagesHandler"
COMMON: dict[str, Any] = {
    "DOWNLOAD_HANDLERS": dict.fromkeys(("http", "https"), HANDLER),
    "CONCURRENT_REQUESTS_PER_DOMAIN": 4,
    "DOWNLOAD_DELAY": 0,
    "LOG_LEVEL": "ERROR",
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "EXTENSIONS": {"__main__.Meter": 1},
}


class Meter:
    """An extension that measures how late a coroutine is woken, and the memory of the process."""

    def __init__(self) -> None:
        self.late: list[float] = []
        self.busy: list[float] = []  # processor time of the event loop's thread meanwhile
        self.resident: list[int] = []
        self.n_responses = 0
        self.seconds = 0.0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        meter = cls()
        assert crawler.stats is not None
        meter.stats = crawler.stats
        crawler.signals.connect(meter.opened, signals.spider_opened)
        crawler.signals.connect(meter.received, signals.response_received)
        crawler.signals.connect(meter.idle, signals.spider_idle)
        return meter

    stats: Any

    def opened(self) -> None:
        self.seconds = -perf_counter()
        self._task = asyncio.get_running_loop().create_task(self._tick())

    def received(self) -> None:
        self.n_responses += 1
        if self.n_responses % EVERY == 0:
            self.resident.append(resident())

    def idle(self) -> None:
        if self._task.cancelled():
            return
        self.seconds += perf_counter()
        self._task.cancel()
        steady = self.resident[2 * len(self.resident) // 3 :] or [resident()]
        measured = {
            "longest": max(self.late, default=0.0),
            "busiest": max(self.busy, default=0.0),
            "n_long": sum(late > LONG for late in self.late),
            "seconds": self.seconds,
            "rss": median(steady),
        }
        self.stats.set_value("measured", measured)

    async def _tick(self) -> None:
        while True:
            asked, used = perf_counter(), thread_time()
            await asyncio.sleep(TICK)
            self.late.append(perf_counter() - asked - TICK)
            self.busy.append(thread_time() - used)


class PageSpider(Spider):
    """Asks for the pages at *urls* and leaves the rest to scrapy-mss."""

    name = "metered"
    urls: list[str]

    async def start(self) -> AsyncIterator[Any]:
        for url in self.urls:
            yield Request(url, dont_filter=True)

    def parse(self, response: Response, **_: Any) -> None:
        """Yield nothing."""


def resident() -> int:
    """The bytes of this process that are in memory, those that it shares with others included."""
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def main(path: str) -> None:
    asked = json.loads(Path(path).read_text())
    process = CrawlerProcess({**COMMON, **asked["settings"]})
    crawler = process.create_crawler(load_object(asked.get("spider", PageSpider)))
    process.crawl(crawler, **asked["arguments"])
    process.start()
    assert crawler.stats is not None
    stats = crawler.stats.get_stats()
    ours = {name: value for name, value in stats.items() if name.startswith("mss/")}
    print(json.dumps({**stats["measured"], "stats": ours}))


if __name__ == "__main__":
    main(*sys.argv[1:])
