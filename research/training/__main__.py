"""Make a model with a block classifier from labelled pages: `make model`.

Without options it is the bundled model, made from the sets whose licence allows it (NOTICE), and
from those alone. The same pages and options give the same bytes: nothing here depends on time or
on the order of threads, given the same numpy on the same kind of processor.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from research import command_line
from research.datasets.languages import language_of
from research.datasets.pages import LabelledPage
from research.datasets.sets import load
from research.errors import UserError
from research.training.cases import case_of, lessons
from research.training.fit import fit
from research.training.optimization import Config
from research.training.sets import ARTICLES, OTHERS
from scrapy_mss.models.files import FILE, write_atomically
from scrapy_mss.models.format import to_bytes
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT

BUNDLED = Path(__file__).parents[2] / "scrapy_mss" / FILE


def parser() -> argparse.ArgumentParser:
    """Build the parser of the command line."""
    top = command_line.Parser(
        prog="python -m research.training", description="Make a model from labelled pages."
    )
    add = top.add_argument
    add("data", type=Path, metavar="DATA", help="the folder of the labelled sets")
    add("--out", type=Path, default=BUNDLED, metavar="FILE", help="default: the bundled model")
    add(
        "--articles",
        type=lambda names: names.split(","),
        default=ARTICLES,
        metavar="A,B",
        help=f"the sets of articles to learn from (default: {','.join(ARTICLES)})",
    )
    add(
        "--without-language",
        metavar="CODE",
        help="leave out the pages in a language, such as zh, to measure what learning it gives",
    )
    add(
        "--seed",
        type=command_line.at_least(0),
        default=Config().seed,
        metavar="N",
        help=f"of the network's start and its order of examples (default: {Config().seed})",
    )
    top.set_defaults(perform=run)
    return top


def run(options: argparse.Namespace, _command: str) -> None:
    """Learn from the sets that *options* name and write the model."""
    if not options.out.parent.is_dir():
        raise UserError(f"--out: there is no folder {options.out.parent}")
    names = (*options.articles, OTHERS)
    taught = lessons(
        case_of(name, page)
        for name in names
        for page in pages(options.data, name)
        if not options.without_language or language_of(page.golds[0]) != options.without_language
    )
    config = Config(seed=options.seed)
    bayes, classifier = fit(taught.examples, DEFAULT.families, taught.negatives, config)
    data = to_bytes(Model(DEFAULT, classifier, bayes))
    write_atomically(options.out, data)
    print(f"{options.out}: {len(data) / 1e6:.2f} MB, {bayes.pages} pages")


def pages(folder: Path, name: str) -> Sequence[LabelledPage]:
    """The pages of the set *name*."""
    return load(f"jsonl:{folder / name}.jsonl.xz").pages


if __name__ == "__main__":
    raise SystemExit(command_line.run(parser()))
