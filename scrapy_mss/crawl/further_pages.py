"""Joins the pages of an article that is split over several.

    first page -> its next page -> ... -> no further one, or a reason to stop

Pages are requested through the engine, as in Scrapy's media pipelines, so robots.txt, delays and
all other downloader features apply. The item waits for them. Title, dates and all other fields
are those of the first page. A next page is followed only within its site, never twice, and up to a
limit. A page that declares a different article, or repeats the text, ends the article.

A spider may follow the same links. Until the pages of an article are joined, any page that may be
one of them waits: pages whose address was requested here, or is the article's with a number
appended. A page that is joining waits for no other article, so there is no deadlock.
"""

from __future__ import annotations

import logging
from asyncio import Lock
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final
from weakref import WeakValueDictionary

from scrapy import Request
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Response
from scrapy.http.request import NO_CALLBACK

from scrapy_mss import stats
from scrapy_mss.article import ArticleResult
from scrapy_mss.crawl.pages import OK, PARTIAL, inherited_meta, proxy_login
from scrapy_mss.items import WRAPPER, Article
from scrapy_mss.output.media import Medium, media_fields
from scrapy_mss.pages.addresses import articles_begun, articles_continued, is_first, site_of
from scrapy_mss.pages.text import folded
from scrapy_mss.seen.keys import address_key
from scrapy_mss.seen.paragraphs import Paragraphs
from scrapy_mss.stats import CrawlStats

logger = logging.getLogger(__name__)

FURTHER_PAGE: Final = "further_page"  # of a page whose text is part of the article of another one
DAY: Final = len("2026-01-02")
MAX_REMEMBERED: Final = 100_000  # further pages of a crawl, so that none comes as an article, too

# Why the pages of an article end before there is no next one.
FAILED, OTHER_SITE, OTHER_ARTICLE = "failed", "other_site", "other_article"
REPEATED, NO_ARTICLE, LIMIT = "repeated", "no_article", "limit"

SERVER_ERROR: Final = 500  # this status and those above may be others next time, as may these:
PASSING: Final = frozenset({408, 429})

MOST_REPEATED: Final = 0.5  # of a page: sites repeat a lead, and the next page of comments all else

Fetch = Callable[[Request], Awaitable[Response]]
Read = Callable[[HtmlResponse], Awaitable[ArticleResult]]


@dataclass(slots=True)
class _Joining:
    """An article while its pages are joined."""

    first: Article
    response: Response  # of the first page
    keys: set[int]  # of the addresses that are taken
    paragraphs: set[str]
    pages: list[Article] = field(default_factory=list)
    length: int = 0
    lock: Lock = field(default_factory=Lock)  # until it is known which pages are its own
    is_partial: bool = False  # the next page may be had another time
    # The paragraphs of further pages, and whether each was joined: if it is another time, none of
    # them is new.
    read: list[tuple[bytes, bool]] = field(default_factory=list)


