"""Label the test pages of wrappers.

Report which pages are labelled, and which fields select nothing. Exit code 1 if a body, title,
authors, date or phrase is missing.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from itertools import chain
from pathlib import Path

from scrapy.http import Response, TextResponse

from scrapy_mss.commands import GOOD, NOT_FOUND, CommandError, MssCommand, print_line
from scrapy_mss.commands.base import (
    add_model_arguments,
    chosen_extractor,
    counted,
    existing_path,
    stored,
)
from scrapy_mss.commands.fetching import checked_address, crawl, print_failure
from scrapy_mss.wrappers import load_wrappers
from scrapy_mss.wrappers.reading import LABELLED, NO_PAGE, Outcome, checked

EXAMPLE = "scrapy mss check wrappers/"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("wrappers", nargs="+", metavar="RULES", help="wrappers, as in MSS_WRAPPERS")
    parser.add_argument(
        "-p",
        "--pages",
        action="append",
        type=existing_path,
        metavar="SOURCE",
        help="read the test pages from here instead of the network; same sources as train",
    )
    add_model_arguments(parser)


def perform(options: argparse.Namespace, command: MssCommand) -> int:
    wrappers = load_wrappers(options.wrappers)
    tests = {example.url for wrapper in wrappers for example in wrapper.tests}
    if not tests:
        raise CommandError("none of the wrappers has a test page; add some under the key 'tests'")
    extractor = chosen_extractor(options, command)
    outcomes: list[Outcome] = []

    def take(url: str, html: str) -> None:
        outcomes.extend(checked(wrappers, url, html, extractor))

    if not options.pages:
        tests = {checked_address(url) for url in tests}
    seen = _stored(options.pages, tests, take) if options.pages else _fetched(tests, take, command)
    for wrapper in wrappers:
        left = (example.url for example in wrapper.tests if example.url not in seen)
        outcomes.extend(Outcome(wrapper.id, url, NO_PAGE) for url in left)
    for outcome in outcomes:
        print_line(_line(outcome))
    good = sum(outcome.good for outcome in outcomes)
    print_line(f"{good} of {len(outcomes)} test pages are labelled as expected")
    return GOOD if good == len(outcomes) else NOT_FOUND


def _line(outcome: Outcome) -> str:
    parts = ["ok  " if outcome.good else "FAIL", outcome.wrapper, outcome.url, _result(outcome)]
    parts += [f"missing {text!r}" for text in outcome.missing]
    return "  ".join(parts)


def _result(outcome: Outcome) -> str:
    if outcome.status != LABELLED:
        return outcome.status
    missed = f", nothing for {', '.join(outcome.missed)}" if outcome.missed else ""
    return f"{outcome.status}, {outcome.words:,} words{missed}"


def _stored(paths: list[Path], tests: set[str], take: Callable[[str, str], None]) -> set[str]:
    seen = set()
    for page in counted(chain.from_iterable(map(stored, paths)), "pages"):
        if page.url in tests and page.url not in seen:
            seen.add(page.url)
            take(page.url, page.html)
    return seen


def _fetched(tests: set[str], take: Callable[[str, str], None], command: MssCommand) -> set[str]:
    seen: set[str] = set()

    def taken(url: str, response: Response) -> None:
        if isinstance(response, TextResponse):
            seen.add(url)
            take(url, response.text)

    failed = partial(print_failure, "check")
    settings = {"MSS_ENABLED": False}  # a check does not train
    crawl(command, settings, addresses=sorted(tests), take=taken, failed=failed)
    return seen
