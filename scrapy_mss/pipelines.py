"""The article of a page into the item of the page: only fields that are empty are filled."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from itemadapter import ItemAdapter
from scrapy.exceptions import DropItem, NotConfigured

from scrapy_mss.crawl.session import Session
from scrapy_mss.settings import EMIT_ARTICLES, enabled

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from typing_extensions import Self

logger = logging.getLogger(__name__)

_EMPTY: tuple[object, ...] = (None, "", [], {}, ())


class ArticlePipeline:
    """Fills items from their page: one that `ArticleMiddleware` paired, or HTML in the item."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.field_map = session.options.field_map
        self._refusals: set[tuple[type, str]] = set()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        if not enabled(crawler.settings):
            raise NotConfigured("MSS_ENABLED is off")
        return cls(Session.of(crawler))

    async def process_item(self, item: Any, spider: Spider | None = None) -> Any:
        """Fill *item*; drop one that we made of a page that is no article."""
        page, made = self.session.page_of(item)
        if not ItemAdapter.is_item(item):
            return item
        adapter = ItemAdapter(item)
        if page is not None:
            found = await self.session.find(page)
        elif source := self._own_html(adapter):
            url = adapter.get(self.field_map.get("url", "url")) or ""
            found = await self.session.find_in(source, str(url))
        else:
            return item
        if not found.is_article and made and self.session.options.emit == EMIT_ARTICLES:
            raise DropItem(f"no article: {found.reason}", log_level="DEBUG")
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        values = {**found.offered, "crawled": now}
        if adapter.get(self.field_map.get("text", "text")) not in _EMPTY:
            values.pop("extractor", None)  # the text is the spider's own find
        self._fill(adapter, values)
        return item

    def _own_html(self, adapter: ItemAdapter) -> str:
        """The page that an item brings with it, where its text is still to be found."""
        text = adapter.get(self.field_map.get("text", "text"))
        source = adapter.get(self.field_map.get("html", "html"))
        return source if isinstance(source, str) and text in _EMPTY else ""

    def _fill(self, adapter: ItemAdapter, values: Mapping[str, object]) -> None:
        open_ended = isinstance(adapter.item, dict)
        for ours, value in values.items():
            name = self.field_map.get(ours, ours)
            if not name or value in _EMPTY or not (open_ended or name in adapter.field_names()):
                continue
            if adapter.get(name) in _EMPTY:
                self._set(adapter, name, value)

    def _set(self, adapter: ItemAdapter, name: str, value: object) -> None:
        """Set a field; an item that refuses the value or is frozen goes on without it."""
        try:
            adapter[name] = value
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            kind = type(adapter.item)
            if (kind, name) not in self._refusals:  # said once, not once an item
                self._refusals.add((kind, name))
                told = "scrapy-mss: %s refuses a value for %s: %s"
                logger.warning(told, kind.__name__, name, " ".join(str(error).split()))
