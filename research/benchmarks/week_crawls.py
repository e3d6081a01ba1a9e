"""The crawls of the week, one after the other in a process of their own, by the clock of the week.

A job is what `Job` says, as JSON on standard input; a line of JSON after each crawl is a `Crawled`.
`NewsSpider` crawls as it does otherwise, with its worker and the reader of its lists. What is
replaced is the time that the package reads.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import timezone
from pathlib import Path
from time import perf_counter
from typing import Any, Final
from unittest.mock import patch

from scrapy import signals
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.utils.reactor import install_reactor
from twisted.internet import task
from twisted.internet.defer import Deferred

from research.benchmarks.metered_crawl import resident
from research.benchmarks.week_server import Asked, Served
from research.benchmarks.week_world import MINUTE, moment
from scrapy_mss.crawl import site_quality
from scrapy_mss.spiders.news import NewsSpider
from scrapy_mss.storage import tables

ITEM_FIELDS: Final = ("url", "title", "revision", "changed", "story", "text")
SETTINGS: Final[dict[str, Any]] = {
    "CONCURRENT_REQUESTS": 32,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
    "DOWNLOAD_DELAY": 0,
    "DOWNLOAD_MAXSIZE": 4_000_000,
    "DOWNLOAD_TIMEOUT": 5,  # machines are busy
    "LOG_LEVEL": "CRITICAL",
    "REMOTE_CONTROL_ENABLED": False,
    "RETRY_TIMES": 1,
    "ROBOTSTXT_OBEY": True,
    "TELNETCONSOLE_ENABLED": False,
}
ALARM: Final = "mss/quality/alarm/"


@dataclass(frozen=True, slots=True)
class Job:
    """What to crawl, hour by hour."""

    served: dict[str, Any]
    fronts: list[str]
    hours: int
    store: str
    settings: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Crawled:
    """What came of the crawl of an hour."""

    hour: int
    seconds: float
    items: list[dict[str, Any]]
    alarms: list[str]  # site/measure
    asked: list[Asked]
    memory: int  # bytes of the crawl's process
    stored: int  # bytes of the store
    stats: dict[str, float]


class Clock:
    """The time of the week: it goes on while a crawl runs."""

    def __init__(self) -> None:
        self._at = 0.0

    def set(self, hour: int) -> None:
        began = moment(hour, MINUTE).replace(tzinfo=timezone.utc).timestamp()
        self._at = began - perf_counter()

    def __call__(self) -> float:
        return self._at + perf_counter()


async def crawl_hourly(job: Job, report: Callable[[Crawled], None]) -> None:
    """Crawl once an hour, with what came of it to *report*."""
    served, clock = Served(**job.served), Clock()
    runner = AsyncCrawlerRunner({**SETTINGS, "MSS_STORE": job.store, **job.settings})
    with ExitStack() as stack:
        for module in (tables, site_quality):
            stack.enter_context(patch.object(module, "time", clock))
        for hour in range(job.hours):
            clock.set(hour)
            served.at(hour)
            items = Items()
            crawler = runner.create_crawler(NewsSpider)
            crawler.signals.connect(items.add, signals.item_scraped)
            began = perf_counter()
            await runner.crawl(crawler, sites=job.fronts)
            assert crawler.stats is not None
            stats = crawler.stats.get_stats()
            crawled = Crawled(
                hour=hour,
                seconds=perf_counter() - began,
                items=items.found,
                alarms=[n.removeprefix(ALARM) for n in stats if n.startswith(ALARM)],
                asked=served.at(hour),
                memory=resident(),
                stored=size_of(job.store),
                stats={n: v for n, v in stats.items() if isinstance(v, int | float)},
            )
            report(crawled)


class Items:
    """The items of a crawl."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []

    def add(self, item: Any) -> None:
        self.found.append({name: getattr(item, name) for name in ITEM_FIELDS})


def size_of(folder: str) -> int:
    """The bytes of all files there."""
    return sum(each.stat().st_size for each in Path(folder).iterdir())


def main() -> None:
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    job = Job(**json.load(sys.stdin))

    def write(crawled: Crawled) -> None:
        print(json.dumps(asdict(crawled)), flush=True)

    task.react(lambda _: Deferred.fromFuture(asyncio.ensure_future(crawl_hourly(job, write))))


if __name__ == "__main__":
    main()
