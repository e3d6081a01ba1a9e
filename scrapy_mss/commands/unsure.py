"""``scrapy mss unsure``: list the pages on which the model was least certain."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from scrapy_mss.commands import GOOD, NOT_FOUND, MssCommand, print_line
from scrapy_mss.commands.base import Action, add_store_argument, chosen_store
from scrapy_mss.models.files import write_atomically
from scrapy_mss.pages.addresses import site_of
from scrapy_mss.quality.uncertain import UncertainStore


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("sites", nargs="*", metavar="SITE", help="only pages of these sites")
    parser.add_argument(
        "-o",
        "--output",
        type=_json_lines,
        metavar="FILE",
        help="write the pages to a .jsonl file, which all commands can read, instead of listing "
        "them",
    )
    add_store_argument(parser)


def _json_lines(text: str) -> Path:
    if not text.endswith(".jsonl"):
        raise argparse.ArgumentTypeError(f"expected a file name that ends in .jsonl, got {text!r}")
    return Path(text)


def perform(options: argparse.Namespace, command: MssCommand) -> int:
    store = UncertainStore(chosen_store(options.store, command))
    found = store.pages()
    wanted = sorted({site_of(each) for each in options.sites} or found)
    known = [site for site in wanted if site in found]
    if not known:
        which = f" of {', '.join(wanted)}" if wanted else ""
        print_line(f"{store.name}: no pages{which}; crawl with MSS_REPORT = 'pages'")
        return NOT_FOUND
    if options.output is not None:
        _write(options.output, store, known)
        return GOOD
    for site in known:
        for page in found[site]:
            print_line(f"{page.certainty:.2f} {page.url}")
    return GOOD


def _write(path: Path, store: UncertainStore, sites: list[str]) -> None:
    lines = [
        json.dumps({"url": page.url, "html": page.html}) + "\n"
        for site in sites
        for page in store.stored(site)
    ]
    write_atomically(path, "".join(lines).encode())
    print_line(f"{path}: wrote {len(lines)} pages")


ACTION = Action(
    "List the pages that crawls with MSS_REPORT = 'pages' have kept, or write them to a file. The\n"
    "list shows the model's certainty, from 0 to 1, and the address, the least certain pages of\n"
    "each site first.",
    "scrapy mss unsure example.com -o pages.jsonl",
    add_arguments,
    perform,
    "Exit codes: 0 if there are pages, 1 if there are none, 2 for invalid arguments\nor files.",
)
