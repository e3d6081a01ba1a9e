"""`make seen`: what ten million seen articles take, on disk and for a look-up.

The addresses are added in checkpoints, as crawls add them; then random ones are looked up, half of
which were seen. Bounds: 1 GB and 50 µs of processor time.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import process_time
from typing import Final

from research.command_line import at_least
from scrapy_mss.seen.articles import SeenArticle, SeenStore, adding
from scrapy_mss.storage.opening import store_at
from scrapy_mss.storage.tables import Store

CHECKPOINT: Final = 100_000  # articles; small ones touch a page of the file for each article
LOOKUPS: Final = 20_000
ROUNDS: Final = 5
MAX_BYTES: Final = 10**9
MAX_MICROSECONDS: Final = 50.0
OF: Final = 10_000_000  # articles that the bound of bytes is for


def main() -> int:
    """Fill a file, look addresses up, print both; 1 beyond a bound."""
    parser = argparse.ArgumentParser(prog="python -m research.benchmarks.seen", description=__doc__)
    parser.add_argument("--articles", type=at_least(1), default=OF, metavar="N")
    articles: int = parser.parse_args().articles
    with tempfile.TemporaryDirectory() as folder:
        store = store_at(folder)
        _filled(store, articles)
        seen, asked = SeenStore(store), random.Random(1)
        microseconds = median(_lookup(seen, asked, 2 * articles) for _ in range(ROUNDS))
        store.close()
        n_bytes = sum(path.stat().st_size for path in Path(folder).iterdir())
    print(f"{articles:,} articles: {n_bytes / 1e6:,.0f} MB, {n_bytes / articles:.0f} bytes each")
    print(f"a look-up: {microseconds:.1f} µs of processor time, median of {ROUNDS} rounds")
    is_small = n_bytes <= MAX_BYTES * max(articles / OF, 1e-3)
    return int(not (is_small and microseconds <= MAX_MICROSECONDS))


def _filled(store: Store, articles: int) -> None:
    """Add so many articles."""
    drawn = random.Random(0)
    minute = 29_000_000
    for first in range(0, articles, CHECKPOINT):
        seen = SeenArticle(drawn.getrandbits(63), drawn.getrandbits(31), 1, minute, minute, minute)
        count = min(CHECKPOINT, articles - first)
        store.write([adding({_key(first + i): seen for i in range(count)})])


def _key(number: int) -> int:
    """A key as scattered as a hash."""
    return (number * 0x9E3779B97F4A7C15 + 1) % 2**64 - 2**63


def _lookup(store: SeenStore, drawn: random.Random, addresses: int) -> float:
    """Microseconds of a look-up."""
    asked = [_key(drawn.randrange(addresses)) for _ in range(LOOKUPS)]
    started = process_time()
    for key in asked:
        store.articles([key])
    return 1e6 * (process_time() - started) / LOOKUPS


if __name__ == "__main__":
    sys.exit(main())
