"""What articles of stored pages have besides their text, and what their language is.

    python -m research.studies.whole_article --data FOLDER --out research/results

The first table counts the articles of each set that have a field, and those whose time of
publication has a zone. The second compares the language that pages declare with that of their text;
the third tells how often the beginning of a text is read otherwise than the whole of it.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from research import command_line
from research.datasets.pages import LabelledPage
from research.datasets.sets import load
from research.errors import require
from scrapy_mss import metadata
from scrapy_mss.article import ModelState, read_article
from scrapy_mss.items import Article
from scrapy_mss.metadata.dates import Moments
from scrapy_mss.metadata.languages import (
    READ,
    detector,
    has_common_words,
    language_by_bytes,
    language_of,
)
from scrapy_mss.models.files import bundled_model, write_atomically
from scrapy_mss.output.media import AUDIO, IMAGE, VIDEO

PROGRAM: Final = "python -m research.studies.whole_article"
SETS: Final = (
    "articles_fundus",
    "articles_rules",
    "articles_manual",
    "articles_wcxb",
    "articles_tools",
    "articles_world",
)
LANGUAGE_COLUMNS: Final = (
    "pages",
    "silent",
    "told by the text",
    "corrected",
    "not asked",
    "of these, another",
)
LENGTHS: Final = (100, 200, READ, 2 * READ)  # characters of a text


def _has(kind: str) -> Callable[[Article], bool]:
    return lambda article: any(each["kind"] == kind for each in article.media)


# Of each column, what is counted.
COLUMNS: Final[dict[str, Callable[[Article], bool]]] = {
    "image": _has(IMAGE),
    "more than the main one": lambda article: len(article.image_urls) > 1,
    "caption": lambda article: any(each["caption"] for each in article.media),
    "video": _has(VIDEO),
    "audio": _has(AUDIO),
    "section": lambda article: bool(article.section),
    "tags": lambda article: bool(article.tags),
    "trail": lambda article: bool(article.breadcrumbs),
    "free or not": lambda article: article.is_accessible_for_free is not None,
    "published": lambda article: bool(article.published),
    "in UTC": lambda article: (article.published or "").endswith("+00:00"),
    "modified": lambda article: bool(article.modified),
}


def fields_row(name: str, articles: Sequence[Article]) -> str:
    """How many of *articles*, of a set, have what a column counts."""
    n = max(len(articles), 1)
    shares = (sum(map(has, articles)) / n for has in COLUMNS.values())
    return f"| `{name}` | {len(articles)} | {' | '.join(f'{share:.0%}' for share in shares)} |"


def fields_table(rows: Iterable[str]) -> str:
    """The first table."""
    head = f"| set | articles | {' | '.join(COLUMNS)} |"
    return "\n".join([head, f"| --- | ---: |{' ---: |' * len(COLUMNS)}", *rows]) + "\n"


def languages(pages: Sequence[LabelledPage], declared: Sequence[str | None]) -> Counter[str]:
    """How the text of *pages* changes what they have *declared*."""
    counts: Counter[str] = Counter()
    for page, named in zip(pages, declared, strict=True):
        found = language_of(page.golds[0], named)
        counts["pages"] += 1
        counts["silent"] += named is None
        counts["told by the text"] += named is None and found is not None
        counts["corrected"] += named is not None and found != named
        read = page.golds[0][:READ]
        if named is not None and has_common_words(read, named):
            counts["not asked"] += 1
            counts["of these, another"] += language_by_bytes(read, named) != named
    return counts


def languages_row(name: str, counts: Counter[str]) -> str:
    """The row of a set in the second table."""
    return f"| `{name}` | {' | '.join(str(counts[each]) for each in LANGUAGE_COLUMNS)} |"


def prefixes(texts: Sequence[str]) -> str:
    """How many of *texts* are read otherwise by their beginnings than by the whole."""
    identifier = detector()
    assert identifier is not None
    whole = [identifier.classify(text)[0] for text in texts]
    lines = []
    for length in LENGTHS:
        other = sum(
            identifier.classify(text[:length])[0] != found
            for text, found in zip(texts, whole, strict=True)
        )
        lines.append(f"| {length} | {other} |")
    head = f"| characters | of {len(texts)} texts, read otherwise than the whole |"
    return "\n".join([head, "| ---: | ---: |", *lines]) + "\n"


def earlier_changes(pages: Sequence[LabelledPage]) -> Counter[str]:
    """How many pages date their change before their publication."""
    counts: Counter[str] = Counter()
    for page in pages:
        found = metadata.read_html(page.html, page.url).values
        moments = Moments(found.get("published"), found.get("modified"))
        counts["both"] += all(moments)
        counts["earlier"] += bool(moments.modified) and moments.settled().modified is None
    return counts


def measured(folder: Path) -> str:
    """All tables, of the sets in *folder*."""
    state = ModelState.of(bundled_model())
    fields, spoken = [], []
    texts: list[str] = []
    earlier: Counter[str] = Counter()
    for name in SETS:
        pages = load(f"jsonl:{folder / name}.jsonl.xz").pages
        results = (read_article(page.html, page.url or "", state).article for page in pages)
        articles = [article for article in results if article is not None]
        fields.append(fields_row(name, articles))
        declared = [
            metadata.read_html(page.html, page.url).values.get("language") for page in pages
        ]
        spoken.append(languages_row(name, languages(pages, declared)))
        texts += (page.golds[0] for page in pages if len(page.golds[0]) >= READ)
        earlier += earlier_changes(pages)
        print(fields[-1], spoken[-1], sep="\n", flush=True)
    both, before = earlier["both"], earlier["earlier"]
    sentence = f"Of {both} pages with both dates {before} have a change before the publication."
    rule = "| --- |" + " ---: |" * len(LANGUAGE_COLUMNS)
    head = f"| set | {' | '.join(LANGUAGE_COLUMNS)} |\n{rule}"
    parts = (fields_table(fields), sentence + "\n", "\n".join([head, *spoken, ""]), prefixes(texts))
    return "\n".join(parts)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line *arguments*; returns the exit code."""
    what = "What articles have besides their text."
    return command_line.run_study(PROGRAM, what, run, arguments)


def run(options: argparse.Namespace, _command: str) -> None:
    """Write the tables."""
    require("py3langid", "the language of a text")
    found = measured(options.data)
    print(found)
    write_atomically(options.out / "whole_article.md", found.encode())


if __name__ == "__main__":
    raise SystemExit(main())
