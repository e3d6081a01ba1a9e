"""`python -m research.bench compare`: finished runs as tables of systems by sets, and a plot.

Strategy: a file that `run --json` wrote gives cells, one for a system on a set. A pair that two
files hold is an error, since nothing says which of them to believe. Systems are rows, best first
on the first set; sets are columns, in the order of the files. What the papers printed for their
own systems stands in a table of its own: other pages, and not always the same measure.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from research.bench import plots, report
from research.bench.markdown import NONE, table
from research.command_line import add_out
from research.errors import UserError
from research.systems import SYSTEMS, titled
from research.systems.external import PEERS

NAME: Final = "systems"
ONE_DIGIT: Final = 10  # times below it are shown with one digit behind the point, others with none
DATA: Final = "DATA"  # what stands in the commands for the folder of the labelled pages


@dataclass(frozen=True, slots=True)
class Cell:
    """One system on one set; *low* and *high* bound the F1, *poor* is the share under .80."""

    set: str
    system: str
    failures: int
    f1: float
    low: float | None
    high: float | None
    poor: float
    times_lxml: float | None


@dataclass(frozen=True, slots=True)
class Made:
    """How the cells of one file were made."""

    command: str
    date: str
    versions: str
    sets: tuple[str, ...]


Shown = Callable[[Cell], str]


class Printed(NamedTuple):
    """What a paper says of a system, or of what it calls so."""

    system: str
    score: str
    measured: str
    paper: str


F1_EXPLAINED: Final = """\
Word-bag F1 against the short gold, mean over pages, and how far its 95 % interval reaches to the \
farther side. Best first on {first}."""
POOR_EXPLAINED: Final = """\
The share of pages whose F1 is under .80, in per cent, and on how many pages a system failed where \
it did."""
SPEED_EXPLAINED: Final = """\
The time of a page as a multiple of what `lxml.html.document_fromstring` takes for the same bytes, \
median over pages."""
PRINTED_EXPLAINED: Final = """\
Measured by others on other pages, with measures of their own: orders compare, numbers hardly."""

MSS: Final = "Pasternack and Roth, 2009"
CETR: Final = "Weninger, Hsu and Han, 2010"
PSO: Final = "Ziegler and Skubacz, 2007"
NEWS: Final = "word F1, short extractions, 45 news sites"
PRINTED: Final = (
    Printed("longest-block", ".619", NEWS, MSS),
    Printed("simple-mss", ".909", NEWS, MSS),
    Printed("mss-paper", ".949", NEWS, MSS),
    Printed("mss-paper-hr", ".962", NEWS, MSS),
    Printed("mss-selftrained", ".976", "the same, five of the sites", MSS),
    Printed("mss-cleaneval", ".920", "word-bag F1, CleanEval's evaluation pages", MSS),
    Printed("cetr", ".866 to .989", "word F1, lowest and highest of its news sites", CETR),
    Printed("vips-perfect:granularity=8", ".941", NEWS, MSS),
    Printed("vips-simple", ".897", "the same, the best of its settings", MSS),
    Printed("pso", ".857", "cosine, less for unequal lengths; 30 % of 610 news pages", PSO),
    Printed("pso-pruned", ".601", "the same", PSO),
    Printed("all-text", ".424", "the same", PSO),
)


def add_parser(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
) -> argparse.ArgumentParser:
    """Add the command to those of the bench."""
    compare = commands.add_parser("compare", help="tables and a plot of several finished runs")
    compare.add_argument(
        "--json", type=Path, nargs="+", required=True, metavar="FILE", help="what runs wrote"
    )
    add_out(compare)
    return compare


def run(options: argparse.Namespace, _command: str) -> None:
    """Write the tables and the plot of the files that *options* name."""
    cells: dict[tuple[str, str], Cell] = {}
    made = []
    for path in options.json:
        found, how = read(path)
        made.append(how)
        for cell in found:
            if (cell.set, cell.system) in cells:
                raise UserError(f"{path}: {cell.system} on {cell.set} is in an earlier file, too")
            cells[cell.set, cell.system] = cell
    text = render(list(cells.values()), made)
    report.write(options.out / f"{NAME}.svg", drawn(list(cells.values())).decode())
    report.write(options.out / f"{NAME}.md", text)
    print(text, end="")


def read(path: Path) -> tuple[list[Cell], Made]:
    """The cells in the file *path* and how they were made."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise UserError(f"{path} is no JSON: {error}") from error
    if not isinstance(document, dict) or document.get("format") != report.FORMAT:
        raise UserError(f"{path}: expected what `run --json` writes, of format {report.FORMAT}")
    return [_cell(result) for result in document["results"]], _made(document)


