"""How long extracting and learning a page take, in multiples of lxml's parse of it.

Pages come in the order of a crawl and each is seen once, so words that the tables have not met
are paid for. The unit is taken just before, in the same process.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import mean, median

from research.benchmarks.timing import lxml_milliseconds, milliseconds
from research.datasets.sets import load
from scrapy_mss import Extractor
from scrapy_mss.core.alignment import label_words
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.models.format import from_bytes, to_bytes

N_TRAINED = 400


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of labelled sets")
    folder = parser.parse_args().data
    pages = load(f"jsonl:{folder / 'articles_wcxb.jsonl.xz'}").pages
    labels = [label_words(tokenize(page.html), page.golds[0]) for page in pages]
    extractor = Extractor.untrained()
    rows: dict[str, list[tuple[float, float, int]]] = {"learn": [], "tokenize": [], "extract": []}

    def measure(name: str, number: int, call: object) -> None:
        source = pages[number].source
        unit = lxml_milliseconds(source)
        rows[name].append((milliseconds(call), unit, len(source)))  # type: ignore[arg-type]

    for number in range(N_TRAINED):
        html, inside = pages[number].html, labels[number]
        measure("learn", number, lambda: extractor.learn(tokenize(html), inside, checked=False))
    for number in range(N_TRAINED, len(pages)):
        html = pages[number].html
        measure("extract", number, lambda: extractor.extract(html).text)
        measure("tokenize", number, lambda: tokenize(html))
    report(rows)
    model = extractor.model
    assert model is not None
    data = to_bytes(model)
    tables = sum(table.nbytes for table in model.bayes.counts.values())
    loading = milliseconds(lambda: from_bytes(data), 5)
    print(
        f"tables {tables / 2**20:.0f} MiB, file {len(data) / 1e6:.1f} MB after {N_TRAINED} pages,"
    )
    print(f"{int(model.bayes.tokens.sum()):,} tokens learned, read in {loading:.0f} ms")


def report(rows: dict[str, list[tuple[float, float, int]]]) -> None:
    print("step      pages  KB median  ms median  x lxml median   mean    p95   MB/s")
    for name, found in rows.items():
        times, units, sizes = zip(*found, strict=True)
        ratios = sorted(time / unit for time, unit in zip(times, units, strict=True))
        rate = sum(sizes) / sum(times) / 1000
        print(
            f"{name:9} {len(found):5} {median(sizes) / 1000:10.0f} {median(times):10.2f} "
            f"{median(ratios):14.2f} {mean(ratios):6.2f} {ratios[len(ratios) * 95 // 100]:6.2f} "
            f"{rate:6.1f}"
        )


if __name__ == "__main__":
    main()
