"""Whether the block classifier gains by what is drawn: place, width, font, colour, visibility.

    python -m research.studies.drawn_features --data FOLDER --out research/results

Pages of each set that the bundled model is made from are read by a model of the other sets
(`research.bench loso`), once as it is and once with the columns of `DRAWN` among the inputs of its
network. Both learn from the same pages, with the same seeds. The pages are a sample, drawn by
`research.rendering`; a stripped copy of a page, which the training makes, is not drawn.

A block is found in the drawing by its words: those of page and drawing are aligned, and the block
is where the text is that has most of its words.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from unittest.mock import patch

import numpy as np

from research import command_line
from research.bench.left_out_tables import Pages
from research.bench.loso import fitted, left_out, pages_of, read
from research.bench.markdown import table
from research.bench.resampling import interval
from research.command_line import Advance, at_least, progress
from research.errors import require
from research.rendering.browser import WIDTH
from research.rendering.drawing import ROOT, TEXT, Drawing
from research.rendering.drawings import FOLDER, opened
from research.rendering.layout import Layout, layout
from research.training import fit
from research.training.cases import Case
from scrapy_mss.blocks import classifier
from scrapy_mss.blocks.classifier import BlockInputs
from scrapy_mss.blocks.features import Columns, places_of
from scrapy_mss.blocks.page import Page
from scrapy_mss.markup.tokenizer import word_ids
from scrapy_mss.markup.tokens import Bools, Floats, Indices
from scrapy_mss.models.files import write_atomically

LIMIT: Final = 120
N_FITS: Final = 1
BOLD: Final = 600
DRAWN: Final = (
    *("drawn", "visible", "drawn_left", "drawn_width", "drawn_middle", "drawn_top"),
    *("font_size", "font_size_to_main", "bold", "main_background", "main_color", "main_left"),
    *("placed", "page_laid_out"),
)


def parser() -> argparse.ArgumentParser:
    """Build the parser of the command line."""
    top = command_line.Parser(prog="python -m research.studies.drawn_features", description=__doc__)
    command_line.add_data(top)
    command_line.add_out(top)
    add = top.add_argument
    add("--limit", type=at_least(1), default=LIMIT, metavar="N", help=f"pages (default: {LIMIT})")
    add("--fits", type=at_least(1), default=N_FITS, metavar="N", help=f"default: {N_FITS}")
    add("--drawings", type=Path, default=FOLDER, metavar="DIR", help=f"default: {FOLDER}")
    top.set_defaults(perform=run)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line *arguments*; returns the exit code."""
    return command_line.run(parser(), arguments)


def run(options: argparse.Namespace, _command: str) -> None:
    """Fit and read with the drawn columns and without, and write the table."""
    cases = read(options.data, limit=options.limit)
    with progress(len(cases) * (1 + 2 * options.fits)) as advance:
        laid_out, drawn = _drawn(cases, options.drawings, advance)
        plain = fitted(cases, left_out(cases), options.fits, advance).mean(axis=0)
        with with_columns(drawn):
            more = fitted(cases, left_out(cases), options.fits, advance).mean(axis=0)
    text = _table(cases, laid_out, plain, more)
    print(text, end="")
    write_atomically(options.out / "drawn_features.md", text.encode())


def _drawn(
    cases: Sequence[Case], folder: Path, advance: Advance
) -> tuple[Bools, dict[int, Floats]]:
    """Which pages are laid out by style, and the columns of those that are drawn, by their page."""
    laid_out = np.zeros(len(cases), np.bool_)
    columns = {}
    with opened(folder) as drawings:
        for number, case in enumerate(cases):
            drawing = drawings.of(case.labelled.html)
            if isinstance(drawing, Drawing):
                laid_out[number] = layout(drawing) is Layout.STYLE
                columns[id(case.page)] = drawn_columns(case.page, drawing)
            advance(1, "drawing")
    return laid_out, columns


@contextmanager
def with_columns(drawn: dict[int, Floats]) -> Iterator[None]:
    """The network with the *drawn* columns of each page besides; of others they are 0."""
    whole = classifier.block_inputs

    def extended(page: Page, evidence: Floats, score: Floats) -> BlockInputs:
        inputs = whole(page, evidence, score)
        more = drawn.get(id(page), np.zeros((len(DRAWN), len(score))))
        places = places_of((*inputs.columns, *DRAWN))
        return BlockInputs(inputs.score, Columns(places, np.vstack((inputs.columns.rows, more))))

    with (
        patch.object(classifier, "block_inputs", extended),
        patch.object(fit, "block_inputs", extended),
    ):
        yield


