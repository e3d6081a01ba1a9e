"""Fills items with the articles of their pages, only fields that are empty; lets new ones pass."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy import signals
from scrapy.exceptions import DropItem, NotConfigured

from scrapy_mss import stats
from scrapy_mss.crawl.extension import MssExtension
from scrapy_mss.crawl.item_fields import ItemFields, fields_of
from scrapy_mss.crawl.pages import LISTED, SITE
from scrapy_mss.crawl.wire import FAILURES
from scrapy_mss.items import ARTICLE_FIELDS
from scrapy_mss.metadata.sites import site_of
from scrapy_mss.seen.crawled import Addresses
from scrapy_mss.seen.keys import address_key
from scrapy_mss.settings import EMIT_ARTICLES

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from typing_extensions import Self

    from scrapy_mss.article import ArticleResult
    from scrapy_mss.crawl.item_pages import ItemPage

logger = logging.getLogger(__name__)

MARKDOWN = "markdown"
OTHERWISE_FILLED = frozenset({"url", "revision", "changed"})
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
        never = OTHERWISE_FILLED | (set() if self._options.markdown else {MARKDOWN})
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
        url = fields.get(self._options.field_name("url")) or ""
        return await self._reader.article_in(html, str(url))

    def _own_html(self, fields: ItemFields) -> str:
        """The page that an item brings with it, where its text is still to be found."""
        html = fields.get(self._options.field_name("html"))
        text = fields.get(self._options.field_name("text"))
        return html if isinstance(html, str) and _is_empty(text) else ""

    def _missing(self, fields: ItemFields) -> dict[str, str]:
        """Our fields that the item has room for and no value of, and what it calls them."""
        missing = {
            ours: name
            for ours in self._filled
            if (name := self._options.field_name(ours))
            and fields.has(name)
            and _is_empty(fields.get(name))
        }
        if not _is_empty(fields.get(self._options.field_name("text"))):
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


class SeenArticleError(DropItem):
    """Drops an item whose article was seen in this wording."""

    def __init__(self, url: str) -> None:
        super().__init__(f"seen before: {url}", log_level="DEBUG")


class NewArticlesPipeline:
    """Lets articles pass that were not seen before, and those that have changed.

    An article counts as seen when its item has passed all pipelines. What fails on the way leaves
    its site incomplete, so that the next crawl reads the lists that name it again.
    """

    def __init__(self, extension: MssExtension) -> None:
        if extension.seen is None:
            raise NotConfigured
        self._seen = extension.seen
        self._stats = extension.stats
        self._item_pages = extension.item_pages
        self._name_of = extension.options.field_name
        self._under_way: set[int] = set()  # keys of the addresses of items that are new

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        pipeline = cls(MssExtension.of(crawler))
        crawler.signals.connect(pipeline.scraped, signals.item_scraped)
        crawler.signals.connect(pipeline.dropped, signals.item_dropped)
        crawler.signals.connect(pipeline.failed, signals.item_error)
        crawler.signals.connect(pipeline.spider_failed, signals.spider_error)
        return pipeline

    def process_item(self, item: Any, spider: Spider | None = None) -> Any:
        """Pass on *item*, with its revision; drop it if its article was seen in this wording."""
        page = self._item_pages.page_of(item)
        article = self._article(item, page.response if page else None)
        if article is None:
            return item
        verdict = self._seen.judge(article.addresses, article.title, article.text)
        if not verdict.is_new or not self._under_way.isdisjoint(article.keys):
            if not verdict.is_new:
                self._add(article)
            self._stats.add(stats.SEEN_UNCHANGED)
            raise SeenArticleError(article.addresses.own[0])
        self._under_way |= article.keys
        self._stats.add(stats.SEEN_CHANGED if verdict.changed else stats.SEEN_NEW)
        fields = fields_of(item)
        for ours, value in (("revision", verdict.revision), ("changed", list(verdict.changed))):
            name = self._name_of(ours)
            if fields is not None and name and fields.has(name):
                fields.put(name, value)
        return item

    def scraped(self, item: Any, response: Response | None) -> None:
        """Note that the article of *item* has been seen."""
        article = self._article(item, response)
        if article is not None:
            self._under_way -= article.keys
            self._add(article)

    def dropped(self, item: Any, response: Response | None, exception: Exception) -> None:
        """Note a page that is no article; an item that was dropped otherwise was not seen."""
        if isinstance(exception, NoArticleError) and response is not None:
            if exception.reason in FAILURES:
                self._leave_incomplete(response)
            for url in () if exception.reason in FAILURES else _addresses_of(response):
                self._seen.add_other(url, response.meta.get(LISTED, 0))
        elif not isinstance(exception, SeenArticleError):
            article = self._article(item, response)
            self._under_way -= article.keys if article else set()

    def failed(self, item: Any, response: Response | None) -> None:
        """Note that an item is lost."""
        article = self._article(item, response)
        self._under_way -= article.keys if article else set()
        self._leave_incomplete(response)

    def spider_failed(self, response: Response | None) -> None:
        """Note that what a page or a list names is lost."""
        self._leave_incomplete(response)

    def _leave_incomplete(self, response: Response | None) -> None:
        site = response.meta.get(SITE) if response is not None else None
        if site:
            self._seen.leave_incomplete(site)

    def _add(self, article: _Article) -> None:
        self._seen.add(article.addresses, article.title, article.text, article.listed)

    def _article(self, item: Any, response: Response | None) -> _Article | None:
        """The article in *item*; None if there is no text, or nobody knows where it is from."""
        fields = fields_of(item)
        if fields is None:
            return None
        names = ("url", "canonical_url", "title", "text")
        values = [str(fields.get(self._name_of(name)) or "") for name in names]
        url, canonical, title, text = values
        of_page = _addresses_of(response) if response is not None else ()
        # One response may have several items, each with an address of its own.
        is_of_page = not url or address_key(url) in map(address_key, of_page)
        own = tuple(dict.fromkeys((*filter(None, (url,)), *(of_page if is_of_page else ()))))
        if not own or not text:
            return None
        believed = canonical if _is_address_of_an_article(canonical, own[0]) else ""
        listed = response.meta.get(LISTED, 0) if response is not None and is_of_page else 0
        return _Article(Addresses(own, believed), title, text, listed)


@dataclass(frozen=True, slots=True)
class _Article:
    """What is compared of an article, its addresses, and the date in the list that named it."""

    addresses: Addresses
    title: str
    text: str
    listed: int

    @property
    def keys(self) -> set[int]:
        canonical = (self.addresses.canonical,) if self.addresses.canonical else ()
        return {address_key(url) for url in (*self.addresses.own, *canonical)}


def _addresses_of(response: Response) -> tuple[str, ...]:
    """Where *response* is from, and whence it was redirected."""
    request = response.request
    return (response.url, *(request.meta.get("redirect_urls", ()) if request else ()))


def _is_address_of_an_article(canonical: str, url: str) -> bool:
    """Whether a page's own address can be believed: some sites give that of the front page."""
    return (
        bool(canonical)
        and site_of(canonical) == site_of(url)
        and bool(urlsplit(canonical).path.strip("/"))
    )


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, str | list | tuple | dict | set) and not value)
