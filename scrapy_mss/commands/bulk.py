"""Write a row per page of archives to Parquet files: the article, or why there is none.

To resume a killed run, repeat the command.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from scrapy_mss.commands import CommandError, MssCommand, print_line
from scrapy_mss.commands.base import (
    add_model_arguments,
    is_store,
    learned_model,
    local_path,
    number,
)
from scrapy_mss.crawl.processes import NEEDS, can_have_workers
from scrapy_mss.models.files import write_model
from scrapy_mss.quality.report import plural
from scrapy_mss.settings import SETTINGS

if TYPE_CHECKING:
    from scrapy_mss.bulk.run import Summary

MEGABYTE = 2**20
NEEDED = ("fastwarc", "pyarrow")
# The settings of the project that say how pages are read.
READING = ("MSS_FIELDS", "MSS_MAX_BODY", "MSS_TIMEOUT")

EXAMPLE = "scrapy mss bulk 'crawl/*.warc.gz' news.parquet -o articles/"
EXIT_CODES = (
    "Exit codes: 0 if everything was read, even if pages have no article, 2 for\n"
    "invalid arguments, files or folders."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "inputs",
        nargs="+",
        metavar="INPUT",
        help="a WARC file, a Parquet file or JSON lines with url and html, or a pattern such as "
        "'crawl/**/*.warc.gz'",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=local_path,
        required=True,
        metavar="FOLDER",
        help="a new folder, or that of a run to resume",
    )
    add_model_arguments(parser)
    parser.add_argument(
        "-p",
        "--processes",
        type=number,
        metavar="N",
        help="number of worker processes; default: one per core",
    )
    parser.add_argument(
        "--part",
        type=number,
        default=64,
        metavar="MB",
        help="approximate megabytes of input per Parquet file; default: 64",
    )


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def perform(options: argparse.Namespace, command: MssCommand) -> int:
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise CommandError(f"{' and '.join(missing)} missing: pip install 'scrapy-mss[bulk]'")
    if not can_have_workers():
        raise CommandError(f"this needs {NEEDS}; `scrapy mss extract` reads the files without")
    from scrapy_mss.bulk.run import Bulk, ManifestError
    from scrapy_mss.bulk.worker_groups import WorkerGroupError, WorkerGroups

    settings: dict[str, Any] = {"model": _model_file(options, command)}
    for name in READING:
        settings[name] = command.settings.get(name, SETTINGS[name].default)
    bulk = Bulk(options.inputs, options.output, settings, options.part * MEGABYTE)
    groups = WorkerGroups(settings, options.processes or cores())
    try:
        with tqdm(unit="B", unit_scale=True, unit_divisor=1000, disable=None) as bar:
            summary = bulk.run(groups, lambda total, done: progress_on(bar, total, done))
    except (WorkerGroupError, ManifestError) as error:
        raise CommandError(str(error)) from error
    _print(options.output, summary)
    return 0


def _model_file(options: argparse.Namespace, command: MssCommand) -> str:
    """The model file to read with, if any.

    That of a store may change meanwhile, and would read pages in two ways: it is written beside the
    results, once.
    """
    from scrapy_mss.bulk.run import MODEL

    if options.bundled:
        return ""
    if options.model and not is_store(options.model):
        return str(Path(options.model).absolute())
    path = options.output.absolute() / MODEL
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_model(path, learned_model(options, command))
    return str(path)


def progress_on(bar: tqdm, total: int, done: int) -> Callable[[int, int], None]:
    """Reports progress on *bar*; the rate and the estimate are of this run alone."""
    bar.reset(total)
    bar.initial = bar.n = done
    pages = 0

    def report(more: int, size: int) -> None:
        nonlocal pages
        pages += more
        rate = pages / max(bar.format_dict["elapsed"], 1e-3)
        bar.set_postfix_str(f"{pages:,} pages, {rate:,.0f} pages/s", refresh=False)
        bar.update(size)

    return report


def _print(folder: Path, summary: Summary) -> None:
    rows = f"{summary.pages:,} pages, {summary.articles:,} articles"
    print_line(f"{folder}: {rows}, in {plural(summary.parts, 'part')}")
    for reason, count in summary.reasons.most_common():
        print_line(f"  {count:,} pages without an article: {reason}")
