"""What VIPS finds at each granularity, on pages that are laid out and on others, and what it costs.

    python -m research.studies.vips --data FOLDER --out docs/results

The pages are those that `python -m research.rendering` draws with the same options; what it has
drawn is not drawn again. F1 is that of word bags against the short gold, as in the bench; the block
with the best one is an oracle's choice.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from time import perf_counter
from typing import Final

from research import command_line
from research.bench import metrics
from research.bench.markdown import table
from research.command_line import Advance, at_least, progress
from research.datasets.pages import LabelledPage
from research.datasets.sets import evenly, load
from research.rendering.drawing import Drawing
from research.rendering.drawings import FOLDER, SETS, Drawings, opened
from research.rendering.layout import Layout, layout
from research.systems.vips.choice import best_block, highest_block, words
from research.systems.vips.nodes import Nodes
from research.systems.vips.segmentation import segment
from research.systems.vips.system import GRANULARITIES, GRANULARITY, PENALTY
from scrapy_mss.models.store import write_atomically

LIMIT: Final = 120
NONE: Final = ""
BY_GRANULARITY: Final = """\
Mean F1 of the best block, that of the block with the most words less {penalty:g} times its tags, \
and the mean number of blocks. The last row has the best granularity of each page."""
BY_LAYOUT: Final = """\
The same at granularity {granularity}, by what has laid the page out; a mean of few pages says \
little."""
COSTS: Final = """\
Milliseconds a page, medians: drawing it, and at granularity {granularity} segmenting the drawing \
and choosing by points. A drawing that is kept is read in the third column's time."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a page's tree at one granularity has: the F1 of both choices, its size, its time."""

    perfect: float
    simple: float
    blocks: int
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Measured:
    """A page that was drawn."""

    dataset: str
    layout: Layout
    drawing_ms: float
    reading_ms: float
    by_granularity: dict[int, Found]

    @property
    def best(self) -> float:
        return max(found.perfect for found in self.by_granularity.values())


def parser() -> argparse.ArgumentParser:
    """Build the parser of the command line."""
    top = command_line.Parser(prog="python -m research.studies.vips", description=__doc__)
    command_line.add_data(top)
    command_line.add_out(top)
    add = top.add_argument
    add("--sets", default=SETS, metavar="A,B", help=f"names of sets (default: {SETS})")
    add("--limit", type=at_least(1), default=LIMIT, metavar="N", help=f"pages (default: {LIMIT})")
    add("--drawings", type=Path, default=FOLDER, metavar="DIR", help=f"default: {FOLDER}")
    top.set_defaults(perform=run)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line *arguments*; returns the exit code."""
    return command_line.run(parser(), arguments)


def run(options: argparse.Namespace, _command: str) -> None:
    """Measure the sets that *options* name, and write the tables."""
    pages = [
        (name, page)
        for name in options.sets.split(",")
        for page in evenly(load(f"jsonl:{options.data / name}.jsonl.xz").pages, options.limit)
    ]
    with opened(options.drawings) as drawings, progress(len(pages)) as advance:
        found = list(measured(pages, drawings, advance))
    text = "\n\n".join(tables(found)) + "\n"
    print(text, end="")
    write_atomically(options.out / "vips.md", text.encode())


def measured(
    pages: Sequence[tuple[str, LabelledPage]], drawings: Drawings, advance: Advance
) -> Iterator[Measured]:
    """Each page that can be drawn, segmented at all granularities."""
    for name, page in pages:
        drawings.of(page.html)
        start = perf_counter()
        drawing = drawings.of(page.html)
        reading_ms = _since(start)
        if isinstance(drawing, Drawing):
            by_granularity = {each: find(drawing, page, each) for each in GRANULARITIES}
            kind = layout(drawing)
            yield Measured(name, kind, drawing.milliseconds, reading_ms, by_granularity)
        advance(1, name)


def find(drawing: Drawing, page: LabelledPage, granularity: int) -> Found:
    """Segment a drawing, and choose by an oracle and by points."""
    start = perf_counter()
    nodes = Nodes.of(drawing)
    root = segment(nodes, granularity)
    simple = nodes.text(highest_block(nodes, root, PENALTY).nodes)
    taken = _since(start)
    block, _ = best_block(nodes, root, words(page.golds[0]))
    perfect = nodes.text(block.nodes)
    return Found(_f1(perfect, page), _f1(simple, page), len(root.all()), taken)


def _since(start: float) -> float:
    return (perf_counter() - start) * 1000


def _f1(text: str, page: LabelledPage) -> float:
    return metrics.bag(metrics.words(text), metrics.words(page.golds[0])).f1


def tables(pages: Sequence[Measured]) -> Iterator[str]:
    """The three tables, with what they say."""
    sets = list(dict.fromkeys(page.dataset for page in pages))
    of = {name: [page for page in pages if page.dataset == name] for name in sets}
    yield BY_GRANULARITY.format(penalty=PENALTY)
    parts = ("best", "by points", "blocks")
    head = ["granularity", *(f"{name}: {part}" for name in sets for part in parts)]
    rows = [[str(g), *(c for n in sets for c in _cells(of[n], g))] for g in GRANULARITIES]
    last = (cell for name in sets for cell in (_mean(of[name], lambda p: p.best), NONE, NONE))
    yield table(head, [*rows, ["each page's", *last]])
    yield BY_LAYOUT.format(granularity=GRANULARITY)
    head = ["set", "laid out", "pages", "best", "by points"]
    yield table(head, [_laid_out(n, kind, of[n]) for n in sets for kind in Layout])
    yield COSTS.format(granularity=GRANULARITY)
    yield table(["set", "drawing", "reading", "segmenting"], [_costs(n, of[n]) for n in sets])


def _cells(pages: Sequence[Measured], granularity: int) -> list[str]:
    found = [page.by_granularity[granularity] for page in pages]
    return [
        f"{fmean(each.perfect for each in found):.3f}",
        f"{fmean(each.simple for each in found):.3f}",
        f"{fmean(each.blocks for each in found):.0f}",
    ]


def _mean(pages: Sequence[Measured], value: Callable[[Measured], float]) -> str:
    return f"{fmean(map(value, pages)):.3f}" if pages else NONE


def _laid_out(name: str, kind: Layout, pages: Sequence[Measured]) -> list[str]:
    of_kind = [page for page in pages if page.layout is kind]
    perfect = _mean(of_kind, lambda page: page.by_granularity[GRANULARITY].perfect)
    simple = _mean(of_kind, lambda page: page.by_granularity[GRANULARITY].simple)
    return [name, kind.value, str(len(of_kind)), perfect, simple]


def _costs(name: str, pages: Sequence[Measured]) -> list[str]:
    columns = (
        [page.drawing_ms for page in pages],
        [page.reading_ms for page in pages],
        [page.by_granularity[GRANULARITY].milliseconds for page in pages],
    )
    return [name, *(f"{median(column):.0f}" for column in columns)]


if __name__ == "__main__":
    raise SystemExit(main())
