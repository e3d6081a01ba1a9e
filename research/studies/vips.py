"""What VIPS finds at each granularity, on pages that are laid out and on others, and what it costs.

    python -m research.studies.vips --data FOLDER --out research/results

The pages are those that `python -m research.rendering` draws with the same options; what it has
drawn is not drawn again. F1 is that of word bags against the short gold, as in the bench; the block
with the best one is an oracle's choice.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from statistics import fmean, median
from time import perf_counter
from typing import Final, TypeVar

from research import command_line
from research.bench import metrics
from research.bench.markdown import table
from research.bench.timing import parse_milliseconds
from research.command_line import Advance, at_least, progress
from research.datasets.pages import LabelledPage
from research.datasets.sets import evenly, load
from research.rendering.browser import Browser
from research.rendering.drawing import Drawing
from research.rendering.drawings import FOLDER, SETS, Drawings, opened
from research.rendering.layout import Layout, layout
from research.systems.vips.choice import best_block, highest_block, words
from research.systems.vips.nodes import Nodes
from research.systems.vips.segmentation import segment
from research.systems.vips.system import GRANULARITIES, GRANULARITY, PENALTY
from scrapy_mss.extractor import Extractor
from scrapy_mss.models.files import write_atomically

Given = TypeVar("Given")
Value = TypeVar("Value")
LIMIT: Final = 120
NONE: Final = ""
BY_GRANULARITY: Final = """\
Mean F1 of the best block, that of the block with the most words less {penalty:g} times its tags, \
and the mean number of blocks. The last row has the best granularity of each page."""
BY_LAYOUT: Final = """\
The same at granularity {granularity}, by what has laid the page out; a mean of few pages says \
little."""
COSTS: Final = """\
Milliseconds a page, medians of {timed} pages of each set, one step after the other in one \
process: drawing it, segmenting the drawing at granularity {granularity} and choosing by points, \
and for comparison reading the page with the bundled model, and parsing it with lxml."""
TIMED: Final = 15  # pages of each set


@dataclass(frozen=True, slots=True)
class Found:
    """What a page's tree at one granularity has: the F1 of both choices, and its size."""

    perfect: float
    simple: float
    blocks: int


@dataclass(frozen=True, slots=True)
class Measured:
    """A page that was drawn."""

    dataset: str
    layout: Layout
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
    sets = {
        name: evenly(load(f"jsonl:{options.data / name}.jsonl.xz").pages, options.limit)
        for name in options.sets.split(",")
    }
    with opened(options.drawings) as drawings, progress(sum(map(len, sets.values()))) as advance:
        found = [
            each
            for name, pages in sets.items()
            for each in measured(name, pages, drawings, advance)
        ]
    costly = {name: list(costs(evenly(pages, TIMED))) for name, pages in sets.items()}
    text = "\n\n".join(tables(found, costly)) + "\n"
    print(text, end="")
    write_atomically(options.out / "vips.md", text.encode())


def measured(
    name: str, pages: Sequence[LabelledPage], drawings: Drawings, advance: Advance
) -> Iterator[Measured]:
    """Each of the *pages* of a set that can be drawn, segmented at all granularities."""
    for page in pages:
        drawing = drawings.of(page.html)
        if isinstance(drawing, Drawing):
            by_granularity = {each: find(drawing, page, each) for each in GRANULARITIES}
            yield Measured(name, layout(drawing), by_granularity)
        advance(1, name)


def find(drawing: Drawing, page: LabelledPage, granularity: int) -> Found:
    """Segment a drawing, and choose by an oracle and by points."""
    nodes = Nodes.of(drawing)
    root = segment(nodes, granularity)
    simple = nodes.text(highest_block(nodes, root, PENALTY).nodes)
    block, _ = best_block(nodes, root, words(page.golds[0]))
    perfect = nodes.text(block.nodes)
    return Found(_f1(perfect, page), _f1(simple, page), len(root.all()))


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds that a page takes."""

    drawing: float
    segmenting: float
    bundled_model: float
    lxml: float


def costs(pages: Sequence[LabelledPage]) -> Iterator[Cost]:
    """What each page costs that can be drawn; each is drawn anew."""
    with closing(Browser()) as browser:
        browser.draw("")  # which starts it
        extractor = Extractor()
        for page in pages:
            drawing_ms, drawing = _timed(browser.draw, page.html)
            if isinstance(drawing, Drawing):
                segmenting_ms, _ = _timed(_chosen, drawing)
                model_ms, _ = _timed(extractor.extract, page.html)
                lxml_ms = parse_milliseconds(page.source) or 0.0
                yield Cost(drawing_ms, segmenting_ms, model_ms, lxml_ms)


def _chosen(drawing: Drawing) -> str:
    nodes = Nodes.of(drawing)
    return nodes.text(highest_block(nodes, segment(nodes, GRANULARITY), PENALTY).nodes)


def _timed(do: Callable[[Given], Value], given: Given) -> tuple[float, Value]:
    start = perf_counter()
    value = do(given)
    return (perf_counter() - start) * 1000, value


def _f1(text: str, page: LabelledPage) -> float:
    return metrics.bag(metrics.words(text), metrics.words(page.golds[0])).f1


def tables(pages: Sequence[Measured], costly: Mapping[str, Sequence[Cost]]) -> Iterator[str]:
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
    yield COSTS.format(timed=TIMED, granularity=GRANULARITY)
    head = ["set", *(each.name.replace("_", " ") for each in fields(Cost))]
    yield table(head, [_costs(name, found) for name, found in costly.items()])


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


def _costs(name: str, found: Sequence[Cost]) -> list[str]:
    columns = zip(*map(astuple, found), strict=True)
    return [name, *(f"{median(column):.0f}" for column in columns)]


if __name__ == "__main__":
    raise SystemExit(main())
