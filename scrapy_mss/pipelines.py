"""Fills items with the articles of their pages: only fields that are empty."""

from __future__ import annotations

import logging
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import DropItem

from scrapy_mss import stats
from scrapy_mss.crawl.extension import MssExtension
from scrapy_mss.crawl.item_fields import ItemFields, fields_of
from scrapy_mss.items import ARTICLE_FIELDS
from scrapy_mss.settings import EMIT_ARTICLES

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from typing_extensions import Self

    from scrapy_mss.article import ArticleResult
    from scrapy_mss.crawl.item_pages import ItemPage

logger = logging.getLogger(__name__)

MARKDOWN = "markdown"
KNOWN_WITHOUT_THE_PAGE = frozenset({"crawled"})
OF_OUR_TEXT = ("confidence", "extractor")  # say nothing of a text that is the spider's own


class NoArticleError(DropItem):
    """Drops an item that scrapy-mss made for a page without an article, for *reason*."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"no article: {reason}", log_level="DEBUG")
        self.reason = reason


class ArticlePipeline:
    """Fills items from their page: the one that `ArticleMiddleware` paired, or the item's HTML."""

    def __init__(self, extension: MssExtension) -> None:
        self._options = extension.options
        # What a page may give: Markdown only where it is made.
        never = {"url"} if self._options.markdown else {"url", MARKDOWN}
        self._filled = tuple(name for name in ARTICLE_FIELDS if name not in never)
        self._item_pages = extension.item_pages
        self._reader = extension.reader_for_component()
        self._stats = extension.stats
        self._rejections: set[tuple[type, str]] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(MssExtension.of(crawler))

    async def process_item(self, item: Any, spider: Spider | None = None) -> Any:
        """Fill *item*; drop one that was made for a page without an article."""
        fields, page = fields_of(item), self._item_pages.page_of(item)
        if fields is None:
            return item
        missing = self._missing(fields)
        html = self._own_html(fields)
        if page is None and not html:
            self._stats.add(stats.ITEMS_UNPAIRED)
            return item
        made = page is not None and page.made
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        values: dict[str, Any] = {"crawled": now}
        if made or not KNOWN_WITHOUT_THE_PAGE.issuperset(missing):
            result = await self._read(page, html, fields)
            if result.article is None and made and self._options.emit == EMIT_ARTICLES:
                raise NoArticleError(result.reason)
            values = {**result.values, **values}
        for ours, name in missing.items():
            # The spider may have filled it while its page was read.
            if not _is_empty(values.get(ours)) and _is_empty(fields.get(name)):
                self._put(item, fields, name, values[ours])
        return item

    async def _read(self, page: ItemPage | None, html: str, fields: ItemFields) -> ArticleResult:
        if page is not None:
            return await self._reader.article_of(page.response)
        url = fields.get(self._name_of("url")) or ""
        return await self._reader.article_in(html, str(url))

    def _name_of(self, ours: str) -> str:
        """What the project's items call our field."""
        return self._options.field_map.get(ours, ours)

    def _own_html(self, fields: ItemFields) -> str:
        """The page that an item brings with it, where its text is still to be found."""
        html = fields.get(self._name_of("html"))
        text = fields.get(self._name_of("text"))
        return html if isinstance(html, str) and _is_empty(text) else ""

    def _missing(self, fields: ItemFields) -> dict[str, str]:
        """Our fields that the item has room for and no value of, and what it calls them."""
        missing = {
            ours: name
            for ours in self._filled
            if (name := self._name_of(ours)) and fields.has(name) and _is_empty(fields.get(name))
        }
        if not _is_empty(fields.get(self._name_of("text"))):
            for ours in OF_OUR_TEXT:
                missing.pop(ours, None)
        return missing

    def _put(self, item: object, fields: ItemFields, name: str, value: object) -> None:
        """Set a field; an item that rejects the value or is frozen goes on without it."""
        try:
            fields.put(name, value)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            kind = type(item)
            if (kind, name) not in self._rejections:  # logged once, not once an item
                self._rejections.add((kind, name))
                why = " ".join(str(error).split())
                logger.warning(
                    "scrapy-mss: %s rejects the value for its field %s: %s",
                    kind.__name__,
                    name,
                    why,
                )


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, str | list | tuple | dict | set) and not value)
