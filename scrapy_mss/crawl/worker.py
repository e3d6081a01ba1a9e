"""One worker process: receives pages from the crawl, and sends answers.

The worker exits when the input ends, because the crawl has ended or was killed, and after a page
that takes too much memory, because nothing in the process is reliable then.
"""

from __future__ import annotations

import logging
import os
import resource
import signal
import sys
from contextlib import suppress
from dataclasses import replace
from functools import cache
from logging.handlers import BufferingHandler
from typing import BinaryIO, NamedTuple

from scrapy_mss.article import ReadOptions
from scrapy_mss.blocks.classifier import BlockClassifier
from scrapy_mss.core.naive_bayes import Observation
from scrapy_mss.crawl.page_work import PageWork
from scrapy_mss.crawl.processes import OUT_OF_MEMORY, limit_memory, parent, receive, send, unpacked
from scrapy_mss.crawl.wire import PageRequest, follow
from scrapy_mss.metadata.languages import detector
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import PROFILES
from scrapy_mss.wrappers import Wrapper, css

# The first page of a process pays for imports that later ones do not, out of its own time limit.
# The model of py3langid, half a second and 77 MB, waits for a page that needs it, as few do where
# common words confirm what is declared; but not if a page has hardly the time.
HARDLY_TIME = 5.0  # seconds: ten times what it takes to load
WARM_UP_URL = "https://news.example.com/2026/a"
WARM_UP = """<html lang=en><title>A - News</title><meta property="article:author" content="Ann Lee">
<script type="application/ld+json">{"@type": "NewsArticle", "datePublished": "2026-01-02"}</script>
<h1>A</h1><article><p>By Ann Lee, 2 January 2026</p><p>One two three. <a href=x>Four</a></p>"""
WARM_UP_WRAPPER = Wrapper(site="news.example.com", body=(css("article"),))

# Bytes that a worker may allocate. Idle, it has 85 MB, or 160 with py3langid's model; a page of
# 5,000,000 characters (`MSS_MAX_BODY`) may take 130 bytes for each, lxml's tree included.
MEMORY = 2**30
# The crawl ends a worker whose page takes too long. Where the crawl was killed, nobody does; then
# SIGALRM ends the process, this number of seconds later.
LEFT_ALONE = 2.0
# Of what its limit leaves to pages, what a worker may keep of one; malloc does not return it all.
KEPT = 0.5


class Limits(NamedTuple):
    """What a page may take."""

    seconds: float
    memory: int  # bytes
    at_rest: int = 0  # bytes of them that the process has before its first page

    def needs_restart(self) -> bool:
        """Whether this process keeps so much memory that a new one should take its place."""
        kept = resident() - self.at_rest
        return kept > KEPT * (self.memory - self.at_rest)


def resident() -> int:
    """The bytes of this process that are in memory; 0 where the system does not say."""
    try:
        pages = os.pread(_statm(), 2**8, 0).split()[1]
    except OSError:
        return 0
    return int(pages) * resource.getpagesize()


@cache
def _statm() -> int:
    """The file that says it, which stays open: to open it takes ten times as long as to read it."""
    return os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)


def main(seconds: str, kinds: str, *fields: str) -> None:
    """Take a model and its counts, then answer pages until there are no more."""
    with suppress(EOFError, ConnectionError):  # the crawl has ended, or was killed
        pages, answers = parent()
        profile, classifier, counts, changes = receive(
            pages, tuple[str, BlockClassifier | None, Observation | None, list[bytes]]
        )
        model = Model(PROFILES[profile], classifier)
        if counts is not None:
            model.bayes.add(counts)
        follow(model, changes)
        work = PageWork(model, ReadOptions(fields, tuple(kinds.split(","))))
        _warm_up(work, float(seconds))
        _serve(work, pages, answers, Limits(float(seconds), MEMORY, resident()))


def _warm_up(work: PageWork, seconds: float) -> None:
    if seconds < HARDLY_TIME:
        detector()
    for wrapper in (None, WARM_UP_WRAPPER):
        work.answer(PageRequest(WARM_UP, WARM_UP_URL, wrapper, example=True))


def _serve(work: PageWork, pages: BinaryIO, answers: BinaryIO, limits: Limits) -> None:
    """Say that this process is ready, and answer *pages* within *limits*."""
    send(answers, None)
    limit_memory(limits.memory)
    try:
        _answer_pages(work, pages, answers, limits)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)


def _answer_pages(work: PageWork, pages: BinaryIO, answers: BinaryIO, limits: Limits) -> None:
    logged = BufferingHandler(sys.maxsize)
    ours = logging.getLogger("scrapy_mss")
    ours.addHandler(logged)
    ours.setLevel(logging.DEBUG)  # the crawl, which logs them, has its own
    ours.propagate = False
    while True:
        changes, data = receive(pages, tuple[list[bytes], bytes])
        page = unpacked(data, PageRequest)
        follow(work.model, changes)
        signal.setitimer(signal.ITIMER_REAL, limits.seconds + LEFT_ALONE)
        answer = work.answer(page)
        records = tuple((each.levelno, logged.format(each)) for each in logged.buffer)
        logged.flush()
        send(answers, replace(answer, logged=records, needs_restart=limits.needs_restart()))
        signal.setitimer(signal.ITIMER_REAL, 0)
