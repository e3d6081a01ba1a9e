"""Pages to rows of articles, by worker processes that hold the model.

Each page has the time and memory limits of a crawl. A page that exceeds them costs its
worker, which is replaced, and becomes a row with the reason, like any other page without an
article. Rows come in page order; the number of waiting pages is bounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from scrapy.settings import Settings

from scrapy_mss import settings
from scrapy_mss.article import ArticleResult
from scrapy_mss.crawl.pool import NoWorkerError, WorkerPool
from scrapy_mss.crawl.processes import NEEDS, can_have_workers
from scrapy_mss.crawl.wire import ModelChanges, PageAnswer, PageRequest
from scrapy_mss.files.parquet import ArticleColumns
from scrapy_mss.files.stored_pages import LONGEST_DETAIL, TOO_LARGE, Record
from scrapy_mss.items import ARTICLE_FIELDS, values_of
from scrapy_mss.models.files import ModelFile, bundled_model, with_bundled
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.settings import Options

if TYPE_CHECKING:
    from scrapy_mss.models.model import Model

REASON: Final = "reason"  # why a page has no article; empty where it has one
DETAIL: Final = "detail"  # what is known of that
SOURCE, PLACE = "source", "place"  # the file that a page is from, and where in that it begins
OF_ARTICLES: Final = ArticleColumns.of({name: name for name in ARTICLE_FIELDS}, ARTICLE_FIELDS)
COLUMNS: Final = ArticleColumns(
    {**OF_ARTICLES.types, SOURCE: str, PLACE: int, REASON: str, DETAIL: str}, has_other=False
)

Row = dict[str, Any]


class CannotStartError(RuntimeError):
    """No worker can be started; the pool has logged why."""


class ArticleExtractor:
    """Extracts pages with the *settings* of a crawl, such as ``MSS_FIELDS=['markdown']``.

    *model* is a model file; without it, only the bundled model is used. ``MSS_WORKERS`` is the
    number of processes.
    """

    def __init__(self, model: str = "", **settings: Any) -> None:
        if not can_have_workers():
            raise CannotStartError(f"articles of archives are read by processes; they need {NEEDS}")
        self._options = options_of(settings)
        self._pool = WorkerPool(ModelChanges(model_in(model)), self._options)

    def close(self) -> None:
        self._pool.close()

    def rows(self, records: Iterable[Record]) -> Iterator[Row]:
        """A row for each of *records*, in their order; they are taken as workers have room."""
        try:
            for record, answer in self._pool.in_order(map(self._asked, records)):
                yield _row(record, answer)
        except NoWorkerError as error:
            raise CannotStartError("no process can be started that reads pages") from error

    def _asked(self, record: Record) -> tuple[Record, PageRequest | None]:
        page = record.page
        if page is None:
            return record, None
        record = replace(record, page=None, url=page.url)
        if len(page.html) > self._options.max_body:
            return replace(record, problem=TOO_LARGE), None
        return record, PageRequest(page.html, page.url)


def _row(record: Record, answer: PageAnswer | None) -> Row:
    values: dict[str, Any] = {}
    reason, detail = record.problem, record.detail
    if answer is not None:
        result = answer.article or ArticleResult()
        reason = answer.failure or result.reason
        # Where a worker has failed on the page, the last line that it has logged is the exception.
        lines = answer.logged[-1][1].splitlines() if answer.failure and answer.logged else []
        detail = lines[-1][:LONGEST_DETAIL] if lines else ""
        values = values_of(result.article) if result.article else {}
    values |= {"url": record.url, "crawled": record.crawled}
    values |= {SOURCE: record.source, PLACE: record.place}
    values |= {REASON: reason or None, DETAIL: detail or None}
    row, _ = COLUMNS.row(values.items())
    return row


def options_of(values: Mapping[str, Any]) -> Options:
    """The options of *values*, which are settings by their names."""
    return settings.read(Settings(dict(values)))


def model_in(path: str) -> Model:
    """The model in the file *path*, if that is given, beside the bundled one."""
    return with_bundled(ModelFile(path, DEFAULT).load()) if path else bundled_model()
