"""What a text costs beside other extractors', on small, ordinary and large pages.

Each page is read by all, one after the other, in an order that changes from page to page. The unit
is lxml's parse of the same bytes; all times are of the processor, and medians over the pages are
shown. Pages of 10 KB are made up, the others are real ones.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from math import log
from pathlib import Path
from statistics import median
from time import process_time

from research.bench.timing import parse_milliseconds
from research.benchmarks.soak_server import story
from research.benchmarks.speed import SETS
from research.datasets.sets import load
from research.errors import UserError
from research.systems.external import External
from scrapy_mss.article import ModelState, read_article
from scrapy_mss.extractor import Extractor

PEERS = ("resiliparse", "trafilatura", "turbohtml")
SIZES = {"100 KB": 100_000, "1 MB": 1_000_000}  # of real pages
N_PAGES = 24  # of each size
N_WARM = 4  # pages of each size that are read before, without a clock

Read = Callable[[str], object]


def readers() -> dict[str, Read]:
    """All that can be imported here, by name."""
    extractor = Extractor()
    state = ModelState.of(extractor.model)
    found: dict[str, Read] = {
        "scrapy-mss, text": lambda html: extractor.extract(html).text,
        "scrapy-mss, article": lambda html: read_article(html, "", state),
    }
    for name in PEERS:
        try:
            found[name] = External(peer=name).extract
        except ImportError as error:
            print(f"{name} is left out: {error}")
    return found


def pages_by_size(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Pages of each size, those first that are nearest to it."""
    yield "10 KB", [story(number) for number in range(N_WARM + N_PAGES)]
    real = [page for name in SETS for page in load(f"jsonl:{folder / name}.jsonl.xz").pages]
    for name, size in SIZES.items():
        real.sort(key=lambda page: abs(log(max(len(page.source), 1) / size)))
        yield name, [page.html for page in real[: N_WARM + N_PAGES]]


def multiples(pages: list[str], reads: dict[str, Read]) -> tuple[float, dict[str, float]]:
    """The median milliseconds of lxml, and the median multiple of each reader."""
    units: list[float] = []
    found: dict[str, list[float]] = {name: [] for name in reads}
    for number, html in enumerate(pages):
        unit = parse_milliseconds(html.encode("utf-8", "replace"), process_time)
        names = [*reads][number % len(reads) :] + [*reads][: number % len(reads)]
        taken = {name: _milliseconds(reads[name], html) for name in names}
        if unit and number >= N_WARM:
            units.append(unit)
            for name, milliseconds in taken.items():
                found[name].append(milliseconds / unit)
    return median(units), {name: median(each) for name, each in found.items()}


def _milliseconds(read: Read, html: str) -> float:
    began = process_time()
    read(html)
    return 1000 * (process_time() - began)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of labelled sets")
    options = parser.parse_args()
    reads = readers()
    try:
        sizes = dict(pages_by_size(options.data))
    except UserError as error:
        parser.error(str(error))
    columns = {name: multiples(pages, reads) for name, pages in sizes.items()}
    print("\n| x lxml, median | " + " | ".join(columns) + " |")
    print("| --- |" + " ---: |" * len(columns))
    print("| lxml, ms | " + " | ".join(f"{unit:.2f}" for unit, _ in columns.values()) + " |")
    for name in reads:
        print(f"| {name} | " + " | ".join(f"{row[name]:.2f}" for _, row in columns.values()) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
