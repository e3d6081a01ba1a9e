"""What a Parquet feed costs: an article on its way, the file at the end, memory.

The articles are made up: about 5,000 characters of words as frequent as words are, and their HTML.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Final

from research.command_line import at_least
from scrapy_mss.files.parquet import ArticleColumns, StreamBeside
from scrapy_mss.items import ARTICLE_FIELDS, Article, values_of

WORDS: Final = 900  # of an article
VOCABULARY: Final = 30_000


def main() -> None:
    """Write a file, and print what that took."""
    parser = argparse.ArgumentParser(
        prog="python -m research.benchmarks.parquet", description=__doc__
    )
    parser.add_argument("--articles", type=at_least(1), default=10_000, metavar="N")
    articles: int = parser.parse_args().articles
    columns = ArticleColumns.of({name: name for name in ARTICLE_FIELDS}, None)
    before, adding = _memory(), 0.0
    with tempfile.TemporaryDirectory() as folder:
        beside = StreamBeside(Path(folder, "articles.parquet"), columns.schema())
        for article in _articles(articles):
            begun = process_time()
            beside.rows.add(columns.row(values_of(article).items())[0])
            adding += process_time() - begun
        begun = process_time()
        size = beside.finish().stat().st_size
        ending = process_time() - begun
    print(f"an article: {1e6 * adding / articles:.0f} µs of processor time")
    print(f"the file of {articles:,}: {ending:.2f} s, {size / 1e6:.0f} MB")
    print(f"memory: {_memory() - before:.0f} MB at the most, pyarrow included")


def _articles(count: int) -> Iterator[Article]:
    drawn = random.Random(1)
    words = ["".join(drawn.choices("etaoinshrdlu", k=1 + i % 9)) for i in range(VOCABULARY)]
    weights = [1 / rank for rank in range(1, VOCABULARY + 1)]
    for number in range(count):
        text = " ".join(drawn.choices(words, weights, k=WORDS))
        url = f"https://news.example/{number}"
        yield Article(url, title=text[:60], text=text, html=f"<p>{text}</p>")


def _memory() -> float:
    """The most that the process has had, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
