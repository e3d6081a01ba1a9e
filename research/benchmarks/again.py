"""`make again`: what a crawl fetches of a web that has not changed, and of one that hardly has.

Twenty made-up sites are crawled by `NewsSpider` three times, each time by a new process: all of
their articles; then nothing has changed; then each site has published one more. Bounds: the second
crawl fetches lists and no article, the third one the new articles alone. The crawl's own process
finds the articles.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

from scrapy.crawler import CrawlerProcess

from research.benchmarks.again_server import Web, serving
from research.command_line import at_least
from scrapy_mss.spiders.news import NewsSpider

N_SITES = 20
SETTINGS: dict[str, Any] = {
    "CONCURRENT_REQUESTS": 32,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
    "DOWNLOAD_DELAY": 0,
    "LOG_LEVEL": "ERROR",
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "MSS_WORKERS": 0,
    "MSS_SITE_MEMORY": 0,
}
KINDS = ("front", "section", "feed", "robots.txt", "sitemap", "article")


class Measured(NamedTuple):
    """What a crawl took, and what it gave."""

    seconds: float
    cpu: float  # seconds of the crawl's own process
    items: int
    stories: int  # items that no other site's are copies of


def crawled(folder: Path, web: Web, limit: int) -> Measured:
    """Crawl *web* in a process of its own."""
    job = {
        "sites": web.fronts,
        "limit": limit,
        "settings": {"MSS_STORE": str(folder)},
    }
    command = [sys.executable, "-m", "research.benchmarks.again", "--job", json.dumps(job)]
    done = subprocess.run(  # noqa: S603 - our own program
        command, stdout=subprocess.PIPE, text=True, check=True
    )
    return Measured(*json.loads(done.stdout.splitlines()[-1]))


def crawl(job: dict[str, Any]) -> Measured:
    """Crawl what *job* says, in this process."""
    process = CrawlerProcess({**SETTINGS, **job["settings"]})
    crawler = process.create_crawler(NewsSpider)
    started, cpu = perf_counter(), process_time()
    process.crawl(crawler, sites=job["sites"], limit=job["limit"])
    process.start()
    assert crawler.stats is not None
    items, stories = (
        crawler.stats.get_value(name, 0) for name in ("item_scraped_count", "mss/stories/new")
    )
    return Measured(perf_counter() - started, process_time() - cpu, items, stories)


def line(name: str, measured: Measured, asked: Counter[str]) -> str:
    """A row of the table: what was sent of each kind, and in brackets what had not changed."""
    cells = [f"{asked[f'{kind} 200']} ({asked[f'{kind} 304']})" for kind in KINDS]
    took = (f"{measured.items}", f"{measured.seconds:.1f}", f"{measured.cpu:.1f}")
    return f"{name:10}" + "".join(f"{each:>12}" for each in (*cells, *took))


def faults(rows: list[tuple[Measured, Counter[str]]], articles: int) -> list[str]:
    """The bounds that do not hold."""
    wanted = (articles, 0, N_SITES)
    found = []
    for number, ((measured, asked), count) in enumerate(zip(rows, wanted, strict=True), 1):
        fetched = sum(n for kind, n in asked.items() if kind.startswith("article"))
        if (fetched, measured.items) != (count, count):
            found.append(
                f"crawl {number}: {fetched} articles fetched and {measured.items} items, "
                f"expected {count}"
            )
    return found


def main() -> int:
    """Crawl three times, print a table; 1 if a bound does not hold."""
    description = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(
        prog="python -m research.benchmarks.again", description=description
    )
    parser.add_argument("--addresses", type=at_least(N_SITES), default=20_000, metavar="N")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        print(json.dumps(crawl(json.loads(options.job))))
        return 0
    each = options.addresses // N_SITES
    rows = []
    print(f"{'':10}" + "".join(f"{title:>12}" for title in (*KINDS, "items", "seconds", "CPU s")))
    with tempfile.TemporaryDirectory() as folder, serving(N_SITES, each) as web:
        for name in ("all", "unchanged", "one new"):
            if name == "one new":
                web.publish()
            measured = crawled(Path(folder), web, each + 1)
            rows.append((measured, web.counts()))
            print(line(name, *rows[-1]), flush=True)
    found = faults(rows, each * N_SITES)
    print("\n".join(found or ["all bounds hold"]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
