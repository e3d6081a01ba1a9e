"""How long does the event loop stand still while large pages are extracted?

Made-up pages of 20 KB to 2 MB are crawled from a file, without scrapy-mss and with it. A coroutine
asks to be woken every five milliseconds; how much later it was is how long everything else in the
crawl had to wait: downloads, timeouts, other spiders.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler, CrawlerRunner
from scrapy.http import Response
from scrapy.utils.log import configure_logging
from scrapy.utils.reactor import install_reactor
from twisted.internet.defer import Deferred

from research.benchmarks.synthetic import page
from scrapy_mss import Extractor
from scrapy_mss.core.labels import span_labels
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT

if TYPE_CHECKING:
    from typing_extensions import Self

TICK = 0.005  # seconds
LONG = 0.05  # seconds; a stall that others notice
SIZES = {20_000: 100, 100_000: 50, 500_000: 20, 2_000_000: 8}  # characters: pages of that size
ADDRESS = "https://news.example/{}"
WRAPPERS = [{"site": "news.example", "body": "article"}]
EXTRACTING = {"ADDONS": {"scrapy_mss.Addon": 500}, "MSS_EMIT": "all"}
TRAINING = {**EXTRACTING, "MSS_WRAPPERS": WRAPPERS, "MSS_PREFER_WRAPPER": False}
FROZEN = {**EXTRACTING, "MSS_TRAIN": False}
ROWS: dict[str, dict[str, Any]] = {
    "without scrapy-mss": {},
    "extraction, MSS_WORKERS = 0": FROZEN,
    "extraction, MSS_WORKERS = 2": {**FROZEN, "MSS_WORKERS": 2},
    "and training, MSS_WORKERS = 0": TRAINING,
    "and training, MSS_WORKERS = 2": {**TRAINING, "MSS_WORKERS": 2},
}
COMMON = {
    "DOWNLOAD_HANDLERS": dict.fromkeys(("http", "https"), "scrapy_mss.replay.ReplayHandler"),
    "CONCURRENT_REQUESTS_PER_DOMAIN": 4,
    "DOWNLOAD_DELAY": 0,
    "LOG_LEVEL": "ERROR",
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "EXTENSIONS": {"__main__.Meter": 1},
}


@dataclass
class Meter:
    """An extension that measures how late a coroutine is woken."""

    late: list[float] = field(default_factory=list)
    seconds: float = 0.0
    done: ClassVar[list[Meter]] = []

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        meter = cls()
        cls.done.append(meter)
        crawler.signals.connect(meter.opened, signals.spider_opened)
        crawler.signals.connect(meter.closed, signals.spider_closed)
        return meter

    def opened(self) -> None:
        self.seconds = -perf_counter()
        self._task = asyncio.get_running_loop().create_task(self._tick())

    def closed(self) -> None:
        self.seconds += perf_counter()
        self._task.cancel()

    async def _tick(self) -> None:
        while True:
            asked = perf_counter()
            await asyncio.sleep(TICK)
            self.late.append(perf_counter() - asked - TICK)

    def row(self) -> str:
        n_long = sum(late > LONG for late in self.late)
        return f"{1000 * max(self.late):8.0f} ms {n_long:12} {self.seconds:8.1f} s"


class PageSpider(Spider):
    """Asks for every page and leaves the rest to scrapy-mss."""

    name = "stall"

    async def start(self) -> AsyncIterator[Any]:
        for number in range(sum(SIZES.values())):
            yield Request(ADDRESS.format(number), dont_filter=True)

    def parse(self, response: Response, **_: Any) -> None:
        """Yield nothing."""


def records() -> Iterator[str]:
    """The pages, the large ones between the small."""
    total = sum(SIZES.values())
    places = sorted(
        ((n + 0.5) / count, size) for size, count in SIZES.items() for n in range(count)
    )
    for number, (_, size) in zip(range(total), places, strict=True):
        yield json.dumps({"url": ADDRESS.format(number), "html": page(size, number)})


def trained() -> Extractor:
    extractor = Extractor(Model(DEFAULT))
    tokens = tokenize(page(300_000))
    extractor.learn(tokens, span_labels(len(tokens), 500, 3000), checked=False)
    return extractor


async def crawled(folder: Path) -> None:
    print(f"{'':32} {'longest':>11} {'over 50 ms':>12} {'crawl':>10}")
    for name, settings in ROWS.items():
        trained().save(folder / "model")
        more = {"MSS_MODEL": str(folder / "model"), "MSS_REPLAY": str(folder / "pages.jsonl")}
        await CrawlerRunner({**COMMON, **more, **settings}).crawl(PageSpider)
        print(f"{name:32} {Meter.done[-1].row()}", flush=True)


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    configure_logging({"LOG_LEVEL": "ERROR"})
    install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
    from twisted.internet.task import react

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pages.jsonl").write_text("\n".join(records()))
        react(lambda _: Deferred.fromCoroutine(crawled(folder)))


if __name__ == "__main__":
    main()
