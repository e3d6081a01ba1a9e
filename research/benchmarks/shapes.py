"""Bounded work for any page: what each shape of page costs, as a table; exit code 1 beyond a bound.

Each operation on each shape runs in a child of its own, forked from one warm process, so that all
begin with the same caches. Processor time is a multiple of that of an ordinary page of the same
size. Memory is what the peak of the child grew by, less what lxml's tree of the same page and any
call take, in bytes for each byte of page. A new shape is one row of `SHAPES`.
"""

from __future__ import annotations

import argparse
import gc
import resource
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from time import process_time

from lxml import etree

from research.benchmarks.hostile import HOSTILE
from research.benchmarks.synthetic import page
from scrapy_mss import Extractor, metadata
from scrapy_mss.wrappers.labeller import label
from scrapy_mss.wrappers.rules import Wrapper
from scrapy_mss.wrappers.selectors import class_or_id, css

MAX_COST = 3.0  # times an ordinary page's processor time
MAX_MEMORY = 60.0  # bytes a byte of page, above lxml's tree
SIZES = (100_000, 1_000_000, 5_000_000)
FIXED = 2_000  # bytes of an ordinary page whose memory is what any call takes
TRIES = 3  # a busy machine may spoil some: the least cost counts
URL = "https://news.example/2024/03/05/story"
KILOBYTE = 1024  # of ru_maxrss on Linux

Make = Callable[[int], str]  # a page of about so many bytes
Operation = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Cost:
    """What one operation on one page took: seconds and bytes."""

    seconds: float
    memory: int
    size: int  # of the page in UTF-8

    @property
    def per_byte(self) -> float:
        return self.seconds / self.size