def _cell(result: dict[str, Any]) -> Cell:
    f1 = result["metrics"]["f1"]
    return Cell(
        _short(result["set"]),
        result["system"],
        result["failures"],
        f1["value"],
        f1["low"],
        f1["high"],
        result["metrics"]["poor"]["value"],
        result["speed"]["times_lxml"],
    )


def _made(document: dict[str, Any]) -> Made:
    command = document["command"]
    for info in (*document["test_sets"], *document["train_sets"]):
        folder = Path(info["spec"].partition(":")[2]).parent
        command = command.replace(f":{folder}/", f":{DATA}/")
    versions = ", ".join(f"{name} {each}" for name, each in document["versions"].items() if each)
    sets = (f"{_short(s['name'])}: {_size(s)}" for s in document["test_sets"])
    return Made(command, document["date"], versions, tuple(sets))


def _short(name: str) -> str:
    """The name of a set without its kind."""
    return name.partition(":")[2] or name


def _size(info: dict[str, Any]) -> str:
    counts = f"{info['pages']} pages of {info['sites']} sites"
    return f"{counts}, sha256 `{info['sha256'][:16]}`"


def render(cells: Sequence[Cell], made: Sequence[Made]) -> str:
    """All tables, as a part of a page."""
    grid = _Grid(cells)
    sections = (
        "## F1",
        F1_EXPLAINED.format(first=grid.sets[0]),
        grid.table(_f1),
        "## Pages that are wrong",
        POOR_EXPLAINED,
        grid.table(_poor),
        "## Speed",
        SPEED_EXPLAINED,
        grid.table(_times),
        "## What the papers printed",
        PRINTED_EXPLAINED,
        _printed(grid),
        "## How this was made",
        *_making(made),
    )
    return "\n\n".join(sections) + "\n"


class _Grid:
    """Cells by system and set."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self.sets = list(dict.fromkeys(cell.set for cell in cells))
        self.cells = {(cell.set, cell.system): cell for cell in cells}
        first = {cell.system: cell.f1 for cell in cells if cell.set == self.sets[0]}
        names = dict.fromkeys(cell.system for cell in cells)
        self.systems = sorted(names, key=lambda name: -first.get(name, -1.0))

    def table(self, shown: Shown) -> str:
        """One row a system, one column a set."""
        rows = [[titled(name), *self.row(name, shown)] for name in self.systems]
        return table(["system", *self.sets], rows)

    def row(self, system: str, shown: Shown) -> Iterable[str]:
        """What is shown of *system* on each set."""
        found = (self.cells.get((name, system)) for name in self.sets)
        return (NONE if cell is None else shown(cell) for cell in found)


def _f1(cell: Cell) -> str:
    if cell.low is None or cell.high is None:
        return _points(cell.f1)
    farther = max(cell.f1 - cell.low, cell.high - cell.f1)
    return f"{_points(cell.f1)} ± {_points(farther)}"


def _points(value: float) -> str:
    """Three digits, as in .937."""
    return f"{value:.3f}".removeprefix("0")


def _poor(cell: Cell) -> str:
    failed = f" ({cell.failures} failed)" if cell.failures else ""
    return f"{100 * cell.poor:.0f}{failed}"


def _times(cell: Cell) -> str:
    if cell.times_lxml is None:
        return NONE
    return f"{cell.times_lxml:.{int(round(cell.times_lxml, 1) < ONE_DIGIT)}f}"


def _printed(grid: _Grid) -> str:
    """What the papers printed, beside what was measured on the first set."""
    rows = []
    for each in PRINTED:
        here = grid.cells.get((grid.sets[0], each.system))
        shown = _points(here.f1) if here else NONE
        rows.append([titled(each.system), each.score, each.measured, each.paper, shown])
    return table(["system", "printed", "what", "paper", f"{grid.sets[0]} here"], rows)


def _making(made: Sequence[Made]) -> Iterable[str]:
    sets = dict.fromkeys(line for each in made for line in each.sets)
    yield "\n".join(f"- {line}" for line in sets)
    yield "```sh\n" + "\n".join(each.command for each in made) + "\n```"
    dates = sorted(each.date for each in made)
    span = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    yield f"{span}; {'; '.join(dict.fromkeys(each.versions for each in made))}."


def _kind(spec: str) -> str:
    """Whose system *spec* is."""
    name = spec.partition(":")[0]
    if name in PEERS:
        return "other libraries"
    known = SYSTEMS.get(name)
    return "reconstructions" if known and known.reconstruction else "by their papers"


def drawn(cells: Sequence[Cell]) -> bytes:
    """F1 by speed on the first set, as an SVG file."""
    first = cells[0].set
    dots = [
        plots.Dot(cell.system, cell.times_lxml, cell.f1, _kind(cell.system))
        for cell in cells
        if cell.set == first and cell.times_lxml is not None
    ]
    return plots.draw_dots(f"F1 and speed on {first}", dots)
