"""Item pipelines: fill items with articles, drop articles already seen, mark copies of a story."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from scrapy_mss import stats
from scrapy_mss.crawl import _compat
from scrapy_mss.crawl.extension import Component, MssExtension, needed
from scrapy_mss.crawl.extraction import RESERVED
from scrapy_mss.crawl.items import (
    ItemArticle,
    ItemNotes,
    NewArticle,
    RejectedItemError,
    adapted,
    addresses_of,
    article_of,
    possible,
    put_known,
)
from scrapy_mss.crawl.pages import LISTED, SITE, is_fed
from scrapy_mss.crawl.processes import FAILURES
from scrapy_mss.items import ARTICLE_FIELDS, OPTIONAL_FIELDS
from scrapy_mss.pages.kinds import ARTICLE_KINDS, WALLS
from scrapy_mss.quality.fates import CHANGED, COPY, UNCHANGED
from scrapy_mss.seen.articles import Wording
from scrapy_mss.seen.paragraphs import Paragraphs, with_sentences
from scrapy_mss.settings import COPIES_DROP, EMIT_ALL

if TYPE_CHECKING:
    from itemadapter import ItemAdapter
    from scrapy import Spider
    from scrapy.http import Response

    from scrapy_mss.article import ArticleResult
    from scrapy_mss.crawl.items import ItemPage
    from scrapy_mss.seen.articles import SeenArticle
    from scrapy_mss.seen.stories import StoryMatch

logger = logging.getLogger(__name__)

MAX_WAITING = 1000  # items under way that copies wait for; as a rule there is none
OTHERWISE_FILLED = frozenset({"url", "revision", "changed", "added", "removed", "story"})
KNOWN_WITHOUT_THE_PAGE = frozenset({"crawled"})
SIZED = (str, list, tuple, dict, set)  # what is no value where nothing is in it
OF_OUR_TEXT = ("confidence", "extractor")  # say nothing of a text that is the spider's own


class NoArticleError(RejectedItemError):
    """Drops an item that scrapy-mss made for a page of a *kind* without an article."""

    def __init__(self, reason: str, kind: str = "") -> None:
        super().__init__(f"no article: {reason}")
        self.reason = reason
        self.kind = kind


class ArticlePipeline(Component):
    """Fills items from their page: the one that `ArticleMiddleware` paired, or the item's HTML."""

    def __init__(self, extension: MssExtension) -> None:
        super().__init__(extension)
        # What a page may give.
        never = OTHERWISE_FILLED | (set(OPTIONAL_FIELDS) - set(self._options.fields))
        filled = (name for name in ARTICLE_FIELDS if name not in never)
        named = ((ours, self._options.field_name(ours)) for ours in filled)
        self._filled = {ours: name for ours, name in named if name}
        self._reader = extension.reader_for_component()
        self._rejections: set[tuple[type, str]] = set()
        self._evaluate = extension.evaluate
        # What the pipeline of new articles asks for.
        self._readings = extension.readings if extension.seen is not None else None

    async def process_item(self, item: Any, spider: Spider | None = None) -> Any:
        """Fill *item*; drop one that was made for a page without an article."""
        fields, page = adapted(item), self._item_pages.page_of(item)
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
            if self._fates is not None and page is not None:
                self._fates.read(item, page.response, result)
            if self._readings is not None:
                text = result.article.text if result.article is not None else None
                self._readings.put(item, None, (text or "", result.paragraphs))
            wanted = {result.kind} if result.reason == RESERVED else {result.kind, EMIT_ALL}
            if result.article is None and made and wanted.isdisjoint(self._options.emit):
                raise NoArticleError(result.reason, result.kind)
            values = {**result.values, **values}
            sources = values.get("sources", {})  # not of what the spider has filled
            values["sources"] = {name: sources[name] for name in sources if name in missing}
            if made and is_fed(page.response if page else None):  # which may be that of a wall
                self._put(item, fields, self._options.field_name("url"), values["url"])
        for ours, name in missing.items():
            # The spider may have filled it while its page was read.
            if not _is_empty(values.get(ours)) and _is_empty(fields.get(name)):
                self._put(item, fields, name, values[ours])
        return item

    def close_spider(self, spider: Spider | None = None) -> Any:
        """Evaluate the sites of the crawl while the event loop goes on.

        It is over before the signal that others wait for, as Spidermon, to look at the stats.
        """
        return _compat.awaited(self._evaluate)

    async def _read(self, page: ItemPage | None, html: str, fields: ItemAdapter) -> ArticleResult:
        if page is not None:
            return await self._reader.article_of(page.response)
        url = fields.get(self._options.field_name("url")) or ""
        return await self._reader.article_in(html, str(url))

    def _own_html(self, fields: ItemAdapter) -> str:
        """The page that an item brings with it, where its text is still to be found."""
        html = fields.get(self._options.field_name("html"))
        text = fields.get(self._options.field_name("text"))
        return html if isinstance(html, str) and _is_empty(text) else ""

    def _missing(self, fields: ItemAdapter) -> dict[str, str]:
        """Our fields that the item has room for and no value of, and what it calls them."""
        names = possible(fields, self._filled.values())
        missing = {
            ours: name
            for ours, name in self._filled.items()
            if name in names and _is_empty(fields.get(name))
        }
        if not _is_empty(fields.get(self._options.field_name("text"))):
            for ours in OF_OUR_TEXT:
                missing.pop(ours, None)
        return missing

    def _put(self, item: object, fields: ItemAdapter, name: str, value: object) -> None:
        """Set a field; an item that rejects the value or is frozen goes on without it."""
        try:
            fields[name] = value
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


