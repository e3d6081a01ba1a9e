"""``scrapy mss train``: learn from stored pages that wrappers label."""

from __future__ import annotations

import argparse
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_mss.cli import CommandError, print_line
from scrapy_mss.commands.base import Action, counted, existing_path, stored
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import FileStore
from scrapy_mss.teaching import ALREADY_LEARNED, learn
from scrapy_mss.wrappers import load_wrappers

if TYPE_CHECKING:
    from scrapy.commands import ScrapyCommand


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "sources",
        nargs="+",
        type=existing_path,
        metavar="SOURCE",
        help="JSON lines with url and html (.jsonl, .gz, .xz), a WARC file, or a folder of HTML "
        "files with a canonical URL",
    )
    parser.add_argument(
        "-w",
        "--wrappers",
        action="append",
        required=True,
        metavar="RULES",
        help="wrappers, as in MSS_WRAPPERS",
    )
    parser.add_argument(
        "-m",
        "--model",
        type=Path,
        required=True,
        help="the model file to add to; it need not exist",
    )


def perform(options: argparse.Namespace, command: ScrapyCommand) -> int:
    wrappers = load_wrappers(options.wrappers)
    store = FileStore(options.model, DEFAULT)
    before = store.load()  # a file that cannot be added to fails before the work
    learned = Model(DEFAULT)
    rejected: Counter[str] = Counter()
    for page in counted(chain.from_iterable(map(stored, options.sources)), "pages"):
        reason = learn(page, wrappers, before, learned)
        if reason:
            rejected[reason] += 1
    if not learned.bayes.pages and not rejected[ALREADY_LEARNED]:
        why = ", ".join(f"{count} {reason}" for reason, count in rejected.most_common())
        raise CommandError(f"no page was learned: {why or 'the sources have no page'}")
    try:
        model, n_twice = store.add(learned)
    except OSError as error:
        raise CommandError(f"{options.model}: cannot be written: {error}") from error
    in_total = model.bayes.pages
    print_line(f"{options.model}: learned {learned.bayes.pages:,} pages, {in_total:,} in total")
    if n_twice:
        print(f"  {n_twice:,} pages count twice: another process learned them meanwhile")
    for reason, count in rejected.most_common():
        print(f"  {count:,} pages not learned: {reason}")
    return 0


ACTION = Action(
    "train",
    "learn from stored pages that wrappers label",
    "Label stored pages with wrappers, learn from them, and add the counts to a model file.",
    "scrapy mss train crawl.warc.gz -w wrappers/ -m news.model",
    add_arguments,
    perform,
)
