"""Mutated pages through all that reads them, as one table; exit code 1 if anything is wrong.

The source pages are those of `tests/pages`, or real ones with --data. A page on which anything is
wrong is written to `build/fuzz`, and the command that reads it alone is printed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from research.benchmarks.children import forked
from research.benchmarks.fuzz_campaign import (
    BOUNDS,
    DIFFERENCE,
    MEMORY,
    ROWS,
    Campaign,
    PageResult,
    is_read_twice,
)
from research.command_line import Parser, at_least, progress
from research.datasets.sets import load
from research.errors import UserError
from scrapy_mss.markup.compiled import python_alone

CASES = Path(__file__).resolve().parents[2] / "tests" / "pages"
FAILURES = Path("build") / "fuzz"
# Sets of many languages, makes and kinds of page; more of them would only take longer to load.
SETS = ("articles_fundus", "articles_tools", "articles_world", "other_pages_wcxb")
LONGEST_SOURCE = 500_000  # characters of a source page that are used
BATCH = 100  # pages that one child reads
MAX_SHOWN = 300  # characters of a fault that are printed


@dataclass(slots=True)
class Tally:
    """A row of the table: how many pages were tried, on how many it is wrong, the worst value."""

    tried: int = 0
    wrong: int = 0
    worst: float = 0.0


def source_pages(data: Path | None) -> list[str]:
    """The pages that are mutated: always the same, in the same order."""
    if data is None:
        return [path.read_text(encoding="utf-8") for path in sorted(CASES.glob("*/source.html"))]
    sets = (load(f"jsonl:{data / name}.jsonl.xz").pages for name in SETS)
    return [page.html[:LONGEST_SOURCE] for pages in sets for page in pages]


def checked_by_all(campaign: Campaign, numbers: range, jobs: int) -> Iterator[PageResult]:
    """What is found on the pages with these *numbers*, by so many processes."""
    batches = [numbers[start : start + BATCH] for start in range(0, len(numbers), BATCH)]
    streams = [forked(partial(_checked, campaign, batches[job::jobs])) for job in range(jobs)]
    while streams:
        for stream in tuple(streams):
            results = next(stream, None)
            if results is None:
                streams.remove(stream)
            else:
                yield from results


def _checked(campaign: Campaign, batches: Sequence[range]) -> Iterator[list[PageResult]]:
    return map(campaign.checked, batches)


def count(result: PageResult, tallies: dict[str, Tally]) -> None:
    """Add what came of a page to the rows that it was tried for."""
    for row, tally in tallies.items():
        sampled = {DIFFERENCE: is_read_twice(result.number), MEMORY: MEMORY in result.costs}
        tally.tried += sampled.get(row, True)
        tally.wrong += row in result.faults
        tally.worst = max(tally.worst, result.costs.get(row, 0.0))


def tell(campaign: Campaign, result: PageResult, command: str) -> None:
    """Write a page on which anything is wrong to a file, and print what is, and how to see it."""
    page = campaign.page(result.number)
    path = FAILURES / f"{campaign.seed}-{result.number}.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page.html, encoding="utf-8", errors="surrogatepass")
    for row, fault in result.faults.items():
        shown = ascii(fault[-MAX_SHOWN:])[1:-1]
        print(f"page {result.number} ({', '.join(page.mutators)}): {row}: {shown}")
    print(f"    {path}; again: {command} --page {result.number}", flush=True)


def table(tallies: dict[str, Tally]) -> Iterator[str]:
    yield f"{'what may be wrong':32} {'pages':>8} {'wrong':>6} {'worst':>6} {'bound':>6}"
    for row, tally in tallies.items():
        bound = f"{tally.worst:6.1f} {BOUNDS[row]:6g}" if row in BOUNDS else ""
        yield f"{row:32} {tally.tried:8,} {tally.wrong:6} {bound}".rstrip()


def tried(campaign: Campaign, options: argparse.Namespace, command: str) -> dict[str, Tally]:
    """Read all pages, or one, and tell of each that anything is wrong on."""
    tallies = {row: Tally() for row in ROWS}
    if options.page is not None:
        total, results = 1, campaign.checked_alone(options.page)
    else:
        numbers = range(options.first, options.first + options.pages)
        total, results = options.pages, checked_by_all(campaign, numbers, options.jobs)
    with progress(total) as advance:
        for result in results:
            advance(1, "")
            count(result, tallies)
            if result.faults:
                tell(campaign, result, command)
    return tallies


def parser() -> Parser:
    made = Parser(description=(__doc__ or "").partition("\n")[0])
    made.add_argument("--pages", type=at_least(1), default=1_000, help="1,000 unless given")
    made.add_argument("--first", type=at_least(0), default=0, help="go on at this page; 0")
    made.add_argument("--seed", type=at_least(0), default=1, help="of all pages; 1 unless given")
    made.add_argument("--data", type=Path, help="folder of labelled sets, whose pages are used")
    made.add_argument("--page", type=at_least(0), help="the number of one page to read alone")
    made.add_argument("--python-alone", action="store_true", help="without the compiled part")
    made.add_argument("--jobs", type=at_least(1), default=os.cpu_count() or 1, help="processes")
    return made


def command_of(options: argparse.Namespace) -> str:
    """What reads a page of the same campaign, but for its number."""
    data = f" --data {options.data}" if options.data else ""
    alone = " --python-alone" if options.python_alone else ""
    return f"python -m research.benchmarks.fuzz --seed {options.seed}{data}{alone}"


def main() -> int:
    options = parser().parse_args()
    with python_alone() if options.python_alone else nullcontext():
        try:
            campaign = Campaign(source_pages(options.data), options.seed)
        except UserError as error:
            parser().error(str(error))
        tallies = tried(campaign, options, command_of(options))
    print("\n".join(table(tallies)))
    return 1 if any(tally.wrong for tally in tallies.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
