"""Runs crawls, one after the other, in the process it is called in.

Every warning is an error here, so that what a version of Scrapy deprecates is found.
"""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Mapping, Sequence
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


class _Pulse:
    """For how long, at the most, the event loop did not come round."""

    def __init__(self) -> None:
        self._last = monotonic()
        self._beat: Any = None
        self.longest_pause = 0.0

    def begin(self) -> None:
        from twisted.internet.task import LoopingCall

        self._last = monotonic()
        self._beat = LoopingCall(self._come_round)
        self._beat.start(BEAT)

    def end(self) -> None:
        if self._beat is not None and self._beat.running:
            self._beat.stop()

    def _come_round(self) -> None:
        now = monotonic()
        self._last, pause = now, now - self._last
        self.longest_pause = max(self.longest_pause, pause)


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
def _run(jobs: Sequence[Mapping[str, Any]], results: list[dict[str, Any]]) -> Any:
    for job in jobs:
        training.CHECKPOINT_PAGES = job["checkpoint_pages"]
        extension.CHECKPOINT_SECONDS = job["checkpoint_seconds"]
        kept = _Kept(logging.NOTSET if job["keep"] else logging.WARNING)
        logging.getLogger().addHandler(kept)
        result: dict[str, Any] = {"items": [], "stats": {}, "error": "", "log": kept.lines}
        pulse = _Pulse()
        results.append(result)
        try:
            runner = CrawlerRunner(job["settings"])
            crawler = runner.create_crawler(SPIDERS[job["spider"]])

            def take(item: Any, result: dict[str, Any] = result) -> None:
                result["items"].append(_plain(item))

            if job["keep"]:
                crawler.signals.connect(take, signals.item_scraped)
            crawler.signals.connect(pulse.begin, signals.spider_opened)
            yield runner.crawl(crawler, **job["arguments"])
            result["longest_pause"] = pulse.longest_pause
            result["stats"] = crawler.stats.get_stats()
        except Exception as error:  # noqa: BLE001 - it is the result
            first = _first(error)
            result["error"] = f"{type(first).__name__}: {first}"
        finally:
            pulse.end()
            logging.getLogger().removeHandler(kept)


def main(jobs: Sequence[Mapping[str, Any]], results: str) -> None:
    """Write what comes of *jobs* to the file *results*."""
    warnings.simplefilter("error")
    # Spidermon 1.27 calls what Scrapy 2.14 has deprecated.
    warnings.filterwarnings("ignore", r"Spider\.log\(\) is deprecated", ScrapyDeprecationWarning)
    install_reactor(jobs[0]["settings"].get("TWISTED_REACTOR", REACTOR))
    from twisted.internet import reactor as installed

    reactor: Any = installed
    configure_logging({"LOG_LEVEL": "DEBUG"})
    done: list[dict[str, Any]] = []

    def start() -> None:
        running: Any = _run(jobs, done)
        running.addBoth(lambda _: reactor.stop())

    reactor.callWhenRunning(start)  # a crawl that fails at its start is over at once
    reactor.run()
    Path(results).write_text(json.dumps(done, default=str))
