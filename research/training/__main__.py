"""Make the model in the box from labelled pages: `make model`.

It learns from the sets whose licence allows it (NOTICE), and from those alone. The same pages give
the same bytes: nothing here depends on time, chance or the order of threads, given the same numpy
on the same kind of processor.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from research.bench.measurement import examples
from research.datasets.pages import Page
from research.datasets.sets import load
from research.errors import UserError
from research.training.fit import fit
from research.training.lessons import lessons
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.models.bundled import FILE
from scrapy_mss.models.format import Model, to_bytes
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import write_atomically

ARTICLES = ("articles_wcxb", "articles_fundus", "articles_rules", "articles_tools")
OTHERS = ("other_pages_wcxb",)
TARGET = Path(__file__).parents[2] / "scrapy_mss" / FILE


def main(folder: str) -> None:
    """Learn from the sets in *folder* and write the model into the package."""
    articles = [page for name in ARTICLES for page in pages(folder, name)]
    others = [tokenize(page.html) for name in OTHERS for page in pages(folder, name)]
    bayes, judge = fit(list(lessons(examples(articles))), DEFAULT.families, others)
    data = to_bytes(Model.of(DEFAULT, bayes, judge))
    TARGET.parent.mkdir(exist_ok=True)
    write_atomically(TARGET, data)
    print(f"{TARGET}: {len(data) / 1e6:.2f} MB, {bayes.pages} pages")


def pages(folder: str, name: str) -> tuple[Page, ...]:
    """The pages of the set *name*."""
    return load(f"jsonl:{folder}/{name}.jsonl.xz").pages


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make the model in the box.")
    parser.add_argument("folder", help="where the labelled pages are")
    try:
        main(parser.parse_args().folder)
    except UserError as error:
        parser.error(str(error))
