"""What pages are taken for: of made-up webs and of news sites, and old news.

    python -m research.studies.article_or_not --data FOLDER --out research/results

The made-up webs are the demo's five sites and the ten of `research.webs`, two of which are held
back: no sign was changed for them but those of galleries. Pages of six news sites have their kind
alone, and the pages of the sets that no model learns from are all articles. Each page is read with
its own address, without one, and with one that says nothing: every other time `/12345`, and
`/?id=12345`.
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

from research import command_line, webs
from research.datasets.sets import load
from scrapy_mss.extractor import Extractor
from scrapy_mss.models.files import write_atomically
from scrapy_mss.pages.kinds import ARTICLE_KINDS, KINDS

PROGRAM: Final = "python -m research.studies.article_or_not"
EXAMPLE_PROJECT: Final = Path(__file__).resolve().parents[2] / "example_project"
NEWS: Final = "news_pages"
OLD: Final = ("articles_l3s", "sites_ctf", "sites_daniel", "cleaneval_dev")
ADDRESSES: Final = (OWN := "with its address", "without", "with a bare one")
FIRST_NUMBER: Final = 12_345


class Source(NamedTuple):
    """A page and its address."""

    html: str
    url: str


class Asked(NamedTuple):
    """A page: what row of the table it is in, and its kind, `other` if that is not known better.

    It is read from its *own* address, and from a *bare* one, which it may also declare.
    """

    row: str
    kind: str
    own: Source
    bare: Source

    @property
    def is_article(self) -> bool:
        return self.kind in ARTICLE_KINDS


class Taken:
    """What pages were taken for, by how they were addressed."""

    def __init__(self, pages: Iterable[Asked], extractor: Extractor) -> None:
        self.pages: Counter[tuple[str, bool]] = Counter()
        self.articles = {address: Counter[tuple[str, bool]]() for address in ADDRESSES}
        self.kinds: Counter[tuple[str, str]] = Counter()
        for page in pages:
            row = page.row, page.is_article
            self.pages[row] += 1
            sources = page.own, Source(page.own.html, ""), page.bare
            for address, source in zip(ADDRESSES, sources, strict=True):
                found = extractor.extract(*source)
                self.articles[address][row] += found.is_article
                if address == OWN:
                    self.kinds[page.kind, found.kind] += 1


def asked(row: str, kind: str, source: Source, number: int) -> Asked:
    """A page whose source does not depend on its address."""
    path = f"{FIRST_NUMBER + number}" if number % 2 else f"?id={FIRST_NUMBER + number}"
    return Asked(row, kind, source, Source(source.html, f"https://news.example/{path}"))


def of_demo() -> Iterator[Asked]:
    """The pages of the demo's sites."""
    sys.path.append(str(EXAMPLE_PROJECT))
    import demo_web

    pages = (page for name in demo_web.SITES for page in demo_web.pages(name))
    for number, page in enumerate(pages):
        kind = "article" if page.expected else "other"
        yield asked(page.kind, kind, Source(page.html, page.url), number)


def of_webs(*, held_back: bool) -> Iterator[Asked]:
    """The pages of the made-up sites that are *held_back*, or of the others."""
    for own, bare in zip(webs.pages(), webs.pages(bare=True), strict=True):
        if own.is_held_back == held_back:
            row = own.kind if own.kind == own.sort else f"{own.kind}: {own.sort}"
            sources = Source(own.html, own.url), Source(bare.html, bare.url)
            yield Asked(row, own.kind, *sources)


def old(folder: Path) -> Iterator[Asked]:
    """The pages of the sets that no model learns from."""
    for name in OLD:
        for number, page in enumerate(load(f"jsonl:{folder / name}.jsonl.xz").pages):
            yield asked(f"`{name}`", "article", Source(page.html, page.url or ""), number)


def of_news_sites(folder: Path) -> Iterator[Asked]:
    """Pages of news sites, half of which are articles; their kind is all that is labelled."""
    with lzma.open(folder / f"{NEWS}.jsonl.xz", "rt", encoding="utf-8") as lines:
        for number, page in enumerate(map(json.loads, lines)):
            kind = page["page_type"]
            yield asked(kind, kind, Source(page["html"], page["url"]), number)


def table(found: Taken) -> str:
    """A Markdown table, a row a kind of page, articles first."""
    lines = [
        f"| pages | | {' | '.join(ADDRESSES)} |",
        f"| --- {'| ---: ' * (len(ADDRESSES) + 1)}|",
    ]
    for row in sorted(found.pages, key=lambda row: (not row[1], row[0])):
        counts = found.pages[row], *(found.articles[address][row] for address in ADDRESSES)
        lines.append(f"| {row[0]} | {' | '.join(map(str, counts))} |")
    return "\n".join(lines) + "\n"


def confusion(found: Taken) -> str:
    """A Markdown table of kinds: a row for what pages are, a column for what they are taken for."""
    lines = [f"| | {' | '.join(KINDS)} |", f"| --- {'| ---: ' * len(KINDS)}|"]
    for kind in KINDS:
        counts = [str(found.kinds[kind, each] or "") for each in KINDS]
        lines.append(f"| {kind} | {' | '.join(counts)} |")
    return "\n".join(lines) + "\n"


def precision_and_recall(name: str, found: Taken) -> str:
    """A line for people: both measures of the pages of that *name*, by their addresses."""
    n_articles = sum(n for (_, is_article), n in found.pages.items() if is_article)
    shown = []
    for address, counts in found.articles.items():
        hits = sum(n for (_, is_article), n in counts.items() if is_article)
        precision, recall = hits / counts.total(), hits / n_articles
        shown.append(f"{address} precision **{precision:.3f}**, recall **{recall:.3f}**")
    return f"{name}: {'; '.join(shown)}.\n"


def run(options: argparse.Namespace, _command: str) -> None:
    """Run the study and write its files."""
    extractor = Extractor()
    made_up = Taken(of_webs(held_back=False), extractor)
    held_back = Taken(of_webs(held_back=True), extractor)
    demo = Taken(of_demo(), extractor)
    news = Taken(of_news_sites(options.data), extractor)
    parts = (
        precision_and_recall("Eight made-up sites", made_up),
        precision_and_recall("Two more, held back", held_back),
        precision_and_recall("The demo's sites", demo),
        precision_and_recall("News sites", news),
        "What the pages of the eight sites are (rows) and are taken for, with their addresses:\n",
        confusion(made_up),
        "The same of the two that are held back:\n",
        confusion(held_back),
        *(
            f"{name}, how many there are and how many are taken for articles:\n\n{table(found)}"
            for name, found in (
                ("The eight sites", made_up),
                ("The two that are held back", held_back),
                ("The demo", demo),
                ("News sites", news),
                ("Sets of articles", Taken(old(options.data), extractor)),
            )
        ),
    )
    found = "\n".join(parts)
    print(found)
    write_atomically(options.out / "article_or_not.md", found.encode())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line *arguments*; returns the exit code."""
    return command_line.run_study(PROGRAM, "What pages are taken for.", run, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
