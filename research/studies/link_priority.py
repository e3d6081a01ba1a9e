"""What addresses tell of pages before they are downloaded.

    python -m research.studies.link_priority --data FOLDER --out research/results

Without a memory: how well addresses alone tell the articles of stored sets from pages that are
none, as the area under the ROC curve. In a crawl: the five made-up sites of the demo are crawled
from their front pages, one page after the other, and what counts are the articles among the first
half of the pages. Requests go out as in Scrapy: those with the highest priority, and of these the
latest; one that waits keeps the priority that it got when its link was found. The table of signs
knows the words in the addresses of these sites. They are therefore crawled in cipher, too, with
other letters in all addresses.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urljoin

import numpy as np
from parsel import Selector

from research import command_line
from research.datasets.sets import load
from research.studies.demo_sites import EXAMPLE_PROJECT, MINUTE
from scrapy_mss.extractor import Extractor
from scrapy_mss.models.files import write_atomically
from scrapy_mss.sites.address_counts import AddressCounts, guess

if TYPE_CHECKING:
    from demo_web import RenderedPage

PROGRAM: Final = "python -m research.studies.link_priority"
ARTICLES: Final = (
    "articles_wcxb",
    "articles_fundus",
    "articles_rules",
    "articles_l3s",
    "sites_ctf",
)
OTHERS: Final = "other_pages_wcxb"
LEVELS: Final = 10  # MSS_LINK_PRIORITY
CIPHER: Final = str.maketrans("abcdefghijklmnopqrstuvwxyz", "nopqrstuvwxyzabcdefghijklm")


class Order(NamedTuple):
    """What requests are ordered by."""

    name: str
    by_address: bool = True
    remembers: bool = False
    in_cipher: bool = False
    again: bool = False  # with the memory of a crawl before


ORDERS: Final = (
    Order("without", by_address=False),
    Order("address alone"),
    Order("the same, in cipher", in_cipher=True),
    Order("and what this crawl learns, in cipher", remembers=True, in_cipher=True),
    Order("and what an earlier crawl has, in cipher", in_cipher=True, again=True),
)


@dataclass(frozen=True, slots=True)
class CrawledPage:
    """A page as a crawl meets it."""

    url: str
    is_article: bool
    probability: float  # by the extractor
    links: tuple[str, ...]


def crawled(page: RenderedPage, extractor: Extractor) -> CrawledPage:
    """Read a made-up *page*."""
    hrefs = Selector(page.html).css("a::attr(href)").getall()
    links = dict.fromkeys(urljoin(page.url, href).partition("#")[0] for href in hrefs)
    probability = extractor.extract(page.html).probability
    return CrawledPage(page.url, bool(page.expected), probability, tuple(links))


def crawl(pages: Mapping[str, CrawledPage], start: str, order: Order) -> Iterator[CrawledPage]:
    """The *pages* of a site in the order in which they are crawled from *start*."""
    known, numbers = AddressCounts(), count()
    if order.again:
        known = reduce(AddressCounts.plus, (_seen(page, order) for page in pages.values()))
    waiting, met = {start: (0, 0)}, {start}
    while waiting:
        url = max(waiting, key=lambda each: waiting[each])
        del waiting[url]
        page = pages[url]
        yield page
        for link in page.links:
            if link in pages and link not in met:
                met.add(link)
                waiting[link] = (_priority(link, known, order), next(numbers))
        if order.remembers:
            known = known.plus(_seen(page, order))


def _seen(page: CrawledPage, order: Order) -> AddressCounts:
    """What reading the *page* tells of addresses."""
    return AddressCounts.of(_named(page.url, order), page.probability, MINUTE)


def _priority(link: str, known: AddressCounts, order: Order) -> int:
    if not order.by_address:
        return 0
    return round(guess(_named(link, order), known).probability * LEVELS)


def _named(url: str, order: Order) -> str:
    """The address *url* in the letters of the *order*."""
    return url.translate(CIPHER) if order.in_cipher else url


def in_first_half(pages: Iterable[CrawledPage]) -> float:
    """The share of the articles that is among the first half of the *pages*."""
    are_articles = [page.is_article for page in pages]
    return sum(are_articles[: len(are_articles) // 2]) / sum(are_articles)


def area(positive: Sequence[float], negative: Sequence[float]) -> float:
    """The area under the ROC curve: how often a positive is above a negative, ties by half."""
    ours, theirs = np.array(positive)[:, None], np.array(negative)[None, :]
    return float(np.mean((ours > theirs) + 0.5 * (ours == theirs)))


def areas(folder: Path) -> str:
    """A Markdown table, a row a set of articles."""
    lines = ["| articles of | addresses | area under the curve |", "| --- | ---: | ---: |"]
    others = _guesses(folder, OTHERS)
    for name in ARTICLES:
        found = _guesses(folder, name)
        lines.append(f"| {name} | {len(found)} and {len(others)} | {area(found, others):.3f} |")
    return "\n".join(lines) + "\n"


def _guesses(folder: Path, name: str) -> list[float]:
    pages = load(f"jsonl:{folder / name}.jsonl.xz").pages
    return [guess(page.url, AddressCounts()).probability for page in pages if page.url]


def first_halves() -> str:
    """A Markdown table, a row a made-up site."""
    sys.path.append(str(EXAMPLE_PROJECT))
    import demo_web

    extractor = Extractor()
    lines = [
        f"| site | {' | '.join(order.name for order in ORDERS)} |",
        f"| --- |{' ---: |' * len(ORDERS)}",
    ]
    shares: list[list[float]] = []
    for name, site in demo_web.SITES.items():
        pages = {page.url: crawled(page, extractor) for page in demo_web.pages(name)}
        begin = partial(crawl, pages, f"http://{site.host}/")
        shares.append([in_first_half(begin(order)) for order in ORDERS])
        lines.append(f"| {name} | {_percentages(shares[-1])} |")
    lines.append(f"| all | {_percentages(np.mean(shares, axis=0))} |")
    return "\n".join(lines) + "\n"


def _percentages(shares: Iterable[float]) -> str:
    return " | ".join(f"{share:.0%}" for share in shares)


def run(options: argparse.Namespace, _command: str) -> None:
    """Run the study and write its tables."""
    of_sets = areas(options.data)
    found = f"{first_halves()}\n{of_sets}"
    print(found)
    write_atomically(options.out / "link_priority.md", found.encode())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line *arguments*; returns the exit code."""
    return command_line.run_study(PROGRAM, "What addresses tell of pages.", run, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
