"""What reading one page costs in a fresh process, beside an ordinary page of the same size.

Fresh, since caches of words make the second reading of a page cheaper than the first, which is the
one that a crawl pays for. The ordinary page is the made-up one of `synthetic`, behind what a news
page states about itself.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from lxml import etree

from research.benchmarks.children import forked
from research.benchmarks.mutations import URL
from research.benchmarks.page_properties import Reader
from research.benchmarks.synthetic import page

STATED = """<title>Rain falls in May</title><link rel=canonical href="/2024/03/05/story">
<meta property="og:title" content="Rain falls in May"><meta property="og:type" content="article">
<meta property="og:image" content="/rain.jpg"><meta name="description" content="It rained.">
<meta property="article:published_time" content="2024-03-05T10:00:00+01:00">
<script type="application/ld+json">{"@context": "https://schema.org", "@type": "NewsArticle",
"headline": "Rain falls in May", "datePublished": "2024-03-05T10:00:00+01:00", "author":
[{"@type": "Person", "name": "Ann Lee"}], "publisher": {"name": "The News"},
"image": ["https://news.example/rain.jpg"], "description": "It rained."}</script>
<h1>Rain falls in May</h1><p class="byline">By <a rel="author" href="/ann">Ann Lee</a>,
<time datetime="2024-03-05">5 March 2024</time></p>"""
Result = TypeVar("Result")
# Shorter pages are compared with an ordinary one of this length, the shortest of `shapes`: some
# budgets that bound the work are a page's, whatever its length, and the first page that a process
# reads brings tables of a fixed size into memory: 2 MB for the words of the compiled part alone.
SHORTEST = 100_000
SIZES = (SHORTEST, 360_000)  # of ordinary pages; costs are linear in between
ORDINARY_TRIES = 5
TRIES = 4  # a busy machine may spoil some: the least cost counts
KILOBYTE = 1024  # as Linux counts
STATUS = Path("/proc/self/status")
PEAK, RESET = Path("/proc/self/clear_refs"), "5"  # how Linux forgets a process's peak of memory


@dataclass(frozen=True, slots=True)
class PageCost:
    """Processor time in seconds, and bytes by which the process grew at its peak."""

    seconds: float
    memory: int


def size_of(html: str) -> int:
    """Bytes of a page in UTF-8."""
    return len(html.encode("utf-8", "surrogatepass"))


class PageCosts:
    """Measures pages against ordinary ones."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        pages = [STATED + page(size) for size in SIZES]
        costs = [[self.measured(html) for _ in range(ORDINARY_TRIES)] for html in pages]
        self._sizes = [size_of(html) for html in pages]
        self._ordinary = [min(cost.seconds for cost in tries) for tries in costs]
        self._any_page = min(self.measured(STATED).memory for _ in range(ORDINARY_TRIES))
        self._any_tree = min(self._tree(STATED) for _ in range(ORDINARY_TRIES))

    def measured(self, html: str) -> PageCost:
        """The cost of one page, in a child of its own."""
        return next(forked(partial(self._cost, html)))

    def ordinary(self, size: int) -> float:
        """Seconds that an ordinary page of so many bytes takes."""
        return float(np.interp(size, self._sizes, self._ordinary))

    def relative(self, html: str, enough: float) -> tuple[float, float]:
        """How many times as long as an ordinary page it takes, and its bytes a byte of page.

        The time is the least of some tries, until one is *enough*. The bytes are those beyond
        lxml's tree of the page and what any page takes.
        """
        size = size_of(html)
        first = self.measured(html)
        least = first.seconds
        for _ in range(TRIES - 1):
            if least <= enough * self.ordinary(size):
                break
            least = min(least, self.measured(html).seconds)
        extra = first.memory - self._any_page - (self._tree(html) - self._any_tree)
        return least / self.ordinary(size), max(0, extra) / max(size, SHORTEST)

    def _cost(self, html: str) -> Iterator[PageCost]:
        reading, memory = growth(partial(self._reader.read, html, URL))
        yield PageCost(sum(reading.seconds.values()), memory)

    def _tree(self, html: str) -> int:
        """Bytes that lxml's tree of the page takes."""
        return next(forked(lambda: iter([growth(partial(_parsed, html))[1]])))


def growth(perform: Callable[[], Result]) -> tuple[Result, int]:
    """A result, and the bytes by which making and keeping it makes this process's peak grow.

    It is made by a thread, which has a heap of its own: in that of this process there is room that
    was freed before, whose pages would be taken one after the other, and none given back.
    """
    gc.collect()  # what was freed before would hide what is taken now: it would be taken again
    ctypes.CDLL(None).malloc_trim(0)
    with ThreadPoolExecutor(1) as thread:
        thread.submit(int).result()
        PEAK.write_text(RESET)
        before = _peak()
        result = thread.submit(perform).result()
        return result, (_peak() - before) * KILOBYTE


def _peak() -> int:
    """The most memory that this process had since the reset, in kilobytes, without that of files.

    A fork begins without the code that its parent has in memory, and a page that needs much of it
    takes no more for that. What `getrusage` says may be of before, where a thread has ended.
    """
    status = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
    peak, of_files = (int(status[name].split()[0]) for name in ("VmHWM", "RssFile"))
    return peak - of_files


def _parsed(html: str) -> object:
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True)
    return etree.fromstring(html.encode("utf-8", "replace"), parser)
