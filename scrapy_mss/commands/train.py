"""``scrapy mss train``: a model from stored pages and wrappers."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_mss.cli import CommandError, print_line
from scrapy_mss.commands.base import Action, counted, existing_path
from scrapy_mss.extractor import Extractor
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import FileStore
from scrapy_mss.stored_pages import Source, StoredPage
from scrapy_mss.wrappers import Registry, label, load_wrappers

if TYPE_CHECKING:
    from scrapy.commands import ScrapyCommand


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "sources",
        nargs="+",
        type=existing_path,
        metavar="SOURCE",
        help="JSON lines with url and html (.jsonl, .gz, .xz), a WARC file, or a folder of HTML "
        "files that name their address",
    )
    parser.add_argument(
        "-w", "--wrappers", action="append", required=True, metavar="RULES", help="as MSS_WRAPPERS"
    )
    parser.add_argument(
        "-m", "--model", type=Path, required=True, help="the model file, made or added to"
    )


def perform(options: argparse.Namespace, command: ScrapyCommand) -> int:
    wrappers = load_wrappers(options.wrappers)
    store = FileStore(options.model, DEFAULT)
    _check_readable(store)
    learned = Model(DEFAULT)
    refused: Counter[str] = Counter()
    for page in counted(_pages(options.sources), "pages"):
        reason = learn(learned, wrappers, page)
        if reason:
            refused[reason] += 1
    if not learned.bayes.pages:
        why = ", ".join(f"{count} {reason}" for reason, count in refused.most_common())
        raise CommandError(f"not one page could be learned: {why or 'there were none'}")
    try:
        merged = store.add(learned)
    except OSError as error:
        raise CommandError(f"{options.model}: cannot be written: {error}") from error
    in_all = merged.bayes.pages
    print_line(f"{options.model}: learned {learned.bayes.pages:,} pages, {in_all:,} in all")
    for reason, count in refused.most_common():
        print(f"  {count:,} pages not learned: {reason}")
    return 0


def _check_readable(store: FileStore) -> None:
    """Find a file that cannot be added to before the work."""
    try:
        store.load()
    except OSError as error:
        raise CommandError(f"{store.path}: the model cannot be read: {error.strerror}") from error


def learn(model: Model, wrappers: Registry, page: StoredPage) -> str:
    """Learn one page; why it was not learned, or nothing."""
    wrapper = wrappers.find(page.url)
    if wrapper is None:
        return "no wrapper"
    labelling = label(wrapper, page.html, tokenize(page.html))
    if labelling.reason is not None:
        return labelling.reason.value
    rejection = Extractor(model).learn(labelling.tokens, labelling.inside)
    return rejection.value if rejection else ""


def _pages(paths: list[Path]) -> Iterator[StoredPage]:
    for path in paths:
        source = Source(path)
        yield from source
        if source.skipped.count:
            count, first = source.skipped.count, source.skipped.first
            print_line(f"{path}: skipped {count} records; the first: {first}", sys.stderr)


ACTION = Action(
    "train",
    "a model from stored pages and wrappers",
    "Label stored pages by wrappers and add what is learned from them to a model file.",
    "scrapy mss train crawl.warc.gz -w wrappers/ -m news.model",
    add_arguments,
    perform,
)
