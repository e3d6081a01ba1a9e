"""Real pages through a real crawl: learn from the sites that rules label, extract them all.

Stored pages are answered by the replay handler; the table has word F1 by site against the golds,
for pages read by their wrapper and by the model.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from statistics import fmean
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.crawler import CrawlerProcess

from research.bench import metrics
from research.datasets.pages import LabelledPage
from research.datasets.sets import load
from scrapy_mss.items import Article

HANDLER = "research.benchmarks.stored_pages_handler.StoredPagesHandler"


class StoredPages(Spider):
    """Asks for every stored page once."""

    name = "stored"
    addresses: list[str]

    async def start(self) -> AsyncIterator[Any]:
        for address in self.addresses:
            yield Request(address, dont_filter=True)

    def parse(self, response: Any, **_: Any) -> None:
        """Yield nothing; the add-on makes the items."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of labelled sets")
    parser.add_argument("--rules", type=Path, required=True, help="rules, as in MSS_WRAPPERS")
    parser.add_argument("--set", default="sites_ctf", help="which set; default: sites_ctf")
    options = parser.parse_args()
    path = options.data / f"{options.set}.jsonl.xz"
    pages = {page.url: page for page in load(f"jsonl:{path}").pages if page.url}
    with tempfile.TemporaryDirectory() as folder:
        articles = crawl(
            list(pages),
            {
                "STORED_PAGES": [str(path)],
                "MSS_WRAPPERS": [str(options.rules)],
                "MSS_STORE": folder,
            },
        )
    report(pages, articles)


def crawl(addresses: list[str], settings: dict[str, object]) -> dict[str, Article]:
    """The articles of a crawl of *addresses*."""
    process = CrawlerProcess(
        {
            "ADDONS": {"scrapy_mss.Addon": 500},
            "DOWNLOAD_HANDLERS": {"http": HANDLER, "https": HANDLER},
            "LOG_LEVEL": "WARNING",
            "MSS_EMIT": "all",
            "TELNETCONSOLE_ENABLED": False,
            **settings,
        }
    )
    found: dict[str, Article] = {}
    crawler = process.create_crawler(StoredPages)

    def take(item: Article) -> None:
        found[item.url] = item

    crawler.signals.connect(take, signals.item_scraped)
    process.crawl(crawler, addresses=addresses)
    process.start()
    return found


def report(pages: dict[str, LabelledPage], articles: dict[str, Article]) -> None:
    """Print F1 by site and by what read the page."""
    rows: dict[str, dict[str, list[float]]] = {}
    for url, page in pages.items():
        article = articles.get(url)
        text = (article.text or "") if article else ""
        source = (article.extractor or "none") if article else "none"
        kind = source.partition(":")[0]
        score = metrics.bag(metrics.words(text), metrics.words(page.golds[0])).f1
        for site in (page.site, "all"):
            for column in (kind, "all"):
                rows.setdefault(site, {}).setdefault(column, []).append(score)
    columns = ("wrapper", "mss", "none", "all")
    print(f"{'site':16}" + "".join(f"{column:>16}" for column in columns))
    for site, scores in sorted(rows.items()):
        cells = (f"{fmean(s):.3f} ({len(s)})" if (s := scores.get(c)) else "" for c in columns)
        print(f"{site:16}" + "".join(f"{cell:>16}" for cell in cells))


if __name__ == "__main__":
    main()
