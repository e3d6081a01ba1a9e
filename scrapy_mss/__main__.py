"""``python -m scrapy_mss extract page.html``: the article in a page, printed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from scrapy_mss import Extractor
from scrapy_mss.blocks.page import Page
from scrapy_mss.commands.cli import (
    EXIT_CODES,
    GOOD,
    NOT_FOUND,
    CommandError,
    OneLineParser,
    guarded,
    print_line,
    print_text,
)
from scrapy_mss.files.charsets import decoded
from scrapy_mss.files.untrusted import LARGEST_PAGE, read_regular

PROGRAM = "python -m scrapy_mss"
DESCRIPTION = "Find the article in a web page."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code."""
    options = _parser().parse_args(arguments)
    return guarded(f"{PROGRAM} {options.command}", partial(_extract, options))


def _parser() -> argparse.ArgumentParser:
    parser = OneLineParser(prog=PROGRAM, description=DESCRIPTION)
    commands = parser.add_subparsers(dest="command", required=True)
    extract = commands.add_parser(
        "extract",
        help="print the article in a page",
        description="Print the article in a page, with blank lines between paragraphs.",
        epilog=EXIT_CODES,
    )
    extract.add_argument("page", help="an HTML file, or - for standard input")
    extract.add_argument("--model", type=Path, help="a model file; default: the bundled model")
    extract.add_argument("--html", action="store_true", help="print the article's HTML instead")
    return parser


def _extract(options: argparse.Namespace) -> int:
    source = _decoded(options.page, _read(options.page))
    extractor = _load(options.model)
    page = Page.of(source, extractor.profile.stem)
    if not page.tokens.is_tag.any():
        raise CommandError(f"{options.page}: expected HTML, got a text without a tag")
    extraction = extractor.extract_page(page)
    if not extraction.text:
        print_line(f"{PROGRAM} extract: {options.page}: no article found", sys.stderr)
        return NOT_FOUND
    print_text(extraction.html if options.html else extraction.text)
    return GOOD


def _load(path: Path | None) -> Extractor:
    try:
        return Extractor(path)
    except OSError as error:
        raise CommandError(f"{path}: the model cannot be read: {error.strerror}") from error


def _read(page: str) -> bytes:
    if page == "-":
        body = sys.stdin.buffer.read(LARGEST_PAGE + 1)
        if len(body) > LARGEST_PAGE:
            raise CommandError(f"{page}: expected a page of at most {LARGEST_PAGE:,} bytes")
        return body
    try:
        return read_regular(page, LARGEST_PAGE)
    except OSError as error:
        raise CommandError(f"{page}: the page cannot be read: {error.strerror}") from error


def _decoded(page: str, body: bytes) -> str:
    text = decoded(body)
    if "\x00" in text[:1024]:
        raise CommandError(f"{page}: expected HTML, got a binary file")
    return text


if __name__ == "__main__":
    sys.exit(main())
