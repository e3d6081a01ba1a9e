"""`python -m research.bench unseen`: how good on sets never seen, against what a page costs.

The scores are those that `loso` has written, of all pages; the costs are measured here, on some
pages of every set. Each system is asked about a page in turn, in one process, lxml's parse of the
same bytes just before each of them: so whatever slows the machine down slows all of them down.
Times are of the processor.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import mean, median
from time import process_time
from typing import Any, Final, NamedTuple

import numpy as np

from research import systems
from research.bench import measurement, plots, report
from research.bench.left_out_tables import ASIDE, OURS
from research.bench.markdown import table
from research.bench.timing import parse_milliseconds
from research.command_line import Advance, at_least, progress
from research.datasets.pages import LabelledPage
from research.datasets.sets import evenly, load
from research.errors import UserError
from research.systems import titled
from research.systems.base import TextExtractor

PAGES: Final = 50  # of each set
CROSS_VALIDATED: Final = f"{OURS}, cross-validated"
TITLE: Final = "F1 on sets never seen, and time of a page"

Row = dict[str, Any]  # a page: its set, and its F1 by each system


class Cost(NamedTuple):
    """What pages cost a system, in multiples of lxml's parse."""

    median: float
    p95: float


def add_parser(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
) -> argparse.ArgumentParser:
    """Add the command to those of the bench."""
    unseen = commands.add_parser("unseen", help="F1 on sets never seen, against the cost of a page")
    add = unseen.add_argument
    add("--data", type=Path, required=True, metavar="DIR", help="the folder of the labelled sets")
    add("--scores", type=Path, required=True, metavar="FILE", help="what `loso --json` has written")
    add(
        "--limit",
        type=at_least(1),
        default=PAGES,
        metavar="N",
        help=f"pages of every set whose cost is measured (default: {PAGES})",
    )
    add("--markdown", type=Path, metavar="FILE", help="write the table here")
    add("--svg", type=Path, metavar="FILE", help="write the plot here")
    return unseen


def run(options: argparse.Namespace, _command: str) -> None:
    """Measure what *options* ask for, and show it."""
    for path in filter(None, (options.markdown, options.svg)):
        report.writable(path)
    rows = read_rows(options.scores)
    scores = mean_scores(rows)
    pages = [
        page
        for name in dict.fromkeys(row["set"] for row in rows)
        if name not in ASIDE
        for page in evenly(load(f"jsonl:{options.data / name}.jsonl.xz").pages, options.limit)
    ]
    asked = {spec: measurement.prepare(spec, systems.create, (), None) for spec in scores}
    with progress(len(pages)) as advance:
        costs = costs_of(asked, pages, advance)
    shown = table(["system", "F1", "× lxml's parse", "95th percentile"], _rows(scores, costs))  # noqa: RUF001
    print(shown)
    if options.markdown:
        report.write(options.markdown, shown + "\n")
    if options.svg:
        options.svg.write_bytes(plots.draw_dots(TITLE, _dots(scores, costs)))


def mean_scores(rows: Iterable[Row]) -> dict[str, float]:
    """The mean F1 of each system over the sets, as the table of `loso` has it, the best first."""
    of_set: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["set"] not in ASIDE:
            for system, f1 in row["f1"].items():
                of_set[system][row["set"]].append(f1)
    means = {
        system: mean(map(mean, found.values()))
        for system, found in of_set.items()
        if system != CROSS_VALIDATED
    }
    return dict(sorted(means.items(), key=lambda each: -each[1]))


def read_rows(path: Path) -> list[Row]:
    """The score of each page by each system."""
    try:
        rows: list[Row] = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read: {error}; `loso --json` writes it") from error
    return rows


def costs_of(
    asked: dict[str, TextExtractor], pages: Sequence[LabelledPage], advance: Advance
) -> dict[str, Cost]:
    """What each of the systems takes for *pages*, asked in turn about each of them."""
    multiples: dict[str, list[float]] = {spec: [] for spec in asked}
    for system in asked.values():  # tables that are built at the first call are not a page's time
        _milliseconds(system, pages[0].html)
    for page in pages:
        for spec, system in asked.items():
            unit = parse_milliseconds(page.source, process_time)
            taken = _milliseconds(system, page.html)
            if unit:
                multiples[spec].append(taken / unit)
        advance(1, page.site)
    return {
        spec: Cost(median(found), float(np.percentile(found, 95)))
        for spec, found in multiples.items()
    }


def _milliseconds(system: TextExtractor, html: str) -> float:
    start = process_time()
    with suppress(Exception):  # a page that a system fails on costs what it took until then
        system.extract(html)
    return (process_time() - start) * 1000


def _rows(scores: dict[str, float], costs: dict[str, Cost]) -> Iterable[list[str]]:
    for spec, f1 in scores.items():
        yield [titled(spec), f"{f1:.3f}", f"{costs[spec].median:.1f}", f"{costs[spec].p95:.1f}"]


def _dots(scores: dict[str, float], costs: dict[str, Cost]) -> list[plots.Dot]:
    return [
        plots.Dot(spec, costs[spec].median, f1, "scrapy-mss" if spec == OURS else "other libraries")
        for spec, f1 in scores.items()
    ]
