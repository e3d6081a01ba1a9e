"""``scrapy mss check``: check that wrappers still match their test pages."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from scrapy.http import Response, TextResponse

from scrapy_mss.commands import GOOD, NOT_FOUND, CommandError, MssCommand, print_line
from scrapy_mss.commands.base import (
    Action,
    add_model_arguments,
    chosen_model,
    counted,
    existing_path,
    extractor_with,
    stored,
)
from scrapy_mss.commands.fetching import (
    FetchSpider,
    checked_address,
    crawler_process,
    print_failure,
    run,
)
from scrapy_mss.files.untrusted import LARGEST_PAGE, read_regular
from scrapy_mss.models.files import write_atomically
from scrapy_mss.wrappers import load_wrappers
from scrapy_mss.wrappers.reading import LABELLED, NO_PAGE, Outcome, checked, snapshot


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
    parser.add_argument(
        "--snapshot",
        type=Path,
        metavar="FILE",
        help="compare with the results in this file, then update it; a failing result does not "
        "replace a passing one",
    )
    add_model_arguments(parser)


def perform(options: argparse.Namespace, command: MssCommand) -> int:
    wrappers = load_wrappers(options.wrappers)
    tests = {example.url for wrapper in wrappers for example in wrapper.tests}
    if not tests:
        raise CommandError("none of the wrappers has a test page; add some under the key 'tests'")
    before = _read(options.snapshot) if options.snapshot else {}
    extractor = extractor_with(chosen_model(options, command))
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
        print_line(_line(outcome, before.get(outcome.key)))
    good = sum(outcome.good for outcome in outcomes)
    print_line(f"{good} of {len(outcomes)} test pages are labelled as expected")
    if options.snapshot:
        write_atomically(options.snapshot, snapshot(_baseline(outcomes, before)))
    return GOOD if good == len(outcomes) else NOT_FOUND


def _baseline(outcomes: list[Outcome], before: dict[tuple[str, str], Outcome]) -> Iterator[Outcome]:
    """What the next check is compared with: the last good outcome, where there was one."""
    for outcome in outcomes:
        earlier = before.get(outcome.key)
        keep = earlier is not None and earlier.good and not outcome.good
        yield earlier if keep and earlier else outcome


def _line(outcome: Outcome, before: Outcome | None) -> str:
    parts = ["ok  " if outcome.good else "FAIL", outcome.wrapper, outcome.url, _result(outcome)]
    parts += [f"missing {text!r}" for text in outcome.missing]
    if before and before.compared != outcome.compared:
        parts.append(f"(before: {_result(before)})")
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
    process = crawler_process(command, {"MSS_ENABLED": False})  # a check does not train
    seen: set[str] = set()

    def taken(url: str, response: Response) -> None:
        if isinstance(response, TextResponse):
            seen.add(url)
            take(url, response.text)

    crawler = process.create_crawler(FetchSpider)
    failed = partial(print_failure, "check")
    run(process, crawler, addresses=sorted(tests), take=taken, failed=failed)
    return seen


def _read(path: Path) -> dict[tuple[str, str], Outcome]:
    """The outcomes of an earlier check; none if there is no file yet."""
    if not path.exists():
        return {}
    try:
        rows = [_outcome(row) for row in json.loads(read_regular(path, LARGEST_PAGE))]
    except (OSError, ValueError, TypeError, RecursionError) as error:
        raise CommandError(
            f"{path}: expected a file that --snapshot has written: {error}"
        ) from error
    return {row.key: row for row in rows}


def _outcome(row: dict[str, Any]) -> Outcome:
    lists = {name: tuple(value) for name, value in row.items() if isinstance(value, list)}
    return Outcome(**row | lists)


ACTION = Action(
    "Label the test pages of wrappers. Report which pages are labelled, which fields select\n"
    "nothing, and what has changed. Exit code 1 if a body, title, authors or date is missing.",
    "scrapy mss check wrappers/ --snapshot wrappers.json",
    add_arguments,
    perform,
)
