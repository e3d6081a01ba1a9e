"""Runs crawls, one after the other, in the process it is started in.

    python crawler.py JOBS.json RESULTS.json

Every warning is an error here, so that what a version of Scrapy deprecates is found.
"""

from __future__ import annotations

import json
import logging
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.crawler import CrawlerRunner
from scrapy.exceptions import ScrapyDeprecationWarning
from scrapy.utils.log import configure_logging
from scrapy.utils.reactor import install_reactor
from twisted.internet.defer import inlineCallbacks

from scrapy_mss.crawl import extension, training
from scrapy_mss.storage.redis_store import RedisStore
from scrapy_mss.storage.tables import StoreError
from tests.plugin.spiders import SPIDERS

BEAT = 0.02  # seconds
REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"


class _Kept(logging.Handler):
    """Keeps what one crawl logs."""

    def __init__(self, level: int) -> None:
        super().__init__(level)
        self.lines: list[tuple[str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.exc_info:
            text += f"\n{logging.Formatter().formatException(record.exc_info)}"
        self.lines.append((record.levelname, text))


class _Beats:
    """How often the event loop came round at the end, and while a server was waited for in vain."""

    def __init__(self) -> None:
        self._n = 0
        self._is_ending = False
        self._beat: Any = None
        self.ending = [0, 0]  # beats, and those that were missed
        self.waits: list[tuple[bool, int]] = []

    def begin(self) -> None:
        from twisted.internet.task import LoopingCall

        self._beat = LoopingCall.withCount(self._count)
        self._beat.start(BEAT)

    def idle(self) -> None:
        self._is_ending = True

    def end(self) -> None:
        if self._beat is not None and self._beat.running:
            self._beat.stop()

    def _count(self, due: int) -> None:
        self._n += 1
        if self._is_ending:
            self.ending = [self.ending[0] + 1, self.ending[1] + due - 1]

    def watch(self, asks: Callable[..., Any]) -> Callable[..., Any]:
        """*asks*, which is a method of a store, with a note of each answer that does not come."""

        def watched(store: RedisStore, question: Any, *, patient: bool = True) -> Any:
            before = self._n
            try:
                return asks(store, question, patient=patient)
            except StoreError as error:
                if patient and "just now" not in str(error):  # or it has not waited
                    self.waits.append((self._is_ending, self._n - before))
                raise

        return watched


def _first(error: BaseException) -> BaseException:
    """What went wrong first: Scrapy 2.13 fails again while it closes an engine not yet made.

    What an error was raised from, as ours are, is in its message.
    """
    while error.__context__ is not None and not error.__suppress_context__:
        error = error.__context__
    return error


def _plain(item: Any) -> dict[str, Any]:
    fields = ItemAdapter(item).asdict() if ItemAdapter.is_item(item) else dict(vars(item))
    return {"fields": fields, "kind": type(item).__name__}


@inlineCallbacks  # type: ignore[untyped-decorator,unused-ignore]
def _run(jobs: list[dict[str, Any]], results: list[dict[str, Any]]) -> Any:
    for job in jobs:
        training.CHECKPOINT_PAGES = job["checkpoint_pages"]
        extension.CHECKPOINT_SECONDS = job["checkpoint_seconds"]
        kept = _Kept(logging.NOTSET if job["keep"] else logging.WARNING)
        logging.getLogger().addHandler(kept)
        result: dict[str, Any] = {"items": [], "stats": {}, "error": "", "log": kept.lines}
        beats, asks = _Beats(), RedisStore._ask
        RedisStore._ask = beats.watch(asks)  # type: ignore[method-assign]
        results.append(result)
        try:
            runner = CrawlerRunner(job["settings"])
            crawler = runner.create_crawler(SPIDERS[job["spider"]])

            def take(item: Any, result: dict[str, Any] = result) -> None:
                result["items"].append(_plain(item))

            if job["keep"]:
                crawler.signals.connect(take, signals.item_scraped)
            crawler.signals.connect(beats.begin, signals.spider_opened)
            crawler.signals.connect(beats.idle, signals.spider_idle)
            yield runner.crawl(crawler, **job["arguments"])
            result |= {"waits": beats.waits, "ending": beats.ending}
            result["stats"] = crawler.stats.get_stats()
        except Exception as error:  # noqa: BLE001 - it is the result
            first = _first(error)
            result["error"] = f"{type(first).__name__}: {first}"
        finally:
            beats.end()
            RedisStore._ask = asks  # type: ignore[method-assign]
            logging.getLogger().removeHandler(kept)


def main(jobs: str, results: str) -> None:
    warnings.simplefilter("error")
    # Spidermon 1.27 calls what Scrapy 2.14 has deprecated.
    warnings.filterwarnings("ignore", r"Spider\.log\(\) is deprecated", ScrapyDeprecationWarning)
    asked = json.loads(Path(jobs).read_text())
    install_reactor(asked[0]["settings"].get("TWISTED_REACTOR", REACTOR))
    from twisted.internet import reactor as installed

    reactor: Any = installed
    configure_logging({"LOG_LEVEL": "DEBUG"})
    done: list[dict[str, Any]] = []

    def start() -> None:
        running: Any = _run(asked, done)
        running.addBoth(lambda _: reactor.stop())

    reactor.callWhenRunning(start)  # a crawl that fails at its start is over at once
    reactor.run()
    Path(results).write_text(json.dumps(done, default=str))


if __name__ == "__main__":
    main(*sys.argv[1:])
