"""Label stored pages with wrappers, learn from them, and add the counts to a model."""

from __future__ import annotations

import argparse
from collections import Counter
from itertools import chain

from scrapy_mss.commands import CommandError, MssCommand, print_line
from scrapy_mss.commands.base import (
    counted,
    existing_path,
    is_store,
    kept_model,
    store_name,
    stored,
)
from scrapy_mss.core.labels import Rejection
from scrapy_mss.models.files import with_bundled
from scrapy_mss.models.model import Model, generation_after
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.wrappers import load_wrappers
from scrapy_mss.wrappers.reading import example_on

ALREADY_LEARNED = Rejection.ALREADY_LEARNED.value

EXAMPLE = "scrapy mss train crawl.warc.gz -w wrappers/ -m news.model"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "sources",
        nargs="+",
        type=existing_path,
        metavar="SOURCE",
        help="JSON lines with url and html (.jsonl, .gz, .xz), a WARC file, or a folder of HTML "
        "files that have a canonical URL",
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
        type=store_name,
        required=True,
        help="the model to add to: a file, created if it does not exist, or the folder or "
        "server of a store",
    )


def perform(options: argparse.Namespace, _: MssCommand) -> int:
    wrappers = load_wrappers(options.wrappers)
    kept = kept_model(options.model)
    shown = kept.name if is_store(options.model) else options.model
    before = kept.load()  # what cannot be added to fails before the work
    model = with_bundled(before)
    learned = Model(DEFAULT)
    rejected: Counter[str] = Counter()
    pages = counted(chain.from_iterable(map(stored, options.sources)), "pages")
    for page in pages:
        example = example_on(page, wrappers, model)
        if isinstance(example, str):
            rejected[example] += 1
        elif example.key in before.learned_pages or example.key in learned.learned_pages:
            rejected[ALREADY_LEARNED] += 1
        else:
            learned.add(example, generation_after(before.bayes.pages + learned.bayes.pages))
    if not learned.bayes.pages and not rejected[ALREADY_LEARNED]:
        why = ", ".join(f"{count} {reason}" for reason, count in rejected.most_common())
        raise CommandError(f"no page was learned: {why or 'the sources have no page'}")
    try:
        kept.add(learned)
        in_total = kept.load().bayes.pages
    except OSError as error:
        raise CommandError(f"{shown}: cannot be written: {error}") from error
    print_line(f"{shown}: learned {learned.bayes.pages:,} pages, {in_total:,} in total")
    for reason, count in rejected.most_common():
        print(f"  {count:,} pages not learned: {reason}")
    return 0
