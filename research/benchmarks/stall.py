"""Does a crawl notice that pages and lists are read? Its event loop and its memory.

Made-up pages are crawled from a file, without scrapy-mss and with it, in turns, each crawl in a
process of its own:

    large   178 pages of 20 KB to 2 MB; by how much the longest stall of the event loop is longer
            than in the crawl without scrapy-mss just before, the median of all turns; beside it,
            the longest time for which the loop's own thread was busy, which tells whether the
            loop stood still by its own work or because the machine is busy
    small   some thousand pages of 6 KB; by how much the memory of the crawl's own process is larger
            in the last third of the crawl
    lists   a site whose feed, sitemap or front page is dear to read, crawled by `NewsSpider`;
            beside it, the same downloads without scrapy-mss

Every page is labelled, learned, and read by the model, too. It exits with 1 where a crawl with
workers, the default, is beyond a bound; one without is shown for comparison. It needs Linux.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple
from urllib.parse import urljoin

from research.benchmarks.lists_server import LISTS, STORY, serving
from research.benchmarks.metered_crawl import ADDRESS
from research.benchmarks.synthetic import page
from research.command_line import at_least
from scrapy_mss.spiders.lists import MAX_BYTES

LONGEST = 0.050  # seconds; what a crawl may stand still longer than without scrapy-mss
LARGEST = 60e6  # bytes; what its process may be larger

LIMIT = 200  # articles that a crawl of a list takes
SIZES = {20_000: 100, 100_000: 50, 500_000: 20, 2_000_000: 8}  # characters: pages of that size
SMALL = 6_000
WRAPPERS = [{"site": "news.example", "body": "article", "train_only": True}]
WITHOUT: dict[str, Any] = {}
WITH: dict[str, Any] = {
    "ADDONS": {"scrapy_mss.Addon": 500},
    "MSS_EMIT": "all",
    "MSS_WRAPPERS": WRAPPERS,
}


class Row(NamedTuple):
    """One way to crawl; *bounded* if the bounds are for it."""

    name: str
    settings: dict[str, Any]
    bounded: bool = False


BARE = Row("without scrapy-mss", WITHOUT)
ROWS = (
    Row("1 worker (the default)", WITH, bounded=True),
    Row("2 workers", {**WITH, "MSS_WORKERS": 2}, bounded=True),
    Row("no workers", {**WITH, "MSS_WORKERS": 0}),
)


class Site(NamedTuple):
    """Pages in a file."""

    path: Path
    n_pages: int


def made_site(path: Path, sizes: Sequence[int]) -> Site:
    """Write pages of these *sizes*."""
    records = (
        json.dumps({"url": ADDRESS.format(number), "html": page(size, number)})
        for number, size in enumerate(sizes)
    )
    path.write_text("\n".join(records))
    return Site(path, len(sizes))


def mixed_sizes() -> Iterator[int]:
    """The sizes of the large pages, those that are rare between the others."""
    places = ((n + 0.5) / count for count in SIZES.values() for n in range(count))
    sizes = (size for size, count in SIZES.items() for _ in range(count))
    return (size for _, size in sorted(zip(places, sizes, strict=True)))


def measured(row: Row, site: Site) -> dict[str, Any]:
    """What one crawl of *site* came to."""
    urls = [ADDRESS.format(number) for number in range(site.n_pages)]
    with tempfile.TemporaryDirectory() as store:
        settings = {**row.settings, "MSS_STORE": store, "STORED_PAGES": str(site.path)}
        job = {"settings": settings, "arguments": {"urls": urls}}
        found = crawled(job, site.path.with_suffix(".json"))
    if row.settings:
        learned, pages = (found["stats"][f"mss/{name}"] for name in ("train/learned", "train/seen"))
        assert learned == pages == found["stats"]["mss/extract/pages"] == site.n_pages, found
    return found


def crawled(job: dict[str, Any], path: Path) -> dict[str, Any]:
    """What the crawl of a *job*, which is written to *path*, came to."""
    path.write_text(json.dumps(job))
    command = [sys.executable, "-m", "research.benchmarks.metered_crawl", str(path)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def list_crawls(front: str, path: str, folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two crawls of the list that the site at *front* has at *path*: without scrapy-mss, and with.

    Downloads are real ones, the same for both: the lists, within the same limit of size, and as
    many articles as the spider takes. None is found, so that nothing else is measured.
    """
    settings = {"DOWNLOAD_HANDLERS": {}, "DOWNLOAD_WARNSIZE": 0, "LOG_LEVEL": "CRITICAL"}
    urls = [urljoin(front, each) for each in ("/", "/robots.txt", path)]
    urls += [front + STORY.format(number) for number in range(LIMIT)]
    bare = {
        "settings": {**settings, "DOWNLOAD_MAXSIZE": MAX_BYTES},
        "arguments": {"urls": urls},
    }
    with_lists = {
        "settings": {**settings, "MSS_STORE": str(folder / "store")},
        "spider": "scrapy_mss.spiders.news.NewsSpider",
        "arguments": {"sites": front, "limit": LIMIT},
    }
    job = folder / "lists.json"
    return crawled(bare, job), crawled(with_lists, job)


