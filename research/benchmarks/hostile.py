"""What hostile markup costs beside an ordinary page: time per byte, as a multiple.

Each page is extracted with a trained model. The ordinary page is made up, of the same size; with
--data it is the mean of real ones.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from pathlib import Path
from statistics import median

from research.benchmarks.synthetic import page
from research.benchmarks.timing import milliseconds
from research.datasets.sets import load
from scrapy_mss import Extractor
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.labels import span_labels
from scrapy_mss.markup.tokenizer import tokenize

REPEATS = 5


def _many(part: str) -> Callable[[int], str]:
    return lambda size: (part * (size // len(part) + 1))[:size]


def _attributes(size: int) -> str:
    return "<a " + _many('b="c" ')(size) + ">text"


def _noise(size: int) -> str:
    return random.Random(0).randbytes(size).decode("latin-1")


HOSTILE: dict[str, Callable[[int], str]] = {
    "no tags": _many("word "),
    "only tags": _many("<p></p>"),
    "one word": _many("a"),
    "nested divs": _many("<div>"),
    "closed, never opened": _many("</div>"),
    "nested, closed by others": lambda n: _many("<div>")(n // 2) + _many("</p>")(n // 2),
    "open angles": _many("<"),
    "angle, letter": _many("<a "),
    "angle, slash": _many("</"),
    "unclosed quotes": _many('<a b="'),
    "both quotes": _many("<a b=\"'"),
    "unclosed comments": _many("<!-- "),
    "unclosed scripts": _many("<script>"),
    "script, almost closed": lambda size: "<script>" + _many("</scrip ")(size),
    "a million attributes": _attributes,
    "equals signs": lambda size: "<a " + _many("= ")(size),
    "ampersands": _many("&"),
    "references": _many("&#233;"),
    "references cut short": _many("&#"),
    "one endless number": lambda size: "&#" + _many("1")(size),
    "ideographs": _many("\u4e2d\u6587"),
    "right to left": _many("\u0645\u0631\u062d\u0628\u0627 "),
    "surrogates and NUL": _many("\ud800\x00 "),
    "random bytes": _noise,
}


N_REAL = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of labelled sets")
    folder = parser.parse_args().data
    extractor = Extractor(profile="paper")
    tokens = tokenize(page(300_000))
    extractor.model.bayes.learn(Page(tokens), span_labels(len(tokens), 500, 3000))

    def cost(html: str) -> float:
        times = [milliseconds(lambda: extractor.extract(html).text) for _ in range(REPEATS)]
        return median(times) / len(html.encode("utf-8", "surrogatepass"))

    print("page                              100 KB     1 MB   (x an ordinary page, per byte)")
    ordinary = {size: cost(page(size)) for size in (100_000, 1_000_000)}
    if folder:
        pages = load(f"jsonl:{folder / 'articles_wcxb.jsonl.xz'}").pages[:N_REAL]
        sizes = [len(p.source) for p in pages]
        real = sum(cost(p.html) * n for p, n in zip(pages, sizes, strict=True)) / sum(sizes)
        print(f"a real page costs {real / ordinary[100_000]:.2f} x a made-up one")
        ordinary = dict.fromkeys(ordinary, real)
    for name, make in HOSTILE.items():
        ratios = [cost(make(size)) / ordinary[size] for size in ordinary]
        print(f"{name:32} {ratios[0]:7.2f}  {ratios[1]:7.2f}")


if __name__ == "__main__":
    main()
