"""``python -m scrapy_mss extract page.html``: the article in a page, printed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from scrapy_mss.api import Extractor
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.models.format import ModelError

DESCRIPTION = "Find the article in a web page."


class UsageError(Exception):
    """Something in the arguments or the files they name; the message is for the user."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; 0 if all went well, 2 if the arguments or files are at fault."""
    options = _parser().parse_args(arguments)
    try:
        print(_extract(options))
    except (UsageError, ModelError) as error:
        print(f"scrapy_mss: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m scrapy_mss", description=DESCRIPTION)
    commands = parser.add_subparsers(dest="command", required=True)
    extract = commands.add_parser(
        "extract",
        help="print the article in a page",
        description="Print the article in a page, paragraphs parted by empty lines.",
    )
    extract.add_argument("page", help="an HTML file, or - for standard input")
    extract.add_argument(
        "--model", type=Path, help="a model file; without one: the model in the box"
    )
    extract.add_argument("--html", action="store_true", help="print the article's HTML instead")
    return parser


def _extract(options: argparse.Namespace) -> str:
    source = _decoded(options.page, _read(options.page))
    tokens = tokenize(source)
    if not tokens.is_tag.any():
        raise UsageError(f"{options.page}: no HTML: it holds not one tag")
    found = _load(options.model).extract_tokens(tokens)
    return found.html if options.html else found.text


def _load(path: Path | None) -> Extractor:
    try:
        return Extractor.load(path)
    except OSError as error:
        raise UsageError(f"{path}: the model cannot be read: {error.strerror}") from error


def _read(page: str) -> bytes:
    if page == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(page).read_bytes()
    except OSError as error:
        raise UsageError(f"{page}: the page cannot be read: {error.strerror}") from error


def _decoded(page: str, body: bytes) -> str:
    """The text of an HTML file, by its byte order mark, its own declaration, or as UTF-8."""
    from w3lib.encoding import html_to_unicode

    _, text = html_to_unicode(None, body, default_encoding="utf-8")
    if "\x00" in text[:1024]:
        raise UsageError(f"{page}: no HTML: it is a binary file")
    return text


if __name__ == "__main__":
    sys.exit(main())
