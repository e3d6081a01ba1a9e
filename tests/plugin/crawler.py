"""Runs crawls, one after the other, in the process it is started in.

    python crawler.py JOBS.json RESULTS.json

Every warning is an error here, so that what a version of Scrapy deprecates is found.
"""

from __future__ import annotations

import json
import logging
import sys
import warnings
from pathlib import Path
from time import monotonic
from typing import Any

from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.crawler import CrawlerRunner
from scrapy.exceptions import ScrapyDeprecationWarning
from scrapy.utils.log import configure_logging
from scrapy.utils.reactor import install_reactor
from twisted.internet.defer import inlineCallbacks

from scrapy_mss.crawl import extension, training
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


class _Moments:
    """How long the event loop stood still at most, and how long the crawl took to end."""

    def __init__(self) -> None:
        self._last = self._idle = monotonic()
        self._longest = 0.0
        self._beat: Any = None

    def begin(self) -> None:
        from twisted.internet.task import LoopingCall

        self._beat, self._last = LoopingCall(self._note), monotonic()
        self._beat.start(BEAT)

    def idle(self) -> None:
        self._idle = monotonic()

    def end(self) -> dict[str, float]:
        if self._beat is not None:
            self._note()
            self._beat.stop()
        return {"stall": self._longest, "ending": monotonic() - self._idle}

    def _note(self) -> None:
        self._longest = max(self._longest, monotonic() - self._last - BEAT)
        self._last = monotonic()


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
        moments = _Moments()
        results.append(result)
        try:
            runner = CrawlerRunner(job["settings"])
            crawler = runner.create_crawler(SPIDERS[job["spider"]])

            def take(item: Any, result: dict[str, Any] = result) -> None:
                result["items"].append(_plain(item))

            if job["keep"]:
                crawler.signals.connect(take, signals.item_scraped)
            crawler.signals.connect(moments.begin, signals.spider_opened)
            crawler.signals.connect(moments.idle, signals.spider_idle)
            yield runner.crawl(crawler, **job["arguments"])
            result |= moments.end()
            result["stats"] = crawler.stats.get_stats()
        except Exception as error:  # noqa: BLE001 - it is the result
            first = _first(error)
            result["error"] = f"{type(first).__name__}: {first}"
        finally:
            logging.getLogger().removeHandler(kept)


def main(jobs: str, results: str) -> None:
    warnings.simplefilter("error")
    # Spidermon 1.27 calls what Scrapy 2.14 has deprecated.
    warnings.filterwarnings("ignore", r"Spider\.log\(\) is deprecated", ScrapyDeprecationWarning)
    install_reactor(REACTOR)
    from twisted.internet import reactor as installed

    reactor: Any = installed
    configure_logging({"LOG_LEVEL": "DEBUG"})
    done: list[dict[str, Any]] = []
    asked = json.loads(Path(jobs).read_text())

    def start() -> None:
        running: Any = _run(asked, done)
        running.addBoth(lambda _: reactor.stop())

    reactor.callWhenRunning(start)  # a crawl that fails at its start is over at once
    reactor.run()
    Path(results).write_text(json.dumps(done, default=str))


if __name__ == "__main__":
    main(*sys.argv[1:])
