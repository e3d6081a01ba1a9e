"""What memory is worth on the five made-up sites of the demo, which have pages of every kind.

    python -m research.studies.demo_sites --out research/results

Each site is read in five random orders, no wrapper is used. A page without an article that is read
as one is *extra*; it counts from the thirty-first page of its site on, F1 is of all articles, 0 for
one that was not found.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple

from research import command_line
from research.bench import metrics
from scrapy_mss.blocks.page import Page
from scrapy_mss.extractor import Extraction, Extractor
from scrapy_mss.models.files import write_atomically
from scrapy_mss.sites.context import SiteContext
from scrapy_mss.sites.memory import SiteMemory

if TYPE_CHECKING:
    from demo_web import RenderedPage

PROGRAM: Final = "python -m research.studies.demo_sites"
EXAMPLE_PROJECT: Final = Path(__file__).resolve().parents[2] / "example_project"
N_ORDERS: Final = 5
AFTER: Final = 30  # pages of the site, before extra pages count
MINUTE: Final = 29_000_000  # of all pages: nothing decays


class Outcome(NamedTuple):
    """What came of a page without memory and with it."""

    is_article: bool
    seen: int
    without: float | bool  # F1 of an article; of another page, whether it was read as one
    memory: float | bool


def outcome(found: Extraction, page: RenderedPage) -> float | bool:
    """F1 of an article; of another page, whether it is read as one."""
    if not page.expected:
        return found.is_article
    text = found.text if found.is_article else ""
    return metrics.bag(metrics.words(text), metrics.words(page.expected)).f1


def crawl(pages: Sequence[RenderedPage], extractor: Extractor) -> Iterator[Outcome]:
    """Read the *pages* of a site, each with the memory of those before it."""
    memory = SiteMemory()
    for seen, page in enumerate(pages):
        visit = SiteContext(memory, MINUTE, page.url)
        found = extractor.extract_page(Page.of(page.html), visit)
        memory = memory.plus(visit.update.added)
        today = outcome(extractor.extract_page(Page.of(page.html)), page)
        yield Outcome(bool(page.expected), seen, today, outcome(found, page))


def row(name: str, outcomes: Sequence[Outcome]) -> str:
    """A row of the table."""
    articles = [each for each in outcomes if each.is_article]
    others = [each for each in outcomes if not each.is_article and each.seen >= AFTER]
    emitted = sum(each.is_article and each.seen >= AFTER for each in outcomes)
    extra = [sum(each.without for each in others), sum(each.memory for each in others)]
    cells = (
        f"{fmean(each.without for each in articles):.3f}",
        f"{fmean(each.memory for each in articles):.3f}",
        *(f"{count / (count + emitted):.1%}" for count in extra),
    )
    return f"| {name} | {' | '.join(cells)} |"


def table() -> str:
    """A Markdown table, a row a site."""
    sys.path.append(str(EXAMPLE_PROJECT))
    import demo_web

    extractor = Extractor()
    lines = [
        "| site | F1 without | F1 with | extra without | extra with |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    every: list[Outcome] = []
    for name in demo_web.SITES:
        pages = list(demo_web.pages(name))
        orders = (Random(n).sample(pages, len(pages)) for n in range(N_ORDERS))  # noqa: S311
        found = [each for order in orders for each in crawl(order, extractor)]
        lines.append(row(name, found))
        every += found
    return "\n".join([*lines, row("all", every)]) + "\n"


def run(options: argparse.Namespace, _command: str) -> None:
    """Run the study and write its table."""
    found = table()
    print(found)
    write_atomically(options.out / "demo_sites.md", found.encode())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line *arguments*; returns the exit code."""
    parser = command_line.Parser(prog=PROGRAM, description="Memory on the demo's made-up sites.")
    command_line.add_out(parser)
    parser.set_defaults(perform=run)
    return command_line.run(parser, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
