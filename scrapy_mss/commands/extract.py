"""Print the article of each page as a JSON line, text, HTML or Markdown, or why there is none."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.http import Response, TextResponse

from scrapy_mss import settings
from scrapy_mss.article import NO_TEXT, ModelState, ReadOptions, read_article
from scrapy_mss.commands import (
    GOOD,
    NOT_FOUND,
    CommandError,
    MssCommand,
    print_json,
    print_line,
    print_text,
)
from scrapy_mss.commands.base import (
    add_model_arguments,
    counted,
    is_address,
    learned_model,
    page_in,
    stored,
)
from scrapy_mss.commands.fetching import ASKED, checked_address, crawl
from scrapy_mss.crawl.pages import is_page
from scrapy_mss.files.charsets import decoded
from scrapy_mss.files.stored_pages import COLLECTIONS
from scrapy_mss.files.untrusted import LARGEST_PAGE
from scrapy_mss.models.files import with_bundled
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.models.store import StoredModel
from scrapy_mss.pipelines import NoArticleError
from scrapy_mss.storage.opening import store_at

TEXT, HTML, JSON, MARKDOWN = "text", "html", "json", "markdown"
STANDARD_INPUT = "-"
BINARY_WITHIN = 1024  # characters; the header of a binary file has a NUL, a page has none

# Why there is no article, besides the reasons of a crawl, and the exit codes of these.
NOT_REACHABLE, NO_ANSWER = "not_reachable", "no_answer"
CODES = {NOT_REACHABLE: 3, NO_TEXT: 4}
EXIT_CODES = (
    "Exit codes: 0 if every page has an article, 1 if a page has none, 2 for invalid\n"
    "arguments or files, 3 if an address is unreachable, 4 if a page is not text, such\n"
    "as a picture. With several pages, the highest code is returned."
)

# A project's wrappers and middlewares stay; its pipelines, feeds and job are switched off.
SETTINGS: dict[str, Any] = {
    "ADDONS": {"scrapy_mss.Addon": 500},
    "ITEM_PIPELINES": {},
    "FEEDS": {},
    "JOBDIR": None,
    "MSS_ENABLED": True,
    "MSS_TRAIN": False,
    "MSS_SITE_MEMORY": 0,
    "MSS_REPORT": "off",
    "MSS_EMIT": "articles",
    "MSS_ONLY_NEW": False,
    "MSS_COPIES": "keep",
    "MSS_LANGUAGES": [],
    "MSS_ITEM_CLASS": "scrapy_mss.items.Article",
    "MSS_FIELD_MAP": {},
}

EXAMPLE = "scrapy mss extract -f text https://example.com/news/story.html saved.html crawl.warc.gz"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "pages",
        nargs="+",
        metavar="URL|FILE|-",
        help="a URL, an HTML file, - for HTML from standard input, or a file with many pages: "
        "JSON lines with url and html (.jsonl, .gz, .xz) or WARC",
    )
    add_model_arguments(parser)
    parser.add_argument(
        "-f", "--format", choices=(JSON, TEXT, HTML, MARKDOWN), default=JSON, help="default: json"
    )


def perform(options: argparse.Namespace, command: MssCommand) -> int:
    addresses = [checked_address(page) for page in options.pages if is_address(page)]
    files = [Path(page) for page in options.pages if not is_address(page)]
    for path in files:
        if str(path) != STANDARD_INPUT and not path.exists():
            raise CommandError(f"{path}: no such file; a URL begins with http:// or https://")
    learned = learned_model(options, command)
    model = with_bundled(learned)
    answers = _Answers(options.format)
    fields = settings.read(command.settings).fields
    if options.format == MARKDOWN:
        fields = (*fields, MARKDOWN)
        command.settings.set("MSS_FIELDS", fields, priority="cmdline")
    read_options = ReadOptions(fields=fields)
    for values in counted(_from_files(files, model, read_options), "pages"):
        answers.add(values)
    if addresses:
        with TemporaryDirectory(prefix="scrapy-mss-") as folder:
            StoredModel(store_at(folder), DEFAULT).add(learned)
            _crawl(addresses, folder, answers, command)
    if answers.error:
        raise answers.error
    return answers.exit_code


@dataclass(slots=True)
class _Answers:
    """Prints one line, or one text, for each page; of several exit codes the greatest counts."""

    form: str
    exit_code: int = GOOD
    error: OSError | None = None  # nobody reads what is printed any more, or a disk is full

    def add(self, values: Mapping[str, Any]) -> None:
        """Print the article in *values*, or the ``reason`` why there is none."""
        reason = values.get("reason")
        if reason:
            self.exit_code = max(self.exit_code, CODES.get(reason, NOT_FOUND))
        if self.form == JSON:
            first = {"url": values["url"]}
            print_json(first | {k: v for k, v in values.items() if v or v is False})
        elif reason:
            known = {NOT_REACHABLE: "not reachable", NO_TEXT: "no text"}
            parts = [values["url"], known.get(reason, f"no article: {reason}")]
            parts += filter(None, [values.get("detail")])
            print_line(f"scrapy mss extract: {': '.join(parts)}", sys.stderr)
        else:
            print_text(f"{values[self.form]}\n")


def _from_files(paths: list[Path], model: Model, options: ReadOptions) -> Iterator[dict[str, Any]]:
    state = ModelState.of(model)
    for path in paths:
        if path.name.endswith(COLLECTIONS):
            for page in stored(path):
                values = _values(page.html, state, options, page.url)
                yield {**values, "url": page.url}
        else:
            yield {**_values(_html_in(path), state, options), "url": str(path)}


def _html_in(path: Path) -> str:
    """The content of the file *path*, or of standard input."""
    if str(path) != STANDARD_INPUT:
        return page_in(path)
    body = sys.stdin.buffer.read(LARGEST_PAGE + 1)
    if len(body) > LARGEST_PAGE:
        raise CommandError(f"-: expected a page of at most {LARGEST_PAGE:,} bytes, got more")
    return decoded(body)


def _values(html: str, state: ModelState, options: ReadOptions, url: str = "") -> dict[str, Any]:
    if _is_binary(html):
        return {"reason": NO_TEXT}
    result = read_article(html, url, state, options)
    return result.values if result.article else {"reason": result.reason}


def _is_binary(text: str) -> bool:
    """Whether *text* is a file that has no words that mean anything."""
    return "\0" in text[:BINARY_WITHIN]


def _crawl(addresses: list[str], store: str, answers: _Answers, command: MssCommand) -> None:
    left = Counter(addresses)

    def answer(asked: str, values: Mapping[str, Any]) -> None:
        left[asked] -= 1
        try:
            answers.add(values)
        except OSError as error:  # in a handler of a signal, where Scrapy would log it
            answers.error = error

    def take(asked: str, response: Response) -> None:
        if not is_page(response, response.request):
            kind = (response.headers.get("Content-Type") or b"").decode("latin-1")
            answer(asked, {"url": response.url, "reason": NO_TEXT, "detail": kind})

    def failed(asked: str, cause: str) -> None:
        answer(asked, {"url": asked, "reason": NOT_REACHABLE, "detail": cause})

    def scraped(item: Any, response: Response) -> None:  # noqa: ANN401 - any item
        answer(response.cb_kwargs[ASKED], ItemAdapter(item).asdict())

    def dropped(item: Any, response: TextResponse, exception: Exception) -> None:  # noqa: ANN401
        if isinstance(exception, NoArticleError):
            reason = NO_TEXT if _is_binary(response.text) else exception.reason
            answer(response.cb_kwargs[ASKED], {"url": item.url, "reason": reason})

    changed = {**SETTINGS, "MSS_STORE": store}
    handlers = {signals.item_scraped: scraped, signals.item_dropped: dropped}
    crawl(command, changed, handlers, addresses=addresses, take=take, failed=failed)
    for address in left.elements():  # what a middleware of the project's has dropped
        answers.add({"url": address, "reason": NO_ANSWER})
