"""Write an HTML page with the daily counts of each site, the worst sites first.

Print when each site of MSS_SITES last answered, its last error, and the alarms: sites that do not
answer, have nothing new, or whose quality has declined.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Final

from scrapy_mss import settings
from scrapy_mss.commands import GOOD, NOT_FOUND, CommandError, MssCommand, print_line
from scrapy_mss.commands.base import add_store_argument, chosen_store, writing
from scrapy_mss.crawl.site_quality import this_hour
from scrapy_mss.models.files import write_atomically
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import StoredModel
from scrapy_mss.pages.addresses import site_of, site_of_host
from scrapy_mss.quality.alarms import hour_text
from scrapy_mss.quality.counts import ARTICLES
from scrapy_mss.quality.page import page
from scrapy_mss.quality.report import Report, SiteReport, as_json, report_of
from scrapy_mss.quality.store import QualityStore
from scrapy_mss.settings import listed
from scrapy_mss.spiders.site_lists import SiteListError, sites_of
from scrapy_mss.wrappers import WrapperError, load_wrappers
from scrapy_mss.wrappers.schema import file_of

WITH_ALARMS: Final = 1
CAUSES: Final = 3  # of loss, in a line
PAGE: Final = Path("mss-report.html")

EXAMPLE = "scrapy mss report -o quality.html"
EXIT_CODES = (
    "Exit codes: 0 if there is no alarm, 1 if there is one or if there are no pages for\n"
    "--pages, 2 for invalid arguments or files, or if nothing has been counted yet."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help=f"the file to write; default: {PAGE}, or standard output for JSON",
    )
    parser.add_argument("--json", action="store_true", help="write JSON instead of HTML")
    parser.add_argument(
        "--pages",
        type=_json_lines,
        metavar="FILE",
        help="instead of a report, list the pages on which the model was least certain, from 0 to "
        "1, and write them to a .jsonl file, which all commands can read; crawls keep them with "
        "MSS_REPORT = 'pages'",
    )
    add_store_argument(parser)


def _json_lines(text: str) -> Path:
    if not text.endswith(".jsonl"):
        raise argparse.ArgumentTypeError(f"expected a file name that ends in .jsonl, got {text!r}")
    return Path(text)


def perform(options: argparse.Namespace, command: MssCommand) -> int:
    if options.pages is not None:
        return _write_pages(QualityStore(chosen_store(options.store, command)), options.pages)
    stored = chosen_store(options.store, command)
    try:
        fronts = sites_of(map(str, listed(command.settings.get("MSS_SITES"))))
    except SiteListError as error:
        raise CommandError(str(error)) from error
    lessons = StoredModel(stored, DEFAULT).load().lessons
    found = report_of(stored, this_hour(), dict.fromkeys(map(site_of, fronts)), lessons)
    found = replace(found, rules=_rule_files(command))
    if not any(site.days or site.activity.attempts for site in found.sites):
        raise CommandError(f"{stored.name}: nothing was counted in the last weeks; crawl first")
    target = options.output or (None if options.json else PAGE)
    text = f"{json.dumps(as_json(found), indent=1)}\n" if options.json else page(found)
    if target is None:
        print(text, end="")
    else:
        with writing(target):
            write_atomically(target, text.encode("utf-8", "xmlcharrefreplace"))
        for line in _lines(found, target):
            print_line(line)
    return WITH_ALARMS if found.alarms else GOOD


def _rule_files(command: MssCommand) -> dict[str, str]:
    """The file with the first rule of each site, of those that can be loaded."""
    try:
        rules = load_wrappers(settings.read(command.settings).wrappers)
    except WrapperError:  # which a crawl does not start with
        return {}
    files = ((site_of_host(rule.host), file_of(rule)) for rule in reversed(rules.wrappers))
    return {site: str(path) for site, path in files if path.is_file()}


def _write_pages(store: QualityStore, target: Path) -> int:
    found = store.uncertain()
    if not found:
        print_line(f"{store.name}: no pages; crawl with MSS_REPORT = 'pages'")
        return NOT_FOUND
    lines = [
        json.dumps({"url": each.url, "html": each.html}) + "\n"
        for site in found
        for each in store.uncertain_pages(site)
    ]
    with writing(target):
        write_atomically(target, "".join(lines).encode())
    for each in chain.from_iterable(found.values()):
        print_line(f"{each.certainty:.2f} {each.url}")
    return GOOD


def _lines(found: Report, target: Path) -> Iterator[str]:
    """A table of the sites of the list, the alarms, and where the report is."""
    shown = [site for site in found.sites if site.is_listed]
    heads = ("site", "last success", "lists", "announced", "requested", "articles", "last error")
    rows = [heads, *map(_row, shown)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for row in rows if shown else ():
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()
    yield from chain.from_iterable(map(_losses, shown))
    yield from map(str, found.alarms)
    yield from found.advice
    with_alarms = sum(bool(site.alarms) for site in found.sites)
    yield f"{with_alarms} of {len(found.sites)} sites have alarms; the report is {target.resolve()}"


def _losses(site: SiteReport) -> Iterator[str]:
    """What became of the articles that did not come out, if there are any."""
    found = site.coverage
    causes = [f"{number:,} {fate.name}" for fate, number in found.lost[:CAUSES]]
    if causes:
        such_as = "".join(f", as {url}" for url in found.examples(found.lost[0][0])[:1])
        came = f"{found.articles:,} of {found.due:,} articles came out"
        yield f"{site.site}: {came}; lost: {', '.join(causes)}{such_as}"


def _row(site: SiteReport) -> tuple[str, ...]:
    failed = site.activity.last_failure
    error = "" if failed is None else f"{hour_text(failed)} {site.error}"
    found = site.coverage
    numbers = (site.activity.lists, found.announced, found.requested, site.total[ARTICLES])
    return site.site, site.last_success, *(f"{number:,}" for number in numbers), error