@dataclass(slots=True)
class FurtherPages:
    """Joins pages, at most *most* of an article and *longest* characters of their HTML."""

    fetch: Fetch
    numbers: CrawlStats
    most: int
    longest: int
    _joined: dict[int, None] = field(default_factory=dict)
    # By the keys of addresses that are asked for, and by the articles that addresses may continue.
    _undecided: WeakValueDictionary[int | str, Lock] = field(default_factory=WeakValueDictionary)

    def has(self, url: str) -> bool:
        """Whether the text of the page at *url* is part of an article of this crawl."""
        return bool(self._joined) and address_key(url) in self._joined

    async def takes(self, url: str) -> bool:
        """Whether that is so, as soon as articles that may have the page are joined."""
        names: list[int | str] = []
        if self._undecided:
            names = [address_key(url), *articles_continued(url)]
        for each in names:
            lock = self._undecided.get(each)
            if lock is not None and not self.has(url):
                async with lock:
                    pass
        return self.has(url)

    async def joined(self, response: Response, result: ArticleResult, read: Read) -> ArticleResult:
        """*result*, the reading of *response*, with the text of the article's further pages."""
        article, url = result.article, result.next_page
        is_named = result.source == WRAPPER
        if article is None or not url or not (is_named or is_first(response.url, url)):
            return result
        addresses = (response.url, article.canonical_url or response.url)
        keys = set(map(address_key, addresses))
        state = _Joining(article, response, keys, set(_paragraphs(article)))
        async with state.lock:
            self._undecided.update(dict.fromkeys(articles_begun(response.url), state.lock))
            while url:
                url, stopped = await self._next(state, url, read)
                if stopped:
                    self.numbers.add(stats.JOIN_STOPPED, reason=stopped)
                    logger.debug("scrapy-mss: %s has no further page: %s", response.url, stopped)
        if state.is_partial:
            response.meta[PARTIAL] = response.url  # a spider may give its meta to other requests
        return replace(
            result,
            article=joined_article(article, state.pages),
            paragraphs=_all_paragraphs(result.paragraphs, state.read),
        )

    async def _next(self, state: _Joining, url: str, read: Read) -> tuple[str, str]:
        """Add the page at *url*; the address of the one after it, and why there is none."""
        if len(state.pages) + 1 >= self.most or state.length > self.longest:
            return "", LIMIT
        if site_of(url) != site_of(state.first.url):
            return "", OTHER_SITE
        if address_key(url) in state.keys:
            return "", REPEATED
        state.keys.add(address_key(url))
        self._undecided[address_key(url)] = state.lock
        response = await self._fetched(state, url)
        if response is None:
            return "", FAILED
        result = await read(response)
        stopped = self._added(state, response, result.article)
        state.read.append((result.paragraphs, not stopped))
        if stopped:
            return "", stopped
        self._remember(url)
        self._remember(response.url)
        self.numbers.add(stats.JOINED)
        state.length += len(response.text)
        return result.next_page, ""

    async def _fetched(self, state: _Joining, url: str) -> HtmlResponse | None:
        """The page at *url*, if there is one; without it the article may be partial."""
        # Neither learned from nor given an item: no spider has asked for it.
        first = state.response.request
        headers = {"Referer": state.first.url, **proxy_login(first)}
        meta = inherited_meta(first)
        request = Request(url, NO_CALLBACK, headers=headers, meta=meta, dont_filter=True)
        try:
            response = await self.fetch(request)
        except IgnoreRequest:  # robots.txt forbids it, say
            return None
        except Exception:
            logger.debug("scrapy-mss: cannot download %s", url, exc_info=True)
            state.is_partial = True
            return None
        state.is_partial = response.status >= SERVER_ERROR or response.status in PASSING
        return response if isinstance(response, HtmlResponse) and response.status == OK else None

    def _added(self, state: _Joining, response: HtmlResponse, article: Article | None) -> str:
        """Add *article*; why not, if it does not belong to the pages before it."""
        if article is None:
            return NO_ARTICLE
        if site_of(response.url) != site_of(state.first.url):
            return OTHER_SITE
        canonical = article.canonical_url
        if canonical and address_key(canonical) not in state.keys | {address_key(response.url)}:
            return OTHER_ARTICLE
        is_named = canonical and address_key(canonical) != address_key(response.url)
        if not is_named and not _may_go_on(state.first, article):
            return OTHER_ARTICLE
        paragraphs = _paragraphs(article)
        repeated = sum(len(each) for each in paragraphs if each in state.paragraphs)
        if repeated > MOST_REPEATED * sum(map(len, paragraphs)):
            return REPEATED
        state.paragraphs.update(paragraphs)
        state.keys.add(address_key(response.url))
        state.pages.append(article)
        return ""

    def _remember(self, url: str) -> None:
        self._joined[address_key(url)] = None
        if len(self._joined) > MAX_REMEMBERED:
            del self._joined[next(iter(self._joined))]


def joined_article(first: Article, further: Sequence[Article]) -> Article:
    """The article of several pages: the texts of all, the rest from the *first*."""
    if not further:
        return first
    pages = (first, *further)
    confidences = [each.confidence for each in pages if each.confidence is not None]
    media = [
        Medium(**each, is_file=each["url"] in page.file_urls)
        for page in pages
        for each in page.media
    ]
    return replace(
        first,
        text=_together("\n\n", [each.text for each in pages]),
        html=_together("\n", [each.html for each in pages]),
        raw_html=_together("\n", [each.raw_html for each in pages]),
        markdown=_together("\n\n", [each.markdown for each in pages]),
        confidence=min(confidences, default=None),
        is_complete=None,  # that of the first page alone says nothing of all
        incomplete_reason=None,
        pages=[each.url for each in further],
        **media_fields(media),
    )


def _all_paragraphs(first: bytes, further: Sequence[tuple[bytes, bool]]) -> bytes:
    """The paragraphs of several pages, each of the *further* ones with whether it was joined."""
    found = Paragraphs.from_bytes(first)
    if found is None or not further:
        return first
    for each, is_joined in further:
        read = Paragraphs.from_bytes(each)
        found = found if read is None else found.plus(read, joined=is_joined)
    return found.to_bytes()


def _may_go_on(first: Article, further: Article) -> bool:
    """Whether *further* has the headline and the day of *first*, as far as both have any.

    `/weekly-roundup-2/` may be the second page of `/weekly-roundup/`, or next week's. Numbers in a
    headline may be those of its pages, which some sites put before it with a word or two.
    """
    words = (folded(each.title or "").split() for each in (first, further))
    one, other = (" ".join(word for word in each if not word.isdigit()) for each in words)
    days = {each.published[:DAY] for each in (first, further) if each.published}
    return (one in other or other in one) and len(days) <= 1


def _paragraphs(article: Article) -> list[str]:
    return (article.text or "").split("\n\n")


def _together(between: str, parts: Sequence[str | None]) -> str | None:
    return between.join(filter(None, parts)) or None