def drawn_columns(page: Page, drawing: Drawing) -> Floats:
    """float64[n_columns, n_blocks]: what is drawn of each block; 0 of one that is not."""
    node, share = blocks_in(page, drawing)
    box = np.array(drawing.box, np.float64).reshape(len(drawing), 4)
    around = boxes_around(drawing)
    left, width = box[around, 0] / WIDTH, box[around, 2] / WIDTH
    size, visible = np.array(drawing.font_size), np.array(drawing.visible, np.float64)
    bottom = max(1.0, float((box[:, 1] + box[:, 3]).max(initial=0.0)))
    words = np.array([len(text.split()) for text in drawing.text]) * visible
    main = {
        name: _most(np.array(column), words)
        for name, column in {
            "size": drawing.font_size,
            "background": drawing.background,
            "color": drawing.color,
            "left": np.round(left, 2),
        }.items()
    }
    placed = _placed(drawing)
    of_page = float(layout(drawing) is Layout.STYLE)
    of_nodes = (
        *(visible, left, width, left + width / 2, box[:, 1] / bottom),
        *(size / 16.0, np.log((size + 1.0) / (float(main["size"]) + 1.0))),
        np.greater_equal(drawing.font_weight, BOLD),
        np.equal(drawing.background, main["background"]),
        np.equal(drawing.color, main["color"]),
        np.equal(np.round(left, 2), main["left"]),
        *(placed, np.full(len(drawing), of_page)),
    )
    found = np.array([share, *(np.asarray(column, np.float64)[node] for column in of_nodes)])
    return np.where(node >= 0, found, 0.0)


def blocks_in(page: Page, drawing: Drawing) -> tuple[Indices, Floats]:
    """For each block the text of the drawing with most of its words (-1: none), and their share."""
    lcs = require("rapidfuzz.distance", "finding blocks in a drawing").LCSseq
    texts = [number for number, tag in enumerate(drawing.tag) if tag == TEXT]
    ids = [word_ids(drawing.text[number]) for number in texts]
    of_word = np.repeat(texts, [len(each) for each in ids]).astype(np.intp)
    at = np.flatnonzero(page.tokens.is_word & (page.blocks.of_token >= 0))
    n_blocks, n_nodes = len(page.blocks), max(1, len(drawing))
    known = page.tokens.token_id[at].tolist()
    pairs = [
        page.blocks.of_token[at[run.src_start : run.src_end]].astype(np.int64) * n_nodes
        + of_word[run.dest_start : run.dest_end]
        for run in lcs.opcodes(known, [each for text in ids for each in text])
        if run.tag == "equal"
    ]
    pair, count = np.unique(np.concatenate([np.empty(0, np.int64), *pairs]), return_counts=True)
    order = np.argsort(count, kind="stable")  # so that the last of a block has most
    node = np.full(n_blocks, -1, np.intp)
    node[pair[order] // n_nodes] = pair[order] % n_nodes
    matched = np.bincount(pair // n_nodes, count, minlength=n_blocks)
    return node, matched / np.maximum(page.blocks.words, 1)


def boxes_around(drawing: Drawing) -> Indices:
    """intp[n_nodes]: the nearest element around each node, or itself, that is not inline."""
    found = np.zeros(len(drawing), np.intp)
    for number, parent in enumerate(drawing.parent):
        inside = drawing.inline[number] and parent != ROOT
        found[number] = found[parent] if inside else number
    return found


def _placed(drawing: Drawing) -> Bools:
    """bool[n_nodes]: those in something that is floated, positioned, or in a flex box or grid."""
    found = np.zeros(len(drawing), np.bool_)
    for number, parent in enumerate(drawing.parent):
        above = parent != ROOT and found[parent]
        found[number] = above or drawing.placed[number] == "style"
    return found


def _most(values: np.ndarray[tuple[int], np.dtype[np.generic]], weights: Floats) -> np.generic:
    """The value with most of the *weights*."""
    different, place = np.unique(values, return_inverse=True)
    return different[np.argmax(np.bincount(place, weights))]  # type: ignore[no-any-return]


def _table(cases: Sequence[Case], laid_out: Bools, plain: Floats, more: Floats) -> str:
    head = ["pages", "number", "as it is", "with what is drawn", "difference"]
    names = [case.dataset for case in cases]
    rows = [
        _row(name, cases, np.equal(names, name), (plain, more)) for name in dict.fromkeys(names)
    ]
    rows.append(_row("all", cases, np.ones(len(cases), np.bool_), (plain, more)))
    rows.append(_row("all laid out by style", cases, laid_out, (plain, more)))
    return table(head, rows) + "\n"


def _row(name: str, cases: Sequence[Case], chosen: Bools, f1: tuple[Floats, Floats]) -> list[str]:
    """Mean F1 of the *chosen* pages by both, and the difference with its interval over sites."""
    some = [case for case, each in zip(cases, chosen, strict=True) if each]
    pages = Pages(["" for _ in some], pages_of(some).sites)
    sample = pages.of_sets((f1[1] - f1[0])[chosen])[-1]
    found = interval(sample.resampled)
    bounds = f" [{found[0]:+.4f}, {found[1]:+.4f}]" if found else ""
    means = (f"{each[chosen].mean():.4f}" for each in f1)
    return [name, str(len(some)), *means, f"{sample.mean:+.4f}{bounds}"]


if __name__ == "__main__":
    raise SystemExit(main())
