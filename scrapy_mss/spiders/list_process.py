"""Reads lists in a process of their own, with limits on processor time and memory.

Parsers of feeds are in Python and take seconds for a megabyte that is made for it; a thread would
hold the interpreter's lock as long. One process reads all lists of a crawl, one after the other, as
one takes milliseconds. A list that takes too much ends it, and the next list starts another.

The articles of an answer are packed `CHUNK` at a time, so that the event loop never unpacks more
than that at once.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from time import process_time
from traceback import format_exc
from typing import Final

from scrapy_mss.crawl.hosts import Scope
from scrapy_mss.crawl.packing import packed, unpacked
from scrapy_mss.crawl.processes import (
    LOST,
    OUT_OF_MEMORY,
    Child,
    can_have_workers,
    limit_memory,
    message,
    parent,
    receive,
    send,
)
from scrapy_mss.crawl.wire import CRASH, ERROR, MEMORY, TIMEOUT
from scrapy_mss.spiders.lists import FEED, About, Listed, TooLargeError, read

SECONDS: Final = 10  # of processor time for one list; a sitemap of 50,000 addresses takes two
MOST_MEMORY: Final = 2**30  # bytes; a tree takes some twenty times its list
TOO_LARGE: Final = "too_large"  # why a list is not read, beside `wire.FAILURES`
CHUNK: Final = 20  # articles that the event loop takes together: some milliseconds
TIME_IS_UP: Final = getattr(signal, "SIGPROF", 0)
# Exit codes of the process: a signal ends it when its time is up, whatever it is in.
REASONS: Final[Mapping[int | None, str]] = {-TIME_IS_UP: TIMEOUT, OUT_OF_MEMORY: MEMORY}
PROCESS: Final = "scrapy_mss.spiders.list_process"
# What the process reads before all others: imports and the Public Suffix List take half a second of
# processor time, which is not to be the first list's.
FIRST: Final = About(
    FEED, "https://news.example/rss", "", "news.example", Scope(frozenset({"news.example"})), 0
)
FIRST_BODY: Final = (
    b"<rss><channel><item><link>https://news.example/a</link></item></channel></rss>"
)


@dataclass(frozen=True, slots=True)
class ListAnswer:
    """The contents of a list, as the process sends them, or the *reason* why it is not read."""

    lists: Mapping[str, list[str]]
    off_site: str = ""
    old: Sequence[str] = ()
    seconds: float = 0.0  # of processor time
    packed: Sequence[bytes] = ()
    reason: str = ""
    details: str = ""

    def chunks(self) -> Iterator[list[Listed]]:
        """The articles, some at a time, the newest first."""
        return (unpacked(each, list[Listed]) for each in self.packed)


class ListReader:
    """Reads the lists of a crawl, each within some *seconds* of processor time."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._thread = ThreadPoolExecutor(1, "scrapy-mss-lists")
        self.child = Child(PROCESS, str(seconds))

    def read(self, about: About, body: bytes) -> Future[ListAnswer]:
        """The contents of the list with this *body*, or why it cannot be read."""
        return self._thread.submit(self._read, about, body)

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)
        self.child.close()
        self._thread.shutdown()
        self.child.end()

    def _read(self, about: About, body: bytes) -> ListAnswer:
        if not can_have_workers():
            return answered(about, body)
        try:
            self.child.begin()
            self.child.send(message((about, body)))
            return self.child.receive(ListAnswer)
        except LOST:
            reason = REASONS.get(self.child.end(), CRASH)
            # How long it took is lost with the process: the limit is assumed.
            return ListAnswer({}, seconds=self._seconds, reason=reason, details=reason)


def answered(about: About, body: bytes) -> ListAnswer:
    """The contents of the list with this *body*, or why it cannot be read."""
    started = process_time()
    try:
        contents = read(about, body)
    except MemoryError:
        raise
    except TooLargeError as error:
        return _unread(TOO_LARGE, str(error), started)
    except Exception:  # noqa: BLE001 - the crawl logs it
        return _unread(ERROR, format_exc(), started)
    articles = contents.articles
    chunks = (articles[start : start + CHUNK] for start in range(0, len(articles), CHUNK))
    lists = {kind: [each.url for each in named] for kind, named in contents.lists.items()}
    articles_packed = [*map(packed, chunks)]
    seconds = process_time() - started
    return ListAnswer(lists, contents.off_site, contents.old, seconds, articles_packed)


def _unread(reason: str, details: str, started: float) -> ListAnswer:
    return ListAnswer({}, seconds=process_time() - started, reason=reason, details=details)


def main(seconds: str) -> None:
    """Answer requests from the crawl until it ends."""
    lists, answers = parent()
    limit_memory(MOST_MEMORY)
    read(FIRST, FIRST_BODY)
    with suppress(EOFError, ConnectionError):  # the crawl is over
        while True:
            about, body = receive(lists, tuple[About, bytes])
            signal.setitimer(signal.ITIMER_PROF, float(seconds))
            try:
                answer = answered(about, body)
            except MemoryError:
                os._exit(OUT_OF_MEMORY)
            signal.setitimer(signal.ITIMER_PROF, 0)
            send(answers, answer)
