"""Reads lists in a process of their own, with limits on processor time and memory.

Parsers of feeds are in Python and take seconds for a megabyte that is made for it; a thread would
hold the interpreter's lock as long. One process reads all lists of a crawl, one after the other, as
one takes milliseconds. A list that takes too much ends it, and the next list starts another.

What is known of a list and its body are a message each, as in `crawl.wire`. The answer is lines of
JSON: the lists that it names, then its articles, `CHUNK` to a line, so that the event loop never
parses more than that at once.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from time import process_time
from traceback import format_exc
from typing import IO, Any, Final

from scrapy_mss.crawl.pool import LOST, can_have_workers, child_environment
from scrapy_mss.crawl.wire import CRASH, ERROR, MEMORY, OUT_OF_MEMORY, TIMEOUT, receive, send
from scrapy_mss.metadata.dates import Moments
from scrapy_mss.spiders.hosts import Scope
from scrapy_mss.spiders.lists import FEED, About, Listed, TooLargeError, read

SECONDS: Final = 10  # of processor time for one list; a sitemap of 50,000 addresses takes two
MOST_MEMORY: Final = 2**30  # bytes; a tree takes some twenty times its list
TOO_LARGE: Final = "too_large"  # why a list is not read, beside `wire.FAILURES`
CHUNK: Final = 20  # articles that the event loop takes together: some milliseconds
TIME_IS_UP: Final = getattr(signal, "SIGPROF", 0)
# Exit codes of the process: a signal ends it when its time is up, whatever it is in.
REASONS: Final[Mapping[int | None, str]] = {-TIME_IS_UP: TIMEOUT, OUT_OF_MEMORY: MEMORY}
# As a script, but without the current folder in the path, as in `pool`.
RUN: Final = (
    "import sys; sys.path = [each for each in sys.path if each]; "
    "from scrapy_mss.spiders.list_process import main; main(float(sys.argv[1]))"
)
# What the process reads before all others: imports and the Public Suffix List take half a second of
# processor time, which is not to be the first list's.
FIRST: Final = About(
    FEED, "https://news.example/rss", "", "news.example", Scope(frozenset({"news.example"})), 0
)
FIRST_BODY: Final = (
    b"<rss><channel><item><link>https://news.example/a</link></item></channel></rss>"
)


class UnreadListError(Exception):
    """A list could not be read for a *reason*, after some *seconds* of processor time."""

    def __init__(self, reason: str, details: str = "", seconds: float = 0.0) -> None:
        super().__init__(details or reason)
        self.reason = reason
        self.seconds = seconds


@dataclass(frozen=True, slots=True)
class Answer:
    """The contents of a list, as the process sends them."""

    lists: dict[str, list[str]]
    off_site: str = ""
    seconds: float = 0.0  # of processor time
    lines: Sequence[bytes] = ()

    def chunks(self) -> Iterator[list[Listed]]:
        """The articles, some at a time, the newest first."""
        for line in self.lines:
            yield [
                Listed(url, minute, Moments(*moments)) for url, minute, *moments in json.loads(line)
            ]


class ListReader:
    """Reads the lists of a crawl, each within some *seconds* of processor time."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._thread = ThreadPoolExecutor(1, "scrapy-mss-lists")
        self.process: subprocess.Popen[bytes] | None = None
        self._closed = False

    def read(self, about: About, body: bytes) -> Future[Answer]:
        """The contents of the list with this *body*, or an `UnreadListError`."""
        return self._thread.submit(self._read, about, body)

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self._closed = True
        self._thread.shutdown(wait=False, cancel_futures=True)
        if self.process is not None:
            self.process.kill()
        self._thread.shutdown()
        self._end()

    def _read(self, about: About, body: bytes) -> Answer:
        head = json.dumps(about, default=list).encode()
        if can_have_workers():
            try:
                into, out = self._pipes()
                send(into, head)
                send(into, body)
                answer = receive(out)
            except LOST:
                reason = REASONS.get(self._end(), CRASH)
                # How long it took is lost with the process: the limit is assumed.
                raise UnreadListError(reason, seconds=self._seconds) from None
        else:
            answer = answered(head, body)
        first, *lines = answer.split(b"\n")
        found: dict[str, Any] = json.loads(first)
        if "reason" in found:
            raise UnreadListError(**found)
        return Answer(**found, lines=lines)

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        if self.process is None and not self._closed:
            self.process = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-c", RUN, str(self._seconds)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=child_environment(),
                start_new_session=True,  # Ctrl-C is for the crawl
            )
        process = self.process
        if process is None or self._closed:  # which may have found no process
            raise EOFError("the crawl is over")
        assert process.stdin is not None
        assert process.stdout is not None
        return process.stdin, process.stdout

    def _end(self) -> int | None:
        process, self.process = self.process, None
        if process is None:
            return None
        process.kill()
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):  # what was not written yet cannot be
                if stream is not None:
                    stream.close()
        return process.wait()


def answered(head: bytes, body: bytes) -> bytes:
    """The contents of the list with this *head* and *body*, as `Answer` reads them."""
    started = process_time()
    kind, url, content_type, site, (sites, hosts), since = json.loads(head)
    about = About(kind, url, content_type, site, Scope(frozenset(sites), frozenset(hosts)), since)
    try:
        contents = read(about, body)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - the crawl logs it
        is_large = isinstance(error, TooLargeError)
        failure = {
            "reason": TOO_LARGE if is_large else ERROR,
            "details": str(error) if is_large else format_exc(),
            "seconds": process_time() - started,
        }
        return json.dumps(failure).encode()
    rows = [(each.url, each.minute, *each.moments) for each in contents.articles]
    first = {
        "lists": {kind: [each.url for each in named] for kind, named in contents.lists.items()},
        "off_site": contents.off_site,
        "seconds": process_time() - started,
    }
    chunks = (rows[start : start + CHUNK] for start in range(0, len(rows), CHUNK))
    return "\n".join(map(json.dumps, (first, *chunks))).encode()


def main(seconds: float) -> None:
    """Answer requests from standard input until it ends."""
    from scrapy_mss.crawl.worker import limit_memory

    lists, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not be taken for an answer
    limit_memory(MOST_MEMORY)
    read(FIRST, FIRST_BODY)
    with suppress(EOFError, BrokenPipeError):  # the crawl is over
        while True:
            head = receive(lists)
            body = receive(lists)
            signal.setitimer(signal.ITIMER_PROF, seconds)
            try:
                answer = answered(head, body)
            except MemoryError:
                os._exit(OUT_OF_MEMORY)
            signal.setitimer(signal.ITIMER_PROF, 0)
            send(answers, answer)
