"""``scrapy mss train``: train a model on stored pages that wrappers label.

Labelling a page and counting its features depend only on the page, so worker processes can do it.
The counts are added here, in page order, so the model is the same, bit for bit, for any number of
processes.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import chain

from scrapy_mss import settings
from scrapy_mss.commands import CommandError, MssCommand, print_line
from scrapy_mss.commands.base import (
    Action,
    counted,
    existing_path,
    is_store,
    kept_model,
    positive,
    store_name,
    stored,
)
from scrapy_mss.crawl.pool import NoWorkerError, WorkerPool
from scrapy_mss.crawl.processes import can_have_workers
from scrapy_mss.crawl.wire import PageAnswer, PageRequest
from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.models.files import with_bundled
from scrapy_mss.models.model import Example, Model
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.wrappers import Registry, Wrapper, load_wrappers
from scrapy_mss.wrappers.reading import ALREADY_LEARNED, NO_WRAPPER, example_on, learn


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
    parser.add_argument(
        "-p",
        "--processes",
        type=positive,
        default=0,
        metavar="N",
        help="number of worker processes that label pages, limited by MSS_TIMEOUT and to "
        "1 GB of memory; default: none, without limits. The model is the same",
    )


def perform(options: argparse.Namespace, command: MssCommand) -> int:
    wrappers = load_wrappers(options.wrappers)
    kept = kept_model(options.model)
    shown = kept.name if is_store(options.model) else options.model
    before = kept.load()  # what cannot be added to fails before the work
    model = with_bundled(before)
    learned = Model(DEFAULT)
    rejected: Counter[str] = Counter()
    pages = counted(chain.from_iterable(map(stored, options.sources)), "pages")
    if options.processes:
        limits = replace(settings.read(command.settings), workers=options.processes)
        examples = _by_processes(pages, wrappers, model, limits)
    else:
        examples = (example_on(page, wrappers, model) for page in pages)
    for example in examples:
        reason = learn(example, before, learned)
        if reason:
            rejected[reason] += 1
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


def _by_processes(
    pages: Iterable[StoredPage], wrappers: Registry, model: Model, limits: settings.Options
) -> Iterator[Example | str]:
    """The same for all *pages*, in their order, by the processes of *limits*."""
    if not can_have_workers():
        raise CommandError("--processes needs POSIX; leave it out")
    requests = ((None, _labelling(page, wrappers.find(page.url))) for page in pages)
    with closing(WorkerPool(model, limits)) as pool:
        try:
            for _, answer in pool.in_order(requests):
                yield NO_WRAPPER if answer is None else _example_in(answer)
        except NoWorkerError as error:
            message = "no process can be started that labels pages; leave --processes out"
            raise CommandError(message) from error


def _labelling(page: StoredPage, wrapper: Wrapper | None) -> PageRequest | None:
    if wrapper is None:
        return None
    return PageRequest(page.html, page.url, wrapper, example=True, article=False)


def _example_in(answer: PageAnswer) -> Example | str:
    if answer.labels is not None and answer.labels.reason is not None:
        return answer.labels.reason.value
    if isinstance(answer.example, Example):
        return answer.example
    return answer.example.value if answer.example else answer.failure


ACTION = Action(
    "Label stored pages with wrappers, learn from them, and add the counts to a model.",
    "scrapy mss train crawl.warc.gz -w wrappers/ -m news.model",
    add_arguments,
    perform,
)
