"""Edit the rule for a site in the browser.

Start from the suggested rule, click on blocks to include or exclude them, and see the effect on all
pages of the site. The page is served only on this machine and sends nothing anywhere.
"""

from __future__ import annotations

import argparse
import sys
import webbrowser
from functools import partial
from pathlib import Path

from scrapy_mss import settings
from scrapy_mss.commands import GOOD, CommandError, MssCommand, print_line
from scrapy_mss.commands.base import (
    add_model_arguments,
    chosen_extractor,
    is_address,
    number,
)
from scrapy_mss.commands.fetching import gathered
from scrapy_mss.quality.report import plural

RULES = Path("rules")
MOST_PAGES, MOST_ASKED = 40, 400  # of a site; a page takes megabytes while its site is open
LAST_PORT = 65_535

EXAMPLE = "scrapy mss workbench crawl.warc.gz"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "sources",
        nargs="+",
        metavar="URL|SOURCE",
        help="stored pages as in train, or a URL to fetch together with pages that it links to",
    )
    parser.add_argument(
        "-r",
        "--rules",
        type=Path,
        metavar="FOLDER",
        help=f"where to save rules; default: the first folder of MSS_WRAPPERS, or {RULES}",
    )
    parser.add_argument(
        "-n",
        "--pages",
        type=partial(number, most=MOST_ASKED),
        default=MOST_PAGES,
        metavar="NUMBER",
        help=f"maximum number of pages per site, up to {MOST_ASKED}; default: {MOST_PAGES}",
    )
    parser.add_argument(
        "--port",
        type=partial(number, least=0, most=LAST_PORT),
        default=0,
        help="default: a free port",
    )
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    add_model_arguments(parser)


def perform(options: argparse.Namespace, command: MssCommand) -> int:
    try:
        from scrapy_mss.workbench.api import Pages, WorkbenchState
        from scrapy_mss.workbench.serving import serving
    except ImportError as error:
        raise CommandError(
            f"the workbench needs {error.name}: pip install 'scrapy-mss[workbench]'"
        ) from error
    folder = options.rules or _rules_folder(command)
    if folder.exists() and not folder.is_dir():
        raise CommandError(f"{folder}: expected a folder of rules, got a file")
    for source in options.sources:
        if not is_address(source) and not Path(source).exists():
            raise CommandError(
                f"{source}: no such file or folder; to fetch pages of a host: "
                f"scrapy mss workbench https://{source}/"
            )
    pages = Pages(options.pages)
    pages.add(gathered(options.sources, command, most=pages.most))
    if not pages.by_site:
        raise CommandError("the sources have no page with an address")
    extractor = chosen_extractor(options, command)
    state = WorkbenchState(pages, extractor, folder)
    try:
        with serving(state, options.port) as server:
            address = server.origins.address
            n_pages = plural(sum(map(len, pages.by_site.values())), "page")
            n_sites = plural(len(pages.by_site), "site")
            print_line(f"{n_pages} of {n_sites}; rules are saved in {folder.resolve()}")
            print_line(f"The workbench is at {address}  (Ctrl+C ends it)")
            sys.stdout.flush()
            if not options.no_browser:
                webbrowser.open(address)
            server.run()
    except OSError as error:
        raise CommandError(f"port {options.port} of this machine: {error.strerror}") from error
    return GOOD


def _rules_folder(command: MssCommand) -> Path:
    """The first folder among the project's rules, where a crawl finds what is saved."""
    sources = settings.read(command.settings).wrappers
    folders = (Path(each) for each in sources if isinstance(each, str | Path))
    return next((each for each in folders if each.is_dir()), RULES)
