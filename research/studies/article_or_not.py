"""Which pages are taken for articles: of made-up webs and of news sites, and old news.

    python -m research.studies.article_or_not --data FOLDER --out research/results

The first table has the demo's five sites, by the kind of page, the second pages of six news sites,
the third the pages of sets that no model learns from, all of which are articles. Each page is read
with its address and without.
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from research import command_line
from research.datasets.sets import load
from scrapy_mss.extractor import Extractor
from scrapy_mss.models.files import write_atomically

PROGRAM: Final = "python -m research.studies.article_or_not"
EXAMPLE_PROJECT: Final = Path(__file__).resolve().parents[2] / "example_project"
NEWS: Final = "news_pages"
OLD: Final = ("articles_l3s", "sites_ctf", "sites_daniel", "cleaneval_dev")


class Asked(NamedTuple):
    """A page: what row of the table it is in, and whether it is an article."""

    row: str
    is_article: bool
    html: str
    url: str


class Taken(NamedTuple):
    """How many pages of each row there are, and how many were taken for articles."""

    pages: Counter[tuple[str, bool]]
    with_address: Counter[tuple[str, bool]]
    without: Counter[tuple[str, bool]]


def made_up() -> Iterator[Asked]:
    """The pages of the demo's sites."""
    sys.path.append(str(EXAMPLE_PROJECT))
    import demo_web

    for name in demo_web.SITES:
        for page in demo_web.pages(name):
            yield Asked(page.kind, bool(page.expected), page.html, page.url)


def old(folder: Path) -> Iterator[Asked]:
    """The pages of the sets that no model learns from."""
    for name in OLD:
        for page in load(f"jsonl:{folder / name}.jsonl.xz").pages:
            yield Asked(f"`{name}`", is_article=True, html=page.html, url=page.url or "")


def of_news_sites(folder: Path) -> Iterator[Asked]:
    """Pages of news sites, half of which are articles; their kind is all that is labelled."""
    with lzma.open(folder / f"{NEWS}.jsonl.xz", "rt", encoding="utf-8") as lines:
        for page in map(json.loads, lines):
            row = page["page_type"]
            yield Asked(row, is_article=row == "article", html=page["html"], url=page["url"])


def taken(pages: Iterable[Asked], extractor: Extractor) -> Taken:
    """What becomes of the *pages*."""
    found = Taken(Counter(), Counter(), Counter())
    for page in pages:
        row = page.row, page.is_article
        found.pages[row] += 1
        found.with_address[row] += extractor.extract(page.html, page.url).is_article
        found.without[row] += extractor.extract(page.html).is_article
    return found


def table(found: Taken) -> str:
    """A Markdown table, a row a kind of page, articles first."""
    lines = [
        "| pages | | taken for articles | without the address |",
        "| --- | ---: | ---: | ---: |",
    ]
    for row in sorted(found.pages, key=lambda row: (not row[1], row[0])):
        counts = found.pages[row], found.with_address[row], found.without[row]
        lines.append(f"| {row[0]} | {' | '.join(map(str, counts))} |")
    return "\n".join(lines) + "\n"


def precision_and_recall(name: str, found: Taken) -> str:
    """A line for people: both measures of the pages of that *name*, with addresses and without."""
    n_articles = sum(n for (_, is_article), n in found.pages.items() if is_article)
    shown = []
    for counts in (found.with_address, found.without):
        hits = sum(n for (_, is_article), n in counts.items() if is_article)
        shown.append(f"precision {hits / counts.total():.3f}, recall {hits / n_articles:.3f}")
    return f"{name}: **{shown[0]}**; without the addresses {shown[1]}.\n"


def run(options: argparse.Namespace, _command: str) -> None:
    """Run the study and write its files."""
    extractor = Extractor()
    webs = taken(made_up(), extractor)
    news = taken(of_news_sites(options.data), extractor)
    parts = (
        precision_and_recall("Made-up webs", webs),
        table(webs),
        precision_and_recall("News sites", news),
        table(news),
        table(taken(old(options.data), extractor)),
    )
    found = "\n".join(parts)
    print(found)
    write_atomically(options.out / "article_or_not.md", found.encode())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line *arguments*; returns the exit code."""
    return command_line.run_study(PROGRAM, "Which pages are taken for articles.", run, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
