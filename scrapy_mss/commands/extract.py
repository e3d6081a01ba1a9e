"""``scrapy mss extract``: the articles in files and at addresses, printed."""

from __future__ import annotations

import argparse
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from scrapy import Request, Spider, signals
from scrapy.http import Response

from scrapy_mss.article import Found, read_page
from scrapy_mss.commands.base import Action, CommandError, counted, model_in
from scrapy_mss.models.bundled import completed, shipped
from scrapy_mss.models.format import Model
from scrapy_mss.stored_pages import decoded

if TYPE_CHECKING:
    from scrapy.commands import ScrapyCommand

TEXT, JSON = "text", "json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pages", nargs="+", metavar="URL|FILE", help="an address or an HTML file")
    parser.add_argument(
        "-m", "--model", type=Path, help="a model file; without one: the model in the box"
    )
    parser.add_argument("-f", "--format", choices=(JSON, TEXT), default=JSON, help="default: json")


def perform(options: argparse.Namespace, command: ScrapyCommand) -> int:
    model = completed(model_in(options.model)) if options.model else shipped()
    addresses = [page for page in options.pages if _is_address(page)]
    files = [Path(page) for page in options.pages if not _is_address(page)]
    for path in files:
        if not path.is_file():
            raise CommandError(f"{path}: there is no such file; an address begins with http")
    found = 0
    for fields in counted(_from_files(files, model), "files"):
        found += _printed(fields, options.format)
    if addresses:
        found += _crawl(addresses, options, command)
    return 0 if found == len(options.pages) else 1


def _is_address(page: str) -> bool:
    return page.startswith(("http://", "https://"))


def _from_files(paths: list[Path], model: Model) -> Iterator[dict[str, Any]]:
    for path in paths:
        found: Found = read_page(model, decoded(path.read_bytes()), "")
        fields = {**found.fields, "probability": found.probability} if found.is_article else {}
        yield {"url": str(path), **fields}


def _printed(fields: dict[str, Any], form: str) -> int:
    """Print one article; 1 if there was any."""
    if form == TEXT:
        print(fields.get("text", ""), end="\n\n")
    else:
        print(json.dumps({k: v for k, v in fields.items() if v}, ensure_ascii=False))
    return int(bool(fields.get("text")))


class PageSpider(Spider):
    """Asks for the addresses it is given and leaves the rest to scrapy-mss."""

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
        raise CommandError("addresses cannot be fetched here: there is no crawler process")
    extracted: list[int] = []
    # A project's wrappers and middlewares stay; what it does with items is not asked for here.
    changes: dict[str, Any] = {
        "ADDONS": {"scrapy_mss.Addon": 500},
        "ITEM_PIPELINES": {},
        "FEEDS": {},
        "MSS_ENABLED": True,
        "MSS_TRAIN": False,
        "MSS_EXTRACTOR": "mss",
        "MSS_EMIT": "all",
        "MSS_ITEM_CLASS": "scrapy_mss.items.Article",
        "MSS_FIELD_MAP": {},
        "MSS_MODEL": str(options.model or ""),
    }
    for name, value in changes.items():
        process.settings.set(name, value, priority="cmdline")
    crawler = process.create_crawler(PageSpider)

    def take(item: Any) -> None:  # noqa: ANN401 - any item
        extracted.append(_printed(ItemAdapter(item).asdict(), options.format))

    crawler.signals.connect(take, signals.item_scraped)
    process.crawl(crawler, addresses=addresses)
    process.start()
    return sum(extracted)


ACTION = Action(
    "extract",
    "the articles in files and at addresses",
    "Print the article in each page, as a JSON line or as text. Exit code 1 if one has none.",
    "scrapy mss extract -f text https://example.com/news/story.html saved.html",
    add_arguments,
    perform,
)
