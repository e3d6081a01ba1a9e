"""`python -m research.studies.text_labels`: how far texts of feeds and pages are to be trusted.

No labelled set has feeds. So what people wrote is taken for the text of a feed: as it is, and with
the faults that feeds have, which bounds from both sides what a feed is worth. The `articleBody`
that a page declares is real. Each set is read by a model of the other sets, without its sites.

A text that is agreed on labels blocks, and what these labels teach is where they differ from the
reading. The trust is, of the words of such blocks, the share that is labelled rightly less the
share that is not: where so many of the labels are wrong, one is worth so much less.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from parsel import Selector

from research import command_line
from research.bench.loso import read
from research.bench.runner import site_keys
from research.datasets.pages import LabelledPage
from research.datasets.sets import evenly, load
from research.training.cases import lessons
from research.training.fit import fit_text
from research.training.sets import ARTICLES
from scrapy_mss.blocks.text_labels import agreed_tokens, label_blocks, plain_words
from scrapy_mss.core.labels import Rejection
from scrapy_mss.extractor import Extraction, Extractor
from scrapy_mss.markup.tokens import Bools
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.pages.declarations import ARTICLE, Graph

PROGRAM: Final = "python -m research.studies.text_labels"
SETS: Final = ("articles_l3s", "articles_fundus", "articles_manual", "articles_wcxb")
CLOSING: Final = "The post {} appeared first on the site of the paper."
DECLARED: Final = "articleBody"


def _first(text: str, share: float) -> str:
    words = text.split(" ")
    return " ".join(words[: round(len(words) * share)])


# What is taken for the text of a feed, from what people wrote and the title.
TEXTS: Final[dict[str, Callable[[str, str], str]]] = {
    "as people wrote it": lambda text, _: text,
    "with a closing line": lambda text, title: f"{text} {CLOSING.format(title)}",
    "with the headline twice before it": lambda text, title: f"{title} {title} {text}",
    "without the last 5 %": lambda text, _: _first(text, 0.95),
    "without the last 10 %": lambda text, _: _first(text, 0.9),
    "the first 80 %": lambda text, _: _first(text, 0.8),
    "the first half, a long teaser": lambda text, _: _first(text, 0.5),
}


@dataclass(slots=True)
class Worth:
    """What texts of one kind are worth: pages that have one, those labelled, words of blocks.

    A text *adds* blocks to what is read, and *drops* blocks from it.
    """

    pages: int = 0
    labelled: int = 0
    words: int = 0
    right: int = 0
    read_right: int = 0
    adds_right: int = 0
    adds_wrong: int = 0
    drops_right: int = 0
    drops_wrong: int = 0

    def add(self, extraction: Extraction, found: Bools | Rejection, gold: Bools) -> None:
        """Count a page whose text has labelled what was *found*, if anything."""
        self.pages += 1
        if isinstance(found, Rejection):
            return
        page = extraction.page
        words = page.blocks.words
        read = page.blocks.count(extraction.kept & page.tokens.is_word) * 2 > words
        found = page.blocks.count(found & page.tokens.is_word) > 0

        def words_in(blocks: Bools) -> int:
            return int(words[blocks].sum())

        self.labelled += 1
        self.words += int(words.sum())
        self.right += words_in(found == gold)
        self.read_right += words_in(read == gold)
        self.adds_right += words_in(found & ~read & gold)
        self.adds_wrong += words_in(found & ~read & ~gold)
        self.drops_right += words_in(~found & read & ~gold)
        self.drops_wrong += words_in(~found & read & gold)

    def row(self, name: str) -> str:
        """A row of the table."""
        right = self.adds_right + self.drops_right
        wrong = self.adds_wrong + self.drops_wrong
        cells = (
            *(name, self.pages, self.labelled),
            *(f"{each / max(self.words, 1):.4f}" for each in (self.right, self.read_right)),
            f"{self.adds_right} : {self.adds_wrong}",
            f"{self.drops_right} : {self.drops_wrong}",
            f"{(right - wrong) / max(right + wrong, 1):.2f}",
        )
        return f"| {' | '.join(map(str, cells))} |"


HEADER: Final = (
    "| text | pages | labelled | labels right | reading right | adds | drops | trust |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
)


def unseen(folder: Path, name: str, pages: Sequence[LabelledPage], limit: int | None) -> Extractor:
    """An extractor that has learned from so many pages of each other set, but no site of *pages*.

    It takes all pages for articles. A set that the bundled model has not learned from is read by
    that.
    """
    if name not in ARTICLES:
        return Extractor()
    sites = {key for page in pages for key in site_keys(page)}
    cases = read(folder, [each for each in ARTICLES if each != name], limit)
    known = [case for case in cases if sites.isdisjoint(site_keys(case.labelled))]
    bayes, classifier, _ = fit_text(lessons(known).examples, DEFAULT.families)
    return Extractor.of(Model(DEFAULT, classifier, bayes))


def article_body(source: str) -> str:
    """The text that the page *source* declares to be its only article's, if it does."""
    scripts = Selector(source).xpath("//script[contains(@type, 'ld+json')]/text()").getall()
    articles = Graph(scripts).nodes(ARTICLE)
    bodies = {each for node in articles if isinstance(each := node.get(DECLARED), str)}
    return plain_words(bodies.pop()) if len(bodies) == 1 else ""


def measure(
    extractor: Extractor, page: LabelledPage, worth: dict[str, Worth], *, fed: bool
) -> None:
    """Add to the *worth* of each kind of text what it is on *page*; of those of feeds, if *fed*."""
    extraction = extractor.extract(page.html, page.url or "")
    source, kept = extraction.page, extraction.kept
    gold = label_blocks(source, page.golds[0])
    for kind, text_of in TEXTS.items() if fed else ():
        text = plain_words(text_of(page.golds[0], page.title or ""))
        worth[kind].add(extraction, agreed_tokens(source, text, kept), gold)
    body = article_body(page.html)
    if body:
        worth[DECLARED].add(extraction, agreed_tokens(source, body, kept), gold)


def report(folder: Path, names: Sequence[str], limit: int | None) -> None:
    """Print a table for each of the sets in *folder* with these *names*.

    The texts of feeds are measured on as many pages as each other set is learned from.
    """
    for name in names:
        worth = {kind: Worth() for kind in (*TEXTS, DECLARED)}
        pages = load(f"jsonl:{folder / name}.jsonl.xz").pages
        extractor = unseen(folder, name, pages, limit)
        fed = {page.id for page in evenly(pages, limit)}
        for page in pages:
            if page.id in fed or DECLARED in page.html:
                measure(extractor, page, worth, fed=page.id in fed)
        rows = (each.row(kind) for kind, each in worth.items())
        print(f"{name}\n\n{HEADER}", *rows, "", sep="\n", flush=True)


def parser() -> argparse.ArgumentParser:
    """Build the parser of the command line."""
    top = command_line.Parser(prog=PROGRAM, description="What texts of feeds and pages are worth.")
    command_line.add_data(top)
    top.add_argument("--sets", nargs="+", default=SETS, metavar="NAME", help="labelled sets")
    top.add_argument("--limit", type=int, metavar="N", help="so many pages of each set, evenly")
    top.set_defaults(perform=lambda options, _: report(options.data, options.sets, options.limit))
    return top


if __name__ == "__main__":
    raise SystemExit(command_line.run(parser()))
