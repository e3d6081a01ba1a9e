"""Libraries that read a page's title, authors and date, ours among them, behind one interface.

A library parses the page by itself before the clock runs; only reading the fields is timed. Nothing
is downloaded: a library that could is told not to.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from time import process_time
from typing import Any, Final, NamedTuple

from research.bench.timing import parse_milliseconds
from research.datasets.pages import LabelledPage
from research.errors import require
from scrapy_mss import metadata
from scrapy_mss.markup.tokenizer import tokenize

_PURPOSE: Final = "the comparison (or choose --libraries scrapy-mss)"


class Answer(NamedTuple):
    """What a library reports, and how long it took with the tree at hand."""

    title: str
    authors: Sequence[str]
    date: str
    ms: float
    unit: float


Fields = tuple[str | None, Sequence[str], str | None]


class Library(NamedTuple):
    """*parse* makes a tree of a page, *read* asks the tree and its address; only it is timed."""

    name: str
    parse: Callable[[str], Any]
    read: Callable[[Any, str | None], Fields]


def _ours() -> Library:
    def read(tokens: Any, url: str | None) -> Fields:  # noqa: ANN401 - as all libraries have it
        found = metadata.read_tokens(tokens, url).values
        return found.get("title"), found.get("authors", []), found.get("published")

    return Library("scrapy-mss", tokenize, read)


def _trafilatura() -> Library:
    load = require("trafilatura", _PURPOSE).load_html
    extract = require("trafilatura.metadata", _PURPOSE).extract_metadata

    def read(tree: Any, url: str | None) -> Fields:  # noqa: ANN401 - lxml's tree
        found = extract(tree, default_url=url)
        return found.title, (found.author or "").split(";"), found.date

    return Library("trafilatura", load, read)


def _newspaper4k() -> Library:
    parsers = require("newspaper.parsers", _PURPOSE)
    extractors = require("newspaper.extractors", _PURPOSE)
    settings = require("newspaper.configuration", _PURPOSE).Configuration()
    settings.fetch_images = False

    def read(tree: Any, url: str | None) -> Fields:  # noqa: ANN401 - lxml's tree
        extractor = extractors.ContentExtractor(settings)
        title, authors = extractor.get_title(tree), extractor.get_authors(tree)
        extractor.get_metadata(url or "", tree)
        date = extractor.get_publishing_date(url or "", tree)
        return title, authors, date.isoformat() if date else None

    return Library("newspaper4k", parsers.fromstring, read)


LIBRARIES: Final[Mapping[str, Callable[[], Library]]] = {
    "scrapy-mss": _ours,
    "trafilatura": _trafilatura,
    "newspaper4k": _newspaper4k,
}


def ask(library: Library, page: LabelledPage) -> Answer:
    """What *library* reports of *page*; whatever it raises is an empty answer."""
    unit = parse_milliseconds(page.source, process_time) or 0.0
    start = process_time()
    try:
        tree = library.parse(page.html)
        start = process_time()
        title, authors, date = library.read(tree, page.url)
    except Exception as error:  # noqa: BLE001 - the page is the library's failure
        print(f"{library.name}: {page.url}: {type(error).__name__}: {error}", file=sys.stderr)
        title, authors, date = None, (), None
    return Answer(title or "", authors, date or "", (process_time() - start) * 1000, unit)
