"""Is the cost per byte the same from 10 KB to 10 MB? A table and, with --svg, a plot."""

from __future__ import annotations

import argparse
from math import inf
from pathlib import Path
from timeit import repeat

from research.bench.timing import parse_milliseconds
from research.benchmarks.synthetic import page
from research.studies.plots import draw
from research.studies.questions import Point, Study
from scrapy_mss import Extractor
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.labels import span_labels
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.models.files import write_atomically

SIZES = [10_000 * 2**n for n in range(11)]  # 10 KB to 10 MB
PLOT = Study(
    "scaling",
    "Cost per byte by size of the page",
    "KB",
    "microseconds per KB",
    lambda _: iter(()),
    logarithmic=True,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--svg", type=Path, help="write the plot here")
    target = parser.parse_args().svg
    extractor = Extractor(profile="paper")
    warm = tokenize(page(200_000))
    extractor.model.bayes.learn(Page(warm), span_labels(len(warm), 500, 3000))
    points = []
    print("      KB  mss-paper us/KB  lxml us/KB  x lxml")
    for size in SIZES:
        html = page(size)
        source = html.encode()
        repeats = max(3, 1_000_000 // size)
        cost = (
            1e9 * min(repeat(lambda: extractor.extract(html).text, number=1, repeat=repeats)) / size
        )
        unit = 1e6 * min(parse_milliseconds(source) or inf for _ in range(repeats)) / size
        print(f"{size / 1000:8.0f} {cost:16.1f} {unit:11.1f} {cost / unit:7.2f}", flush=True)
        points += [Point("mss-paper", size / 1000, cost), Point("lxml parse", size / 1000, unit)]
    if target:
        write_atomically(target, draw(PLOT, points))


if __name__ == "__main__":
    main()
