"""``scrapy mss report``: report extraction quality by site, and what has declined."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrapy_mss.cli import GOOD, CommandError, print_line
from scrapy_mss.commands.base import Action, existing_store
from scrapy_mss.crawl.site_quality import today
from scrapy_mss.crawl.stores import quality_store
from scrapy_mss.models.store import write_atomically
from scrapy_mss.quality.page import page
from scrapy_mss.quality.report import as_json, report_of
from scrapy_mss.quality.store import QualityStoreError
from scrapy_mss.server_address import ServerError

if TYPE_CHECKING:
    from scrapy.commands import ScrapyCommand

DECLINED: Final = 1
PAGE: Final = Path("mss-report.html")


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
        "-q",
        "--quality",
        type=existing_store,
        metavar="FILE",
        help="the file or server with the counts; default: the one that a crawl with these "
        "settings uses",
    )


def perform(options: argparse.Namespace, command: ScrapyCommand) -> int:
    assert command.settings is not None
    store = quality_store(options.quality or str(command.settings.get("MSS_QUALITY_FILE") or ""))
    try:
        found = report_of(store, today())
    except (QualityStoreError, ServerError) as error:
        raise CommandError(str(error)) from error
    if not found.sites:
        raise CommandError(f"{store.name}: nothing was counted in the last weeks; crawl first")
    target = options.output or (None if options.json else PAGE)
    text = f"{json.dumps(as_json(found), indent=1)}\n" if options.json else page(found)
    if target is None:
        print(text, end="")
        return DECLINED if found.declined else GOOD
    write_atomically(target, text.encode("utf-8", "xmlcharrefreplace"))
    for figure in found.declined:
        print_line(figure)
    declined = sum(bool(site.declined) for site in found.sites)
    print_line(
        f"{declined} of {len(found.sites)} sites have declined; the report is {target.resolve()}"
    )
    return DECLINED if found.declined else GOOD


ACTION = Action(
    "report",
    "report extraction quality by site, and what has declined",
    "Write an HTML page with the daily counts of each site, the worst sites first, and print\n"
    "the measures that have declined compared with the site's own past.",
    "scrapy mss report -o quality.html",
    add_arguments,
    perform,
    "Exit codes: 0 if nothing has declined, 1 if something has, 2 for invalid arguments\n"
    "or files, or if nothing has been counted yet.",
)