class SeenArticleError(RejectedItemError):
    """Drops an item whose article was seen in this wording."""


class NewArticlesPipeline(Component):
    """Lets articles pass that were not seen before, and those whose page has changed.

    An article counts as seen when its item has passed all pipelines, as it came here: later ones
    may edit, move and drop what it has. What fails on the way leaves its site incomplete, so that
    the next crawl reads the lists that name it again. So does an article that lacks further pages,
    which does not count as seen.
    """

    def __init__(self, extension: MssExtension) -> None:
        super().__init__(extension)
        self._seen = needed(extension.seen)
        self._quality = extension.quality
        self._readings = extension.readings
        self._name_of = extension.options.field_name
        self._under_way = extension.new_articles

    def process_item(self, item: Any, spider: Spider | None = None) -> Any:
        """Pass on *item*, with its revision; drop it if its article has not changed."""
        page = self._item_pages.page_of(item)
        response = page.response if page else None
        reading = self._readings.pop(item, None)
        article = article_of(item, response, self._name_of)
        if article is None:
            self._under_way.put(item, response, None)
            return item
        paragraphs = _paragraphs_of(article.text, reading)
        has_new = article.has_new_entries
        wording = Wording(
            article.title, article.text, article.listed, paragraphs, has_new, article.is_fed
        )
        comparison = self._seen.compare(article.addresses, wording)
        keys = frozenset(article.keys)
        # Pages that fail for once are no change.
        is_same = not comparison.is_new or (bool(comparison.changed) and article.is_partial)
        first = next((each for each in self._under_way if keys & each.keys), None)
        if is_same or first is not None:
            if is_same:
                self._add(article, comparison.seen, response)
            elif first is not None and not (first.article.is_partial or article.is_partial):
                first.again.append((article, comparison.seen))
            self._stats.add(stats.SEEN_UNCHANGED)
            if self._fates is not None:
                self._fates.note(item, response, self._fates.of_seen(keys, UNCHANGED))
            raise SeenArticleError(f"seen before: {article.addresses.own[0]}")
        self._under_way.put(item, response, NewArticle(article, comparison.seen, keys))
        if self._fates is not None:
            self._fates.emit(keys)
            if comparison.changed:
                self._fates.note(item, response, CHANGED)
        self._stats.add(stats.SEEN_CHANGED if comparison.changed else stats.SEEN_NEW)
        is_new = not comparison.changed and article.kind in ARTICLE_KINDS
        if self._quality is not None and is_new:
            self._quality.new_article(article.addresses.own[0])
        known = {
            "revision": comparison.seen.revision,
            "changed": list(comparison.changed),
            "added": list(comparison.added),
            "removed": comparison.n_removed,
        }
        put_known(item, {self._name_of(ours): value for ours, value in known.items()})
        return item

    def scraped(self, item: Any, response: Response | None) -> None:
        noted = self._under_way.pop(item, response)
        if noted is not None:
            self._add(noted.article, noted.seen, response)
            for article, seen in noted.again:
                self._seen.add(article.addresses, seen)

    def dropped(self, item: Any, response: Response | None, exception: Exception) -> None:
        """Note a page that is no article; an item that was dropped otherwise was not seen."""
        if isinstance(exception, NoArticleError):
            _, paragraphs = self._readings.pop(item, None) or ("", b"")
            if response is not None and exception.reason in FAILURES:
                self._leave_incomplete(response)
            elif response is not None:
                is_wall, listed = exception.kind in WALLS, response.meta.get(LISTED, 0)
                if is_wall:
                    self._leave_incomplete(response)
                for url in addresses_of(response):
                    self._seen.add_other(url, listed, paragraphs, is_wall=is_wall)
        elif not isinstance(exception, SeenArticleError):
            self._lose(item, response)

    def item_failed(self, item: Any, response: Response | None) -> None:
        self._lose(item, response)
        self._leave_incomplete(response)

    def spider_failed(self, response: Response | None) -> None:
        self._leave_incomplete(response)

    def _lose(self, item: Any, response: Response | None) -> None:
        self._readings.pop(item, None)
        self._under_way.pop(item, response)

    def _leave_incomplete(self, response: Response | None) -> None:
        if site := _site_of(response):
            self._seen.leave_incomplete(site)

    def _add(self, article: ItemArticle, seen: SeenArticle, response: Response | None) -> None:
        if article.is_partial:
            self._leave_incomplete(response)
            return
        if article.is_fed:
            self._leave_incomplete(response)
        self._seen.add(article.addresses, seen)


