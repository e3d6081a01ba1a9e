"""`python -m research.rendering`: draw pages of labelled sets, and say what became of them.

The drawings stay in a folder (`drawings.Drawings`), so that a second call draws what is missing.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Final

from research import command_line
from research.command_line import at_least, progress
from research.datasets.sets import evenly, load
from research.rendering.drawing import Drawing, Failure
from research.rendering.drawings import FOLDER, SETS, opened
from research.rendering.layout import Layout, layout

HEAD: Final = (
    *("set", "pages", "drawn", "with styles", *(each.value for each in Layout), "nodes"),
    *("ms, median", "ms, mean"),
)


def parser() -> argparse.ArgumentParser:
    """Build the parser of the command line."""
    top = command_line.Parser(prog="python -m research.rendering", description="Draw pages.")
    command_line.add_data(top)
    add = top.add_argument
    add("--sets", default=SETS, metavar="A,B", help=f"names of sets (default: {SETS})")
    add("--limit", type=at_least(1), metavar="N", help="N pages of each set, evenly spaced")
    add("--drawings", type=Path, default=FOLDER, metavar="DIR", help=f"default: {FOLDER}")
    top.set_defaults(perform=run)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line *arguments*; returns the exit code."""
    return command_line.run(parser(), arguments)


def run(options: argparse.Namespace, _command: str) -> None:
    """Draw the pages that *options* name, and print a row for each set."""
    sets = {name: _pages(options, name) for name in options.sets.split(",")}
    print(_row(HEAD), _row(["---", *["---:"] * (len(HEAD) - 1)]), sep="\n", flush=True)
    reasons: Counter[str] = Counter()
    with opened(options.drawings) as drawings, progress(sum(map(len, sets.values()))) as advance:
        for name, pages in sets.items():
            outcomes = []
            for page in pages:
                outcomes.append(drawings.of(page))
                advance(1, name)
            reasons.update(each.reason for each in outcomes if isinstance(each, Failure))
            print(_row(_figures(name, outcomes)), flush=True)
    for reason, count in reasons.most_common():
        print(f"\n{count} not drawn: {reason}")


def _pages(options: argparse.Namespace, name: str) -> list[str]:
    pages = load(f"jsonl:{options.data / name}.jsonl.xz").pages
    return [page.html for page in evenly(pages, options.limit)]


def _figures(name: str, outcomes: Sequence[Drawing | Failure]) -> list[str]:
    """A row of the table."""
    drawn = [each for each in outcomes if isinstance(each, Drawing)]
    layouts = Counter(map(layout, drawn))
    times = [each.milliseconds for each in drawn] or [0.0]
    return [
        name,
        *(str(count) for count in (len(outcomes), len(drawn), sum(d.styles > 0 for d in drawn))),
        *(str(layouts[each]) for each in Layout),
        f"{median(map(len, drawn)) if drawn else 0:.0f}",
        f"{median(times):.0f}",
        f"{fmean(times):.0f}",
    ]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    raise SystemExit(main())
