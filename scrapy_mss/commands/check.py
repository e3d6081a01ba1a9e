"""``scrapy mss check``: do wrappers still match the pages that they were written for?"""

from __future__ import annotations

import argparse
import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.http import Response, TextResponse

from scrapy_mss.cli import GOOD, NOT_FOUND, CommandError, printable
from scrapy_mss.commands.base import Action, counted, existing_path
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.models.store import write_atomically
from scrapy_mss.stored_pages import Source
from scrapy_mss.wrappers import Registry, label, load_wrappers

if TYPE_CHECKING:
    from scrapy.commands import ScrapyCommand

NO_PAGE = "no page"
LABELLED = "labelled"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one wrapper made of one of its test pages."""

    wrapper: str
    url: str
    status: str
    words: int = 0
    missing: tuple[str, ...] = ()

    @property
    def good(self) -> bool:
        return self.status == LABELLED and not self.missing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("wrappers", nargs="+", metavar="RULES", help="wrappers, as in MSS_WRAPPERS")
    parser.add_argument(
        "-p",
        "--pages",
        action="append",
        type=existing_path,
        metavar="SOURCE",
        help="read the test pages from here instead of the network; sources as in train",
    )
    parser.add_argument(
        "--snapshot",
        type=Path,
        metavar="FILE",
        help="compare with the results in this file, then replace them by the new ones",
    )


def perform(options: argparse.Namespace, command: ScrapyCommand) -> int:
    wrappers = load_wrappers(options.wrappers)
    tests = {example.url for wrapper in wrappers for example in wrapper.tests}
    if not tests:
        raise CommandError("none of the wrappers has a test page; add some under the key 'tests'")
    before = _read(options.snapshot) if options.snapshot else {}
    outcomes: list[Outcome] = []

    def take(url: str, html: str) -> None:
        outcomes.extend(_checked(wrappers, url, html))

    seen = _stored(options.pages, tests, take) if options.pages else _fetched(tests, take, command)
    for wrapper in wrappers:
        left = (example.url for example in wrapper.tests if example.url not in seen)
        outcomes.extend(Outcome(wrapper.id, url, NO_PAGE) for url in left)
    for outcome in outcomes:
        print(printable(_line(outcome, before.get((outcome.wrapper, outcome.url)))))
    good = sum(outcome.good for outcome in outcomes)
    print(f"{good} of {len(outcomes)} test pages are labelled as expected")
    if options.snapshot:
        rows = json.dumps([asdict(outcome) for outcome in outcomes], indent=1)
        write_atomically(options.snapshot, f"{rows}\n".encode())
    return GOOD if good == len(outcomes) else NOT_FOUND


def _checked(wrappers: Registry, url: str, html: str) -> Iterator[Outcome]:
    tokens = tokenize(html)
    for wrapper in wrappers:
        for example in wrapper.tests:
            if example.url == url:
                found = label(wrapper, html, tokens)
                status = found.reason.value if found.reason else LABELLED
                words = int((found.inside & tokens.is_word).sum())
                missing = tuple(part for part in example.contains if part not in found.text)
                yield Outcome(wrapper.id, url, status, words, missing)


def _line(outcome: Outcome, before: Outcome | None) -> str:
    parts = ["ok  " if outcome.good else "FAIL", outcome.wrapper, outcome.url, outcome.status]
    if outcome.status == LABELLED:
        parts.append(f"{outcome.words:,} words")
    parts += [f"missing {text!r}" for text in outcome.missing]
    if before and (before.status, before.words) != (outcome.status, outcome.words):
        parts.append(f"(before: {before.status}, {before.words:,} words)")
    return "  ".join(parts)


def _stored(paths: list[Path], tests: set[str], take: Callable[[str, str], None]) -> set[str]:
    seen = set()
    for path in paths:
        for page in counted(Source(path), "pages"):
            if page.url in tests and page.url not in seen:
                seen.add(page.url)
                take(page.url, page.html)
    return seen


class TestPageSpider(Spider):
    """Fetches test pages and passes them on."""

    name = "mss-check"
    tests: list[str]
    take: Callable[[str, str], None]

    async def start(self) -> AsyncIterator[Any]:
        for url in self.tests:
            yield Request(url, dont_filter=True, cb_kwargs={"asked": url})

    def parse(self, response: Response, asked: str = "", **_: Any) -> None:
        """Pass the page on under the URL that was requested."""
        if isinstance(response, TextResponse):
            self.take(asked, response.text)


def _fetched(tests: set[str], take: Callable[[str, str], None], command: ScrapyCommand) -> set[str]:
    process = command.crawler_process
    if process is None:
        raise CommandError(
            "URLs cannot be fetched: there is no crawler process; give stored pages with --pages"
        )
    seen: set[str] = set()

    def taken(url: str, html: str) -> None:
        seen.add(url)
        take(url, html)

    process.settings.set("MSS_ENABLED", value=False, priority="cmdline")  # a check does not train
    process.crawl(TestPageSpider, tests=sorted(tests), take=taken)
    process.start()
    return seen


def _read(path: Path) -> dict[tuple[str, str], Outcome]:
    """The outcomes of an earlier check; none if there is no file yet."""
    if not path.exists():
        return {}
    try:
        rows = [Outcome(**row) for row in json.loads(path.read_bytes())]
    except (OSError, ValueError, TypeError) as error:
        raise CommandError(
            f"{path}: expected a file that --snapshot has written: {error}"
        ) from error
    return {(row.wrapper, row.url): row for row in rows}


ACTION = Action(
    "check",
    "check that wrappers still match their test pages",
    "Label the test pages of wrappers; report which are labelled and what has changed.",
    "scrapy mss check wrappers/ --snapshot wrappers.json",
    add_arguments,
    perform,
)
