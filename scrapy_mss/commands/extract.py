"""``scrapy mss extract``: print the articles in files and at URLs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from scrapy import Request, Spider, signals
from scrapy.http import Response

from scrapy_mss.article import ModelState, read_article
from scrapy_mss.cli import GOOD, NOT_FOUND, CommandError, model_in, printable
from scrapy_mss.commands.base import Action, counted
from scrapy_mss.models.bundled import bundled_model, with_bundled
from scrapy_mss.models.model import Model
from scrapy_mss.pipelines import NoArticleError
from scrapy_mss.stored_pages import decoded

if TYPE_CHECKING:
    from scrapy.commands import ScrapyCommand

TEXT, JSON = "text", "json"

# A project's wrappers and middlewares stay; its pipelines and feeds are switched off.
SETTINGS: dict[str, Any] = {
    "ADDONS": {"scrapy_mss.Addon": 500},
    "ITEM_PIPELINES": {},
    "FEEDS": {},
    "MSS_ENABLED": True,
    "MSS_TRAIN": False,
    "MSS_EXTRACTOR": "",
    "MSS_EMIT": "articles",
    "MSS_ITEM_CLASS": "scrapy_mss.items.Article",
    "MSS_FIELD_MAP": {},
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pages", nargs="+", metavar="URL|FILE", help="a URL or an HTML file")
    parser.add_argument("-m", "--model", type=Path, help="a model file; default: the bundled model")
    parser.add_argument("-f", "--format", choices=(JSON, TEXT), default=JSON, help="default: json")


def perform(options: argparse.Namespace, command: ScrapyCommand) -> int:
    model = with_bundled(model_in(options.model)) if options.model else bundled_model()
    addresses = [page for page in options.pages if _is_address(page)]
    files = [Path(page) for page in options.pages if not _is_address(page)]
    for path in files:
        if not path.is_file():
            raise CommandError(f"{path}: no such file; a URL begins with http:// or https://")
    found = 0
    for values in counted(_from_files(files, model), "files"):
        found += _printed(values, options.format)
    if addresses:
        found += _crawl(addresses, options, command)
    return GOOD if found == len(options.pages) else NOT_FOUND


def _is_address(page: str) -> bool:
    return page.startswith(("http://", "https://"))


def _from_files(paths: list[Path], model: Model) -> Iterator[dict[str, Any]]:
    state = ModelState.of(model)
    for path in paths:
        try:
            html = decoded(path.read_bytes())
        except OSError as error:
            raise CommandError(f"{path}: the page cannot be read: {error.strerror}") from error
        result = read_article(html, "", state)
        values = result.values if result.article else {"reason": result.reason}
        yield {**values, "url": str(path)}


def _printed(values: dict[str, Any], form: str) -> bool:
    """Print the article or the reason why there is none; return whether there is one."""
    if form == JSON:
        first = {"url": values["url"]}
        print(json.dumps(first | {k: v for k, v in values.items() if v}, ensure_ascii=False))
    elif "text" in values:
        print(values["text"], end="\n\n")
    else:
        url, reason = printable(values["url"]), values["reason"]
        print(f"scrapy mss extract: {url}: no article: {reason}", file=sys.stderr)
    return "reason" not in values


class PageSpider(Spider):
    """Requests the given URLs and leaves the rest to scrapy-mss."""

    name = "mss-extract"
    addresses: list[str]

    async def start(self) -> AsyncIterator[Any]:
        for address in self.addresses:
            yield Request(address, dont_filter=True)

    def parse(self, response: Response, **_: Any) -> None:
        """Yield nothing: the middleware makes the item."""


def _crawl(addresses: list[str], options: argparse.Namespace, command: ScrapyCommand) -> int:
    process = command.crawler_process
    if process is None:
        raise CommandError("URLs cannot be fetched: there is no crawler process")
    extracted: list[bool] = []
    for name, value in {**SETTINGS, "MSS_MODEL": str(options.model or "")}.items():
        process.settings.set(name, value, priority="cmdline")
    crawler = process.create_crawler(PageSpider)

    def scraped(item: Any) -> None:  # noqa: ANN401 - any item
        extracted.append(_printed(ItemAdapter(item).asdict(), options.format))

    def dropped(item: Any, exception: Exception) -> None:  # noqa: ANN401 - any item
        if isinstance(exception, NoArticleError):
            values = {"url": item.url, "reason": exception.reason}
            extracted.append(_printed(values, options.format))

    crawler.signals.connect(scraped, signals.item_scraped)
    crawler.signals.connect(dropped, signals.item_dropped)
    process.crawl(crawler, addresses=addresses)
    process.start()
    return sum(extracted)


ACTION = Action(
    "extract",
    "print the articles in files and at URLs",
    "Print the article in each page as a JSON line or as text, or the reason why there is none.",
    "scrapy mss extract -f text https://example.com/news/story.html saved.html",
    add_arguments,
    perform,
)