def _paragraphs_of(text: str, reading: tuple[str, bytes] | None) -> Paragraphs | None:
    """Those of the page that was read for *text*, or of a *text* that the spider has chosen.

    A *reading* is the text that was found on the page, and its paragraphs.
    """
    found, paragraphs = reading or ("", b"")
    of_page = Paragraphs.from_bytes(paragraphs)
    return of_page if found == text else with_sentences(Paragraphs.of_text(text, of_page), text)


class CopiedArticleError(RejectedItemError):
    """Drops an item whose text another paper has printed."""


class StoriesPipeline(Component):
    """Gives articles the key of their story; drops copies of emitted articles, if asked to.

    A copy that is dropped counts as seen when the item of what it is a copy of has passed all
    pipelines. If that one is lost, the site of the copy is incomplete.
    """

    def __init__(self, extension: MssExtension) -> None:
        super().__init__(extension)
        self._stories = needed(extension.stories)
        self._seen = extension.seen
        self._new = extension.new_articles
        self._drops = extension.options.copies == COPIES_DROP
        self._name_of = extension.options.field_name
        self._under_way: ItemNotes[ItemArticle] = ItemNotes()
        self._waiting: dict[int, list[_DroppedCopy]] = {}  # by the address of what is under way

    def process_item(self, item: Any, spider: Spider | None = None) -> Any:
        page = self._item_pages.page_of(item)
        response = page.response if page else None
        article = article_of(item, response, self._name_of)
        if article is None:
            self._under_way.put(item, response, None)
            return item
        match = self._stories.match(article.page_keys, article.text)
        self._stats.add(stats.STORIES_COPIES if match.emitted.is_copy else stats.STORIES_NEW)
        if match.emitted.is_copy and self._fates is not None:
            self._fates.note(item, response, COPY)
        if match.emitted.is_copy and self._drops:
            self._drop(_DroppedCopy(match, self._new.get(item), _site_of(response)))
            first = article.addresses.own[0]
            raise CopiedArticleError(f"copy of an article that was emitted: {first}")
        self._under_way.put(item, response, article)
        self._stories.begin(match.emitted)
        put_known(item, {self._name_of("story"): match.story})
        return item

    def scraped(self, item: Any, response: Response | None) -> None:
        self._end(item, response, is_emitted=True)

    def dropped(self, item: Any, response: Response | None, exception: Exception) -> None:
        if not isinstance(exception, CopiedArticleError | SeenArticleError | NoArticleError):
            self._end(item, response, is_emitted=False)

    def item_failed(self, item: Any, response: Response | None) -> None:
        self._end(item, response, is_emitted=False)

    def _drop(self, copy: _DroppedCopy) -> None:
        if copy.match.waits_for is None:
            self._settle(copy, is_emitted=True)
            return
        self._waiting.setdefault(copy.match.waits_for, []).append(copy)
        if len(self._waiting) > MAX_WAITING:
            for each in self._waiting.pop(next(iter(self._waiting))):
                self._settle(each, is_emitted=False)

    def _end(self, item: Any, response: Response | None, *, is_emitted: bool) -> None:
        article = self._under_way.pop(item, response)
        if article is None:
            return
        address = article.own_keys[0]
        self._stories.end(article.own_keys, is_emitted=is_emitted)
        if not is_emitted and self._stories.is_under_way(address):
            return  # another item of it, which may still be emitted
        for copy in self._waiting.pop(address, ()):
            self._settle(copy, is_emitted=is_emitted)

    def _settle(self, copy: _DroppedCopy, *, is_emitted: bool) -> None:
        """Note that *copy* was seen, or is missing, now that it is known whether it was emitted."""
        if is_emitted:
            self._stories.add(copy.match.emitted)
        new = copy.new
        if self._seen is not None and is_emitted and new is not None and not new.article.is_partial:
            self._seen.add(new.article.addresses, new.seen)
        elif self._seen is not None and copy.site:
            self._seen.leave_incomplete(copy.site)


@dataclass(frozen=True, slots=True)
class _DroppedCopy:
    """A copy that was dropped, what counts as seen with it, and the site whose lists named it."""

    match: StoryMatch
    new: NewArticle | None
    site: str


def _site_of(response: Response | None) -> str:
    return str(response.meta.get(SITE, "")) if response is not None else ""


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, SIZED) and not value)
