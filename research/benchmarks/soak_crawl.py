"""One crawl of the soak, in a process of its own; what it measured is a line of JSON at its end.

A job is what `Job` says, as JSON on standard input. An extension samples the memory of the process
and of its workers while pages come in, measures how late a coroutine is woken, and disturbs the
workers if the job asks for it: in turns one is killed and one is stopped, as a page would that
never ends.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import cycle
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import psutil
from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler, CrawlerProcess
from scrapy.http import Response

from research.benchmarks.soak_server import own_word

if TYPE_CHECKING:
    from typing_extensions import Self

TICK = 0.005  # seconds after which the event loop is to wake the meter
LONG = 0.05  # seconds; a stall that others notice
SAMPLES = 40  # of memory in one crawl
SETTINGS: dict[str, Any] = {
    "CONCURRENT_REQUESTS": 32,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
    "DOWNLOAD_DELAY": 0,
    "LOG_LEVEL": "ERROR",
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
}


@dataclass(frozen=True, slots=True)
class Job:
    """What to crawl, and how."""

    urls: list[str]
    settings: dict[str, Any]
    disturb_every: float = 0.0  # seconds after which a worker is killed or stopped; 0 for never


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes that the crawl's process and all of its workers took at one moment."""

    crawl: int
    workers: int


@dataclass(slots=True)
class Measured:
    """What came of a crawl."""

    pages: int = 0
    items: int = 0
    mixed: int = 0  # items with the text of another page
    disturbed: int = 0  # workers that were killed or stopped
    seconds: float = 0.0
    cpu: float = 0.0  # seconds of the crawl's own process
    longest_stall: float = 0.0
    stalls: int = 0  # longer than `LONG`
    memory: list[Memory] = field(default_factory=list)
    stats: dict[str, float] = field(default_factory=dict)


def workers() -> list[psutil.Process]:
    """The processes that read pages for this one."""
    found = []
    for child in psutil.Process().children():
        with suppress(psutil.Error):
            if any("scrapy_mss" in part for part in child.cmdline()):
                found.append(child)
    return found


def memory() -> Memory:
    total = 0
    for worker in workers():
        with suppress(psutil.Error):
            total += worker.memory_info().rss
    return Memory(psutil.Process().memory_info().rss, total)


class Meter:
    """The extension that measures and disturbs."""

    def __init__(self, crawler: Crawler) -> None:
        self.measured = Measured()
        self._sample_every = max(1, crawler.settings.getint("SOAK_PAGES") // SAMPLES)
        self._disturb_every = crawler.settings.getfloat("SOAK_DISTURB_EVERY")
        self._stats = crawler.stats
        self._tasks: list[asyncio.Task[None]] = []

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        meter = cls(crawler)
        crawler.signals.connect(meter.opened, signals.spider_opened)
        crawler.signals.connect(meter.received, signals.response_received)
        crawler.signals.connect(meter.scraped, signals.item_scraped)
        crawler.signals.connect(meter.closed, signals.spider_closed)
        return meter

    def opened(self) -> None:
        self.measured.seconds, self.measured.cpu = -perf_counter(), -process_time()
        running = [self._tick()] + ([self._disturb()] if self._disturb_every else [])
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(each) for each in running]

    def received(self) -> None:
        self.measured.pages += 1
        if self.measured.pages % self._sample_every == 0:
            self.measured.memory.append(memory())

    def scraped(self, item: Any) -> None:
        self.measured.items += 1
        number = int(item.url.rpartition("/")[2])
        self.measured.mixed += own_word(number) not in (item.text or "").lower()

    def closed(self) -> None:
        self.measured.seconds += perf_counter()
        self.measured.cpu += process_time()
        for task in self._tasks:
            task.cancel()

    async def _tick(self) -> None:
        while True:
            asked = perf_counter()
            await asyncio.sleep(TICK)
            late = perf_counter() - asked - TICK
            self.measured.longest_stall = max(self.measured.longest_stall, late)
            self.measured.stalls += late > LONG

    async def _disturb(self) -> None:
        chance = random.Random(1)
        for sent in cycle((signal.SIGKILL, signal.SIGSTOP)):
            await asyncio.sleep(self._disturb_every)
            if found := workers():
                os.kill(chance.choice(found).pid, sent)
                self.measured.disturbed += 1


class Soaked(Spider):
    """Asks for every page and leaves the rest to scrapy-mss."""

    name = "soak"
    urls: list[str]

    async def start(self) -> AsyncIterator[Any]:
        for url in self.urls:
            yield Request(url, dont_filter=True)

    def parse(self, response: Response, **_: Any) -> None:
        """Yield nothing."""


def crawled(job: Job) -> Measured:
    more = {
        "EXTENSIONS": {Meter: 1},
        "SOAK_PAGES": len(job.urls),
        "SOAK_DISTURB_EVERY": job.disturb_every,
    }
    process = CrawlerProcess({**SETTINGS, **job.settings, **more})
    crawler = process.create_crawler(Soaked)
    process.crawl(crawler, urls=job.urls)
    process.start()
    meter = crawler.get_extension(Meter)
    assert meter is not None
    assert crawler.stats is not None
    stats = crawler.stats.get_stats().items()
    meter.measured.stats = {name: each for name, each in stats if isinstance(each, int | float)}
    return meter.measured


if __name__ == "__main__":
    print(json.dumps(asdict(crawled(Job(**json.load(sys.stdin))))))
