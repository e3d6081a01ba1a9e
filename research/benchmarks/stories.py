"""`make stories`: what a million known texts take, on disk, for an article, and to be forgotten.

The texts are numbers drawn at random, of articles between a hundred and two thousand words, and
are added in checkpoints, as crawls add them. Then articles are match: half are copies of what is
known. The last figure is what forgetting an hour's share of the oldest takes. Bounds: a gigabyte
for a million, with its log, and 2 ms of processor time for an article of 600 words.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Final

import numpy as np

from research.benchmarks.synthetic import words
from research.command_line import at_least
from scrapy_mss.seen.stories import SIZE, EmittedText, Numbers, Stories, StoryStore, adding, sketch
from scrapy_mss.storage.checkpoints import Checkpoints
from scrapy_mss.storage.opening import store_at
from scrapy_mss.storage.tables import Store

OF: Final = 1_000_000  # texts that the bound of bytes is for
CHECKPOINT: Final = 10_000  # texts; small ones touch a page of the file for each key
PASSAGES: Final = (100, 2_000)
ARTICLES: Final = 500  # that are match
LENGTH: Final = 600  # words of one
ROUNDS: Final = 5
MAX_BYTES: Final = 1e9
MAX_MICROSECONDS: Final = 2_000.0
HOUR: Final = 2_000  # texts of an hour: five hundred sites of a hundred articles a day
MINUTE: Final = 10**7


def main() -> int:
    """Fill a file, judge articles, print what that takes; 1 beyond a bound."""
    description = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(
        prog="python -m research.benchmarks.stories", description=description
    )
    parser.add_argument("--texts", type=at_least(1), default=OF, metavar="N")
    texts: int = parser.parse_args().texts
    with tempfile.TemporaryDirectory() as folder:
        store = store_at(folder)
        known = [article(number) for number in range(ARTICLES // 2)]
        _fill(store, texts, known)
        n_bytes = sum(path.stat().st_size for path in Path(folder).iterdir())
        asked = [*known, *(article(ARTICLES + number) for number in range(ARTICLES // 2))]
        stories = Stories(StoryStore(store), lambda: MINUTE)
        checkpoints = Checkpoints(store, [stories])
        copies = sum(stories.match((-1,), text).emitted.is_copy for text in asked)
        of_sketch = _microseconds(lambda: [sketch(text) for text in asked], ARTICLES)
        match = _microseconds(lambda: [stories.match((-1,), text) for text in asked], ARTICLES)
        forgotten = _microseconds(lambda: store.forget(MINUTE), HOUR, rounds=1)
        checkpoints.close(finished=True)
    print(f"{texts:,} texts: {n_bytes / 1e6:,.0f} MB, {n_bytes / texts:.0f} bytes each")
    print(f"an article of {LENGTH} words: {match:.0f} µs of processor time,")
    print(f"{of_sketch:.0f} of them for its sketch; median of {ROUNDS} rounds")
    print(f"{copies} of {ARTICLES // 2} copies found among {ARTICLES} articles")
    print(f"a text is forgotten in {forgotten:.0f} µs")
    is_small = n_bytes <= MAX_BYTES * max(texts / OF, 1e-2)
    return int(not (is_small and match <= MAX_MICROSECONDS and copies == ARTICLES // 2))


def article(number: int) -> str:
    """The article of that *number*."""
    return words(random.Random(number), LENGTH)


def _fill(store: Store, texts: int, known: list[str]) -> None:
    """Add so many texts, the *known* ones last, those of an hour first and an hour ago."""
    drawn = np.random.default_rng(0)
    for first in range(0, texts, CHECKPOINT):
        numbers = range(first, min(texts, first + CHECKPOINT))
        told = (_told(each, MINUTE * (each >= HOUR), _drawn(drawn)) for each in numbers)
        store.write([adding(told)])
    ours = (_told(texts + at, MINUTE, sketch(text)) for at, text in enumerate(known))
    store.write([adding(ours)])


def _told(number: int, minute: int, numbers: Numbers | None) -> EmittedText:
    return EmittedText((number,), number, number, is_copy=False, minute=minute, sketch=numbers)


def _drawn(drawn: np.random.Generator) -> Numbers:
    """The sketch of some article: the smallest of its numbers are spread evenly, too."""
    last = 2**32 * SIZE // int(drawn.integers(*PASSAGES))
    return np.unique(drawn.integers(0, last, SIZE, np.uint32))


def _microseconds(do: Callable[[], object], count: int, rounds: int = ROUNDS) -> float:
    """Microseconds of processor time that each of *count* takes, the median of some rounds."""
    taken = []
    for _ in range(rounds):
        started = process_time()
        do()
        taken.append(process_time() - started)
    return 1e6 * median(taken) / count


if __name__ == "__main__":
    sys.exit(main())
