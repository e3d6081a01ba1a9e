"""`python -m research.studies`: a study's points as a table and a plot.

The two files of a study hold the same points. Rows of the table are settings, columns curves.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Final

from research import command_line
from research.errors import UserError
from research.studies.plots import draw
from research.studies.questions import STUDIES, Point, Study
from scrapy_mss.models.files import write_atomically

PROGRAM: Final = "python -m research.studies"


def parser() -> argparse.ArgumentParser:
    """Build the parser of the command line."""
    top = command_line.Parser(
        prog=PROGRAM, description="What changes with a parameter: a table and a plot."
    )
    top.add_argument("names", nargs="+", metavar="NAME", help=f"of {', '.join(STUDIES)}; or all")
    command_line.add_data(top)
    command_line.add_out(top)
    top.set_defaults(perform=run)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line *arguments*; returns the exit code."""
    return command_line.run(parser(), arguments)


def run(options: argparse.Namespace, _command: str) -> None:
    """Make each study that *options* name."""
    names = list(STUDIES) if options.names == ["all"] else options.names
    for name in names:
        if name not in STUDIES:
            raise UserError(f"study {name!r} is unknown; known are: {', '.join(STUDIES)}")
    for name in names:
        study = STUDIES[name]
        points = list(study.points(options.data))
        print(f"{study.title}\n\n{table(study, points)}")
        write_atomically(options.out / f"{name}.svg", draw(study, points))
        write_atomically(options.out / f"{name}.md", table(study, points).encode())


def table(study: Study, points: Sequence[Point]) -> str:
    """The points as a Markdown table."""
    curves = list(dict.fromkeys(point.curve for point in points))
    found = {(point.x, point.curve): point.y for point in points}
    lines = [
        f"| {' | '.join((study.x, *curves))} |",
        f"| {' | '.join(['---:'] * (1 + len(curves)))} |",
    ]
    for x in dict.fromkeys(point.x for point in points):
        cells = (f"{found[x, c]:.3f}" if (x, c) in found else "" for c in curves)
        lines.append(f"| {x:g} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