def repeated(part: str, head: str = "") -> Make:
    """*part* again and again after *head*."""
    return lambda size: head + part * (size // len(part))


def nested(opening: str, closing: str, inside: str = "x") -> Make:
    """Elements that contain one another."""
    pair = len(opening) + len(closing)
    return lambda size: opening * (size // pair) + inside + closing * (size // pair)


def layered(opening: str, n: int, part: str) -> Make:
    """*n* elements in one another, and *part* again and again in the innermost."""
    return lambda size: HEADING + opening * n + part * (size // len(part))


def numbered(form: str) -> Make:
    """*form* again and again, each time with another number."""
    return lambda size: "".join(form % n for n in range(size // (len(form) + 4)))


def crowded(form: str, per_tag: int) -> Make:
    """Tags with *per_tag* attributes."""
    tag = "<p " + "".join(form % n for n in range(per_tag)) + ">one two</p>"
    return lambda size: tag * max(1, size // len(tag)) if len(tag) < size else tag[:size] + ">"


HEADING = "<title>Rain falls in May</title><h1>Rain falls in May</h1>"
SHAPES: dict[str, Make] = {
    **HOSTILE,
    "paragraphs of a letter": repeated("<p>a"),
    "items of two letters": repeated("<li>a b"),
    "cells of a number": repeated("<tr><td>1</td><td>22</td></tr>", "<table>"),
    "links of a letter": numbered('<a href="%d">x</a>'),
    "nested <a>": repeated("<a>x"),
    "nested <b>": nested("<b>", "</b>"),
    "nested <div>": nested("<div>", "</div>"),
    "nested <div>, each with a text": repeated("<div><div><b>x</b>"),
    "nested class=author": nested("<div class=author>", "</div>", "Ann Lee"),
    "empty elements": repeated("<i></i>", HEADING),
    "empty items": repeated("<li></li>", HEADING),
    "comments": repeated("<!---->", HEADING),
    "white space and paragraphs": repeated("<p> ", HEADING),
    "nested itemprop=author": layered("<div itemprop='author name datePublished'>", 500, "<i></i>"),
    "nested itemscope": layered("<div itemscope itemprop=author>", 500, "<b itemprop=name>a</b>"),
    "nested <time>": layered("<time>", 160, "<i></i>"),
    "nested <time class=posted>": layered("<time class=posted>", 160, "5 May <b>2</b>"),
    "nested <h1>": layered("<h1>", 20, "<i></i>"),
    "nested rel=author": layered("<div rel=author><a rel=author>", 100, "<i></i>"),
    "nested byline": layered("<div class=byline>", 200, "<i></i>"),
    "properties": repeated("<b itemprop=author></b>", HEADING),
    "times": repeated("<time class=posted>5 May 2024</time>", HEADING),
    "short lines": repeated("<p class=author>By x", HEADING),
    "metas": repeated("<meta name=author content='Ann Lee'>", HEADING),
    "author links": repeated("<a rel=author>x</a>", HEADING),
    "dates": repeated("<p>5 May 2024</p>", HEADING),
    "attributes of one tag": crowded("a%d ", 10**6),
    "quoted attributes of one tag": crowded("a%d='>' ", 10**6),
    "attributes of many tags": crowded("a%d ", 1000),
    "words, each another": numbered("%x "),
}

WRAPPER = Wrapper(
    site="news.example",
    body=(css("article"), css("p"), css("a"), css("b"), css("div")),
    exclude=(class_or_id("teaser"), css("aside"), css("i")),
    title=(css("h1"),),
    authors=(css(".author"),),
    published=(css("time"),),
)


def _parsed(html: str) -> object:
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True)
    return etree.fromstring(html.encode("utf-8", "replace"), parser)


def _operations() -> dict[str, Operation]:
    """What is measured, after each ran once."""
    operations: dict[str, Operation] = {
        "extract": Extractor.load().extract,
        "metadata": lambda html: metadata.read_html(html, URL),
        "label": partial(label, WRAPPER),
    }
    for perform in operations.values():
        perform(page(50_000))
    return operations


OPERATIONS: dict[str, Operation] = {}  # made once, before the first fork


def _run(perform: Operation, make: Make, size: int) -> Cost:
    html = make(size)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = process_time()
    kept = perform(html)  # what it returns is part of what it takes
    seconds = process_time() - began
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    del kept
    size = len(html.encode("utf-8", "replace"))
    return Cost(seconds, (after - before) * KILOBYTE, size)


def cost(perform: Operation, make: Make, size: int) -> Cost:
    """What *perform* takes for the page that *make* makes, in a child of its own."""
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=lambda: sender.send(_run(perform, make, size)))
    child.start()
    sender.close()
    found: Cost = receiver.recv()
    child.join()
    return found


def ratio(make: Make, name: str, size: int, ordinary: Cost) -> tuple[float, float]:
    """The cost as a multiple of that of an ordinary page; bytes a byte above lxml's tree."""
    best = (float("inf"), float("inf"))
    for _ in range(TRIES):
        found = cost(OPERATIONS[name], make, size)
        least = cost(OPERATIONS[name], page, FIXED).memory + cost(_parsed, make, size).memory
        best = (
            min(best[0], found.per_byte / ordinary.per_byte),
            min(best[1], max(0, found.memory - least) / found.size),
        )
        if best[0] <= MAX_COST and best[1] <= MAX_MEMORY:
            break
    return best


def report(shapes: Iterable[str], sizes: Iterable[int]) -> bool:
    """Print the table; return whether all bounds hold."""
    columns = [(name, size) for name in OPERATIONS for size in sizes]
    print(f"{'x ordinary CPU | B/B above tree':32}", *(f"{n} {s // 1000}K" for n, s in columns))
    ordinary = {(n, s): cost(OPERATIONS[n], page, s) for n, s in columns}
    broken = 0
    for shape in shapes:
        cells = []
        for column in columns:
            times, memory = ratio(SHAPES[shape], *column, ordinary[column])
            is_broken = times > MAX_COST or memory > MAX_MEMORY
            broken += is_broken
            cells.append(f"{times:5.2f}|{memory:3.0f}{'!' if is_broken else ' '}")
        print(f"{shape:32}", *cells, flush=True)
    print(f"{broken} of the costs beyond {MAX_COST:g} x or {MAX_MEMORY:g} bytes a byte")
    return not broken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="bytes of the pages")
    parser.add_argument("--only", default="", help="shapes whose name contains this")
    options = parser.parse_args()
    OPERATIONS.update(_operations())
    shapes = [name for name in SHAPES if options.only in name]
    return 0 if report(shapes, options.sizes) else 1


if __name__ == "__main__":
    sys.exit(main())