def lists_in_turns(n_turns: int, folder: Path) -> dict[str, list[dict[str, Any]]]:
    """What *n_turns* crawls of each list came to, beside those without scrapy-mss."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in LISTS}
    with serving() as fronts:
        for _ in range(n_turns):
            for name, (path, _) in LISTS.items():
                bare, crawl = list_crawls(fronts[name], path, folder)
                crawl["more"] = {"longest": crawl["longest"] - bare["longest"]}
                found[name].append(crawl)
    return found


def in_turns(site: Site, n_turns: int) -> dict[str, list[dict[str, Any]]]:
    """What *n_turns* crawls each way came to, without scrapy-mss before each with it."""
    found: dict[str, list[dict[str, Any]]] = {row.name: [] for row in (BARE, *ROWS)}
    for _ in range(n_turns):
        for row in ROWS:
            bare = measured(BARE, site)
            crawl = measured(row, site)
            crawl["more"] = {key: crawl[key] - bare[key] for key in ("longest", "rss")}
            found[BARE.name].append(bare)
            found[row.name].append(crawl)
    return found


def print_stalls(found: dict[str, list[dict[str, Any]]]) -> bool:
    """The table of the large pages; whether the bound holds."""
    names = ("longest", "over bare", "busy", "over 50 ms", "crawl")
    print(f"\n{'large pages':24}", *(f"{name:>10}" for name in names))
    holds = True
    for row in (BARE, *ROWS):
        runs = found[row.name]
        longest, busiest, n_long, seconds = (
            median(run[key] for run in runs) for key in ("longest", "busiest", "n_long", "seconds")
        )
        more = median(run["more"]["longest"] for run in runs) if row.settings else 0.0
        holds &= not row.bounded or more <= LONGEST
        print(
            f"{row.name:24} {1000 * longest:7.0f} ms {1000 * more:7.0f} ms "
            f"{1000 * busiest:7.0f} ms {n_long:10.0f} {seconds:8.1f} s"
        )
    return holds


def print_lists(found: dict[str, list[dict[str, Any]]]) -> bool:
    """The table of the lists; whether the bound holds."""
    names = ("longest", "over bare", "busy", "crawl")
    print(f"\n{'lists':24}", *(f"{name:>10}" for name in names))
    holds = True
    for name, runs in found.items():
        longest, busiest, seconds = (
            median(run[key] for run in runs) for key in ("longest", "busiest", "seconds")
        )
        more = median(run["more"]["longest"] for run in runs)
        holds &= more <= LONGEST
        print(
            f"{name:24} {1000 * longest:7.0f} ms {1000 * more:7.0f} ms "
            f"{1000 * busiest:7.0f} ms {seconds:8.1f} s"
        )
    return holds


def print_memory(found: dict[str, list[dict[str, Any]]]) -> bool:
    """The table of the small pages; whether the bound holds."""
    print(f"\n{'small pages':24} {'RSS':>10} {'over bare':>10} {'crawl':>8}")
    holds = True
    for row in (BARE, *ROWS):
        runs = found[row.name]
        rss, seconds = (median(run[key] for run in runs) for key in ("rss", "seconds"))
        more = median(run["more"]["rss"] for run in runs) if row.settings else 0.0
        holds &= not row.bounded or more <= LARGEST
        print(f"{row.name:24} {rss / 1e6:7.0f} MB {more / 1e6:7.0f} MB {seconds:6.1f} s")
    return holds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--turns", type=at_least(1), default=5, help="of large pages, lists")
    parser.add_argument("--small", type=at_least(100), default=3_000, help="number of small pages")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        large = made_site(Path(name) / "large.jsonl", list(mixed_sizes()))
        small = made_site(Path(name) / "small.jsonl", [SMALL] * options.small)
        stalls = print_stalls(in_turns(large, options.turns))
        memory = print_memory(in_turns(small, 1))
        lists = print_lists(lists_in_turns(options.turns, Path(name)))
    if not (stalls and memory and lists):
        sys.exit(
            f"stall: beyond a bound: {1000 * LONGEST:.0f} ms and {LARGEST / 1e6:.0f} MB more than "
            "a crawl without scrapy-mss"
        )


if __name__ == "__main__":
    main()
