"""Does memory grow? Ten thousand pages through one extractor, learning every tenth.

The pages of the labelled sets come round several times, each time with every word altered, so
that the tables behind the tokenizer keep meeting words they have not seen.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import psutil

from research.datasets.sets import load
from scrapy_mss import Extractor
from scrapy_mss.core.labels import span_labels

N_PAGES = 10_000
EVERY = 500
_TEXT = re.compile(r"(?<=>)[^<]+")
_LONG_WORD = re.compile(r"\b([a-z]{5})([a-z]+)\b")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of labelled sets")
    parser.add_argument("--pages", type=int, default=N_PAGES)
    options = parser.parse_args()
    path = options.data / "articles_tools.jsonl.xz"
    pages = [page.html for page in load(f"jsonl:{path}").pages]
    pages = [html for html in pages if len(html) < 400_000]
    extractor = Extractor(profile="paper")
    process = psutil.Process()
    print("pages  RSS MB")
    for number in range(options.pages + 1):
        if number % EVERY == 0:
            print(f"{number:5}  {process.memory_info().rss / 1e6:6.1f}", flush=True)
        turn, which = divmod(number, len(pages))
        found = extractor.extract(altered(pages[which], turn))
        if number % 10 == 0:
            start, end, _ = found.span
            extractor.model.bayes.learn(
                found.page, span_labels(len(found.tokens), start, end or 200)
            )


def altered(html: str, turn: int) -> str:
    """*html* with the ends of its longer words changed, differently each *turn*."""
    if not turn:
        return html
    return _TEXT.sub(lambda text: _LONG_WORD.sub(rf"\g<1>{turn}\g<2>", text[0]), html)


if __name__ == "__main__":
    main()
