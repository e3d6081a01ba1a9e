"""Feeds in Parquet, and a feed per day or site.

These are a Scrapy item exporter, an item filter and URI parameters. The add-on registers the
format `parquet`; choose it in `FEEDS`.
"""

from __future__ import annotations

import io
import logging
import os
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from scrapy.exporters import BaseItemExporter
from scrapy.extensions.feedexport import ItemFilter

from scrapy_mss import settings
from scrapy_mss.crawl import _compat
from scrapy_mss.files.parquet import ArticleColumns, StreamAside, StreamBeside
from scrapy_mss.items import ARTICLE_FIELDS
from scrapy_mss.pages.addresses import site_of

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from typing_extensions import Self

logger = logging.getLogger(__name__)


class ParquetItemExporter(BaseItemExporter):
    """Parquet, by pyarrow. *names* are those of the project's items for fields of `Article`."""

    def __init__(self, file: IO[bytes], *, names: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._file = file
        self._columns = ArticleColumns.of(names, self.fields_to_export)
        self._rejected: set[str] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler, file: IO[bytes], **kwargs: Any) -> Self:
        options = settings.read(crawler.settings)
        names = {name: options.field_name(name) for name in ARTICLE_FIELDS}
        return cls(file, names=names, **kwargs)

    def start_exporting(self) -> None:
        """Begin beside the file, or, where it has no place of its own, in a temporary one."""
        schema = self._columns.schema()
        self._path = _path_of(self._file)
        if self._path is None:
            self._stream: StreamBeside | StreamAside = StreamAside(self._file, schema)
        else:
            if not self._path.stat().st_size:
                self._path.unlink()  # what Scrapy has just made; no reader is to find it empty
            self._stream = StreamBeside(self._path, schema)

    def export_item(self, item: Any) -> None:
        row, left = self._columns.row(_compat.serialized_fields(self, item))
        for name in left.keys() - self._rejected:  # logged once, not once an item
            self._rejected.add(name)
            logger.warning(
                "scrapy-mss: a value of %s does not fit its column and is left out of the feed: "
                "%.100r. Further ones are not logged",
                name,
                left[name],
            )
        self._stream.rows.add(row)

    def finish_exporting(self) -> None:
        at = self._stream.finish()
        if at != self._path:
            logger.info(
                "scrapy-mss: cannot append to %s because it is a Parquet file; the articles of "
                "this crawl are in %s",
                self._path,
                at,
            )


def _path_of(file: IO[bytes]) -> Path | None:
    """Where *file* is, if it is a file that has a path and may be replaced there."""
    name = getattr(file, "name", None)
    # What Scrapy uploads in the end is a temporary file, of another class.
    if (
        os.name != "posix"
        or type(file) is not io.BufferedWriter
        or not isinstance(name, str | Path)
    ):
        return None
    path = Path(name).absolute()
    try:
        same = os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except OSError:
        return None
    return path if same and path.is_file() else None


class SiteFilter(ItemFilter):
    """Has a feed take the articles of one site, its option ``site``.

    The option ``url`` is what items call their address, where `MSS_FIELD_MAP` renames it: Scrapy
    gives a filter the options of its feed and no settings.
    """

    def __init__(self, feed_options: dict[str, Any] | None) -> None:
        super().__init__(feed_options)
        options = feed_options or {}
        self._url = str(options.get("url") or "url")
        self._site = site_of(str(options.get("site") or ""))
        if not self._site:
            raise ValueError("SiteFilter: expected the feed's option 'site', such as 'example.com'")

    def accepts(self, item: Any) -> bool:
        url = ItemAdapter(item).get(self._url)
        return super().accepts(item) and isinstance(url, str) and site_of(url) == self._site


def uri_params(params: dict[str, Any], _spider: Spider) -> dict[str, Any]:
    """Scrapy's parameters of feed addresses, and ``%(day)s``: the day by UTC, as 2026-11-22."""
    return {**params, "day": datetime.now(timezone.utc).date().isoformat()}
