"""Fetches the addresses given to a command: a crawl that reports each result or error."""

from __future__ import annotations

import sys
from asyncio import Task
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor
from scrapy.spidermiddlewares.httperror import HttpError
from tqdm import tqdm

from scrapy_mss.commands import CommandError, MssCommand, print_line
from scrapy_mss.commands.base import counted, is_address, stored
from scrapy_mss.downloadermiddlewares import EncodingMiddleware
from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.sites.address_counts import AddressCounts, guess

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

ASKED = "asked"
MULTIPLE_CHOICES = 300  # the first status beyond success
LONGEST_CAUSE = 200  # characters of an exception's message that are worth a line
# A project's middlewares fetch the pages; nothing else is to be done with them.
SETTINGS: dict[str, Any] = {
    "ITEM_PIPELINES": {},
    "FEEDS": {},
    "JOBDIR": None,
    "MSS_ENABLED": False,
}


class FetchSpider(Spider):
    """Asks for addresses; *take* gets what comes, *failed* the reason why nothing does.

    Both get the requested address. A redirect may have led to another one. Of the same host, *most*
    pages that each leads to are asked for, too, those first that look most like articles.
    """

    name = "mss-fetch"
    # What is wrong with an address is an answer of the command, one line and not the log's twenty.
    # The command line's own -L goes before this.
    custom_settings = {"LOG_LEVEL": "CRITICAL"}  # noqa: RUF012 - as the base class has it
    addresses: list[str]
    take: Callable[[str, Response], None]
    failed: Callable[[str, str], None]
    most = 0

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Have pages decoded as in a crawl, also where the add-on is off."""
        super().update_settings(settings)
        name, component = "DOWNLOADER_MIDDLEWARES", EncodingMiddleware
        settings.setdefault_in_component_priority_dict(name, component, component.ORDER)
        # Of a priority that the runner's own defaults do not replace.
        settings.set(name, settings.getdict(name), priority="spider")

    async def start(self) -> AsyncIterator[Any]:
        for address in self.addresses:
            marks = {ASKED: address}
            yield Request(address, errback=self.give_up, dont_filter=True, cb_kwargs=marks)

    def parse(self, response: Response, asked: str = "", **marks: Any) -> Iterator[Request]:
        """Pass the page on, and follow its links if it was asked for by the user.

        No item is yielded: where the add-on is enabled, it makes it.
        """
        if response.status >= MULTIPLE_CHOICES:  # of a project that handles all of them
            self.failed(asked, _status(response))
        else:
            self.take(asked, response)
        if marks or not self.most or not isinstance(response, HtmlResponse):
            return
        host = response.urljoin("/")
        links = {link.url for link in LinkExtractor().extract_links(response)}
        own = [url for url in links if url.startswith(host) and url != response.url]
        nothing = AddressCounts()
        own.sort(key=lambda url: (-guess(url, nothing).probability, url))
        for url in own[: self.most]:
            yield Request(url, errback=self.give_up, cb_kwargs={"asked": url, "followed": True})

    def give_up(self, failure: Failure) -> None:
        error = failure.value
        if isinstance(error, HttpError):
            cause = _status(error.response)
        else:
            cause = " ".join(f"{type(error).__name__}: {error}".split())[:LONGEST_CAUSE]
        self.failed(failure.request.cb_kwargs[ASKED], cause)  # type: ignore[attr-defined]


def print_failure(action: str, asked: str, cause: str) -> None:
    """Print to standard error that an address that *action* has *asked* for is not reachable."""
    print_line(f"scrapy mss {action}: {asked}: not reachable: {cause}", sys.stderr)


def _status(response: Response) -> str:
    return f"HTTP status {response.status}"


def checked_address(address: str) -> str:
    """*address*, if it is one; a `CommandError` otherwise."""
    try:
        host, _ = urlsplit(address).hostname, Request(address)
    except ValueError as error:
        raise CommandError(f"{address}: expected an address: {error}") from error
    if not host:
        raise CommandError(f"{address}: expected an address, but it has no host")
    return address


def gathered(
    sources: list[str],
    command: MssCommand,
    failed: Callable[[str, str], None] | None = None,
    most: int = 0,
) -> Iterator[StoredPage]:
    """The stored pages of all *sources*, then the pages `fetched` at those that are addresses."""
    addresses = [checked_address(source) for source in sources if is_address(source)]
    for source in sources:
        if not is_address(source):
            yield from counted(stored(Path(source)), "pages")
    if addresses:
        yield from fetched(addresses, command, failed, most)


def fetched(
    addresses: list[str],
    command: MssCommand,
    failed: Callable[[str, str], None] | None = None,
    most: int = 0,
) -> list[StoredPage]:
    """The HTML pages at *addresses*, and at *most* addresses that each links to, in a fixed order.

    They are fetched as the project does it, without its pipelines. *failed* gets each address
    without a page, and the reason; without it, it is a `CommandError` if no page comes at all. A
    running count is on standard error if that is a terminal.
    """
    found: dict[str, StoredPage] = {}  # each once, wherever addresses redirect to
    causes: list[str] = []
    give_up = failed or (lambda asked, cause: causes.append(f"{asked}: no page: {cause}"))

    def take(asked: str, response: Response) -> None:
        if isinstance(response, HtmlResponse):
            found[response.url] = StoredPage(response.url, response.text)
            count.update()
        else:
            give_up(asked, f"expected HTML, got {type(response).__name__}")

    with tqdm(unit=" pages", desc="fetched", leave=False, disable=None) as count:
        crawl(command, SETTINGS, addresses=addresses, take=take, failed=give_up, most=most)
    if failed is None and not found:
        raise CommandError(next(iter(causes), f"{addresses[0]}: no page: no response"))
    order = {address: number for number, address in enumerate(addresses)}
    return sorted(found.values(), key=lambda page: (order.get(page.url, len(order)), page.url))


def crawl(
    command: MssCommand,
    changed: Mapping[str, Any],
    handlers: Mapping[object, Any] = MappingProxyType({}),
    **arguments: object,
) -> None:
    """Crawl as *command* with some settings *changed*, and raise what that did not start for.

    The *handlers* are those of signals, the *arguments* those of `FetchSpider`.
    """
    process = command.crawler_process
    if process is None:
        raise CommandError("addresses cannot be fetched here: there is no crawler process")
    for name, value in changed.items():
        process.settings.set(name, value, priority="cmdline")
    crawler = process.create_crawler(FetchSpider)
    for signal, handler in handlers.items():
        crawler.signals.connect(handler, signal)
    errors: list[BaseException] = []
    crawling: Any = process.crawl(crawler, **arguments)
    if isinstance(crawling, Task):
        crawling.add_done_callback(lambda task: errors.extend(filter(None, [task.exception()])))
    else:  # a Deferred
        crawling.addErrback(lambda failure: errors.append(failure.value))
    process.start()
    for error in errors:
        raise _first(error)


def _first(error: BaseException) -> BaseException:
    """What went wrong first: Scrapy 2.13 fails again while it closes an engine not yet made."""
    while error.__context__ is not None and not error.__suppress_context__:
        error = error.__context__
    return error
