"""Infer a rule for a site from some of its pages, without labels.

Print it as a file for MSS_WRAPPERS. Standard error shows its confidence, the pages that were
excluded, and those on which rule and model disagree. Exit code 1 if no rule is good enough, or if
one is not to be replaced.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from scrapy_mss.commands import GOOD, NOT_FOUND, CommandError, MssCommand, print_line, print_text
from scrapy_mss.commands.base import (
    add_model_arguments,
    chosen_extractor,
    existing_path,
    known_site,
    writing,
)
from scrapy_mss.commands.fetching import gathered, print_failure
from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.files.untrusted import printable, read_regular
from scrapy_mss.models.files import write_atomically
from scrapy_mss.suggest import MAX_PAGES, NoRuleError, Suggestion, of_one_site, suggest
from scrapy_mss.suggest.readings import PageAgreement
from scrapy_mss.wrappers import Registry, Wrapper, load_wrappers
from scrapy_mss.wrappers.registry import LARGEST_FILE
from scrapy_mss.wrappers.schema import difference, file_of, replaced

MAX_SHOWN: Final = 10  # pages with what a rule selects, before it is replaced
MAX_END: Final = 60  # characters of a text, at its beginning and at its end
MAX_LISTED: Final = 20  # pages on which rule and model disagree
DISAGREE: Final = 0.9  # the agreement below which a page is worth a look

EXAMPLE = "scrapy mss suggest crawl.warc.gz -o rules/example.com.yaml"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "pages",
        nargs="+",
        metavar="URL|SOURCE",
        help="a URL, or stored pages: JSON lines with url and html (.jsonl, .gz, .xz), a WARC "
        "file, an HTML file with a canonical URL or a folder of such files; a single URL is "
        "fetched together with pages of the site that it links to, the likeliest articles first; "
        f"at most {MAX_PAGES} pages are read",
    )
    outputs = parser.add_mutually_exclusive_group()
    outputs.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="the file for the rule; default: print it"
    )
    outputs.add_argument(
        "--replace",
        type=existing_path,
        metavar="FILE",
        help="put the rule in the place of the one in this file that is for the pages, after "
        "showing what changes and asking",
    )
    parser.add_argument("--yes", action="store_true", help="do not ask")
    add_model_arguments(parser)


def perform(options: argparse.Namespace, command: MssCommand) -> int:
    extractor = chosen_extractor(options, command)
    rules = load_wrappers(options.replace) if options.replace else None
    is_alone = len(options.pages) == 1  # as the front page of a site, or one article
    most = MAX_PAGES - 1 if is_alone else 0
    gathering = gathered(options.pages, command, partial(print_failure, "suggest"), most)
    pages = list(islice(gathering, MAX_PAGES))
    old = None if rules is None else _used(rules, pages, options.replace)
    if rules is not None:
        pages = [page for page in pages if rules.find(page.url) is old]
    try:
        _, of_site = of_one_site(pages)
        found = suggest(pages, extractor, known_site(options, command, of_site[0].url), old)
    except NoRuleError as error:
        print_line(f"scrapy mss suggest: {error}", sys.stderr)
        return NOT_FOUND
    if options.output and old is None:  # where that fails, it is all that there is to say
        with writing(options.output):
            write_atomically(options.output, found.yaml.encode())
    for line in _verdict(found):
        print_line(line, sys.stderr)
    if old is not None:
        return _replace(options, found, old)
    if not options.output:
        print_text(found.yaml)
    return GOOD


def _used(rules: Registry, pages: list[StoredPage], path: Path) -> Wrapper:
    """Which of the *rules* in the file at *path* is for most of *pages*."""
    used = Counter(rule for page in pages if (rule := rules.find(page.url)))
    if not used:
        raise CommandError(f"{path}: no rule is for any of the {len(pages)} pages")
    return used.most_common(1)[0][0]


def _replace(options: argparse.Namespace, found: Suggestion, old: Wrapper) -> int:
    """Show what changes in the file of *old*, and on pages; write it if that is wanted."""
    path = file_of(old)
    read = read_regular(path, LARGEST_FILE)
    before = read.decode("utf-8-sig")
    after = replaced(before, old, found.rule, found.yaml)
    for line in difference(before, after, str(path)):
        print_line(line)
    for page, text in islice(zip(found.pages, found.before, strict=True), MAX_SHOWN):
        print_line(page.url)
        print_line(f"  before  {_shortly(text)}")
        print_line(f"  now     {_shortly(page.rule_text)}")
    rules = shlex.quote(str(path.parent))
    print_line(f"scrapy mss workbench {shlex.join(options.pages)} -r {rules} shows the pages")
    if not options.yes:
        print(printable(f"Replace the rule in {path}? [y/N] "), end="", flush=True)
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            return NOT_FOUND
    if read_regular(path, LARGEST_FILE) != read:
        raise CommandError(f"{path} was changed meanwhile, and is left so; run the command again")
    with writing(path):
        write_atomically(path, after.encode())
    return GOOD


def _shortly(text: str) -> str:
    line = " ".join(text.split())
    if len(line) > 2 * MAX_END:
        line = f"{line[:MAX_END]} … {line[-MAX_END:]}"
    return f"{len(text.split()):,} words: {line}" if text else "nothing"


def _verdict(found: Suggestion) -> Iterator[str]:
    """What a person should know before the rule is used."""
    articles = [page for page in found.pages if page.model_text]
    matched = sum(page.matched for page in articles)
    fields = (f"{name} {confidence:.2f}" for name, confidence in found.fields.items())
    yield (
        f"confidence {found.confidence:.2f}; matches {matched} of {len(articles)} articles; "
        f"fields: {', '.join(fields) or 'those of the metadata'}"
    )
    for url, reason in found.left_out[:MAX_LISTED]:
        yield f"not used  {url}  {reason}"
    differing = sorted(
        (page for page in found.pages if page.agreement < DISAGREE),
        key=lambda page: page.agreement,
    )
    for page in differing[:MAX_LISTED]:
        yield f"differs  {page.url}  {_difference(page)}"


def _difference(page: PageAgreement) -> str:
    if not page.matched:
        return "the rule selects nothing, the model finds an article"
    if not page.model_text:
        return "the rule selects text, the model finds no article"
    rule, model = (len(text.split()) for text in (page.rule_text, page.model_text))
    return f"agreement {page.agreement:.2f}: {rule:,} words by the rule, {model:,} by the model"
