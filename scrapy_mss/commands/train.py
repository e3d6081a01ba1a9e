"""``scrapy mss train``: learn from stored pages that wrappers label."""

from __future__ import annotations

import argparse
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_mss.cli import CommandError, print_line
from scrapy_mss.commands.base import Action, counted, existing_path, stored
from scrapy_mss.core.labels import Rejection
from scrapy_mss.extractor import Extractor
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.models.learned_pages import generation_after, page_key
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import FileStore
from scrapy_mss.stored_pages import StoredPage
from scrapy_mss.wrappers import Registry, label, load_wrappers

if TYPE_CHECKING:
    from scrapy.commands import ScrapyCommand


ALREADY_LEARNED = Rejection.ALREADY_LEARNED.value


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


def learn(page: StoredPage, wrappers: Registry, stored: Model, learned: Model) -> str:
    """Add *page* to what was *learned* if it is not in *stored*; the reason if not, else empty."""
    wrapper = wrappers.find(page.url)
    if wrapper is None:
        return "no wrapper"
    labelling = label(wrapper, page.html, tokenize(page.html))
    if labelling.reason is not None:
        return labelling.reason.value
    key = page_key(page.url, labelling.tokens, labelling.inside)
    if key in stored.learned_pages or key in learned.learned_pages:
        return ALREADY_LEARNED
    rejection = Extractor(learned).learn(labelling.tokens, labelling.inside)
    if rejection is not None:
        return rejection.value
    learned.learned_pages.add(key, generation_after(stored.bayes.pages + learned.bayes.pages))
    return ""


ACTION = Action(
    "train",
    "learn from stored pages that wrappers label",
    "Label stored pages with wrappers, learn from them, and add the counts to a model file.",
    "scrapy mss train crawl.warc.gz -w wrappers/ -m news.model",
    add_arguments,
    perform,
)
