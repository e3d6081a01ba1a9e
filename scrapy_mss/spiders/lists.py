"""What a list says: the articles that a page, feed or sitemap names, and the further lists.

A list is read with what is known of its site: addresses beyond the site's scope and articles that
are older than a moment are left out here, before anything expensive is done with them. Nothing in a
list raises, but for a packed sitemap that is too large.

Lists are read in a process of their own, with limits on processor time and memory: parsers of feeds
are in Python and take seconds for a megabyte that is made for it; a thread would hold the
interpreter's lock as long. One process reads all lists of a crawl, one after the other, as one
takes milliseconds. A list that takes too much ends it, and the next list starts another. The
articles of an answer are packed `CHUNK` at a time, so that the event loop never unpacks more than
that at once.
"""

from __future__ import annotations

import calendar
import json
import os
import re
import signal
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from html import escape
from importlib.util import find_spec
from io import BytesIO
from itertools import chain, islice
from time import process_time
from traceback import format_exc
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from lxml import etree
from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.utils.gz import gunzip, gzip_magic_number
from scrapy.utils.response import get_base_url

from scrapy_mss.blocks.fed_text import FedText
from scrapy_mss.crawl.hosts import Scope
from scrapy_mss.crawl.pages import LISTED, LISTED_MOMENTS, LISTED_TEXT, header
from scrapy_mss.crawl.processes import (
    CRASH,
    ERROR,
    LOST,
    MEMORY,
    OUT_OF_MEMORY,
    TIMEOUT,
    Child,
    can_have_workers,
    limit_memory,
    message,
    packed,
    parent,
    receive,
    send,
    unpacked,
)
from scrapy_mss.files.charsets import decoded
from scrapy_mss.metadata import dates
from scrapy_mss.metadata.authors import MAX_AUTHORS
from scrapy_mss.metadata.dates import Moments
from scrapy_mss.pages.addresses import absolute_url, is_section, site_of

FRONT, SECTION, FEED, ROBOTS, SITEMAP = "front", "section", "feed", "robots", "sitemap"
PAGES: Final = frozenset({FRONT, SECTION})
MOST: Final = {SECTION: 20, FEED: 20, SITEMAP: 10}  # of a kind that one list may name
MAX_LINKS: Final = 5000  # of a page, the first; front pages have some hundred
# Of a feed, the first: feedparser takes a second for some thousand entries.
MAX_ENTRIES: Final = 2000
MAX_OLD: Final = 200  # addresses of a list that are older than asked for, the newest
MAX_LISTED: Final = 50_000  # of a sitemap: what its protocol allows
# Of a list, packed or not: a sitemap of `MAX_LISTED` addresses has about 7 MB.
MAX_BYTES: Final = 16 * 2**20

# Of pages, feeds, robots.txt and sitemaps.
FEED_TYPES: Final = frozenset(
    {"application/rss+xml", "application/atom+xml", "application/feed+json", "application/json"}
)
_COMMENTS: Final = ("/comments/", "comments/feed", "feed/comments")
DATES: Final = ("published", "published_parsed", "updated", "updated_parsed")  # of feedparser
_ENTRY = re.compile(r"<(?:\w+:)?(?:item|entry)\b", re.IGNORECASE)
_IN_ROBOTS = re.compile(r"^[ \t]*sitemap[ \t]*:[ \t]*(\S+)", re.IGNORECASE | re.MULTILINE)
# When a page was published, and modified. A video of the page may have dates of its own.
_SITEMAP_DATES: Final = ("{*}news/{*}publication_date", "{*}lastmod")

# Of the process.
SECONDS: Final = 10  # of processor time for one list; a sitemap of 50,000 addresses takes two
MOST_MEMORY: Final = 2**30  # bytes; a tree takes some twenty times its list
TOO_LARGE: Final = "too_large"  # why a list is not read, beside `FAILURES`
CHUNK: Final = 20  # articles that the event loop takes together: some milliseconds
TIME_IS_UP: Final = getattr(signal, "SIGPROF", 0)
# Exit codes of the process: a signal ends it when its time is up, whatever it is in.
REASONS: Final[Mapping[int | None, str]] = {-TIME_IS_UP: TIMEOUT, OUT_OF_MEMORY: MEMORY}
PROCESS: Final = "scrapy_mss.spiders.lists"


class TooLargeError(Exception):
    """A packed sitemap has more than `MAX_BYTES`."""


class Listed(NamedTuple):
    """An address in a list, and the latest date there, in minutes since 1970; 0 if there is none.

    *moments* are when it was published and modified, as precise as the list has it, and *text* is
    that of the article, if a feed has it.
    """

    url: str
    minute: int = 0
    moments: Moments = Moments()
    text: FedText | None = None

    @property
    def meta(self) -> dict[str, Any]:
        """What the meta of its request needs for what the list says of it to be used."""
        return {LISTED: self.minute, LISTED_MOMENTS: [*self.moments], LISTED_TEXT: self.text}

    @classmethod
    def dated(cls, url: str, published: str | None, modified: str | None) -> Listed:
        """The address *url* with its dates as they are written in the list."""
        first, last = (_moment(text) if text else None for text in (published, modified))
        minute = max(_minute(first), _minute(last))
        return cls(url, minute, Moments(first, last if last != first else None))


def _moment(text: str) -> str | None:
    return dates.iso_moment(text) or dates.find(text)


def _minute(moment: str | None) -> int:
    """*moment* in minutes since 1970; 0 if there is none.

    A time without a zone is taken for UTC: lists are compared with themselves alone.
    """
    if not moment:
        return 0
    read = datetime.fromisoformat(moment)
    if read.tzinfo is None:
        read = read.replace(tzinfo=timezone.utc)
    return max(int(read.timestamp() // 60), 0)


class About(NamedTuple):
    """What is known of a list before it is read: its site and the *scope* of that.

    Articles dated before *since*, in minutes since 1970, are left out.
    """

    kind: str
    url: str
    content_type: str
    site: str
    scope: Scope
    since: int

    def response(self, body: bytes) -> Response:
        headers = {"Content-Type": self.content_type} if self.content_type else {}
        if self.kind == SITEMAP:
            return Response(self.url, headers=headers, body=body)
        cls = HtmlResponse if self.kind in PAGES else TextResponse
        response = cls(self.url, headers=headers, body=body)
        try:
            assert isinstance(response.text, str)
        except (LookupError, UnicodeError):  # the declared encoding is not for text, as `idna`
            response = cls(self.url, body=body, encoding="utf-8")
        return response


class Contents(NamedTuple):
    """What a list says."""

    articles: list[Listed]
    lists: Mapping[str, list[Listed]]  # by their kind
    off_site: str = ""  # an address that was left out because of the scope
    old: Sequence[str] = ()  # those of articles that were left out because of their date


def read(about: About, body: bytes) -> Contents:
    """The articles and further lists in the list with this *body*."""
    found = _READERS[about.kind](about.response(body))
    in_scope = [each for each in found.articles if about.scope.has(each.url)]
    old = [each for each in in_scope if 0 < each.minute < about.since]
    articles = [_of_site(about, each) for each in in_scope if not 0 < each.minute < about.since]
    lists = {kind: _first(about, kind, each) for kind, each in found.lists.items()}
    named = [*chain.from_iterable(found.lists.values())]
    if about.kind not in PAGES:  # most of these have links to other sites
        named += found.articles
    off_site = next((each.url for each in named if not about.scope.has(each.url)), "")
    latest_old = [each.url for each in newest_first(old)[:MAX_OLD]]
    return Contents(newest_first(articles), lists, off_site, latest_old)


def _of_site(about: About, listed: Listed) -> Listed:
    """*listed* without date and text if it is an article of another site, which has its own."""
    if site_of(listed.url) not in (about.site, site_of(about.url)):
        return Listed(listed.url)
    return listed


def _first(about: About, kind: str, listed: Iterable[Listed]) -> list[Listed]:
    """Of the lists of a *kind* that a list names, those to read."""
    newest, most = newest_first(each for each in listed if about.scope.has(each.url)), MOST[kind]
    if about.kind == SITEMAP and len(newest) > most and not newest[0].minute:
        # An index without dates may have the newest at either end.
        return newest[: most // 2] + newest[-(most // 2) :]
    return newest[:most]


def newest_first(listed: Iterable[Listed]) -> list[Listed]:
    """Each address once, with its latest date; those without a date come last, in their order."""
    latest: dict[str, Listed] = {}
    for each in listed:
        known = latest.get(each.url)
        if known is None or each.minute > known.minute:
            latest[each.url] = each
    return sorted(latest.values(), key=lambda each: -each.minute)


def web_url(href: str, base: str) -> str | None:
    """*href* resolved against *base*; None unless a request can be made of it."""
    url = absolute_url(href, base)
    try:
        if url is not None and urlsplit(url).port != 0:
            return url
    except ValueError:  # a port that is too large, or is no number
        pass
    return None


# --- front and section pages ----------------------------------------------------------------------


def _front(page: HtmlResponse) -> Contents:
    articles, lists = _section(page)[:2]
    sections = [each for each in articles if is_section(each.url)]
    return Contents(articles, {**lists, SECTION: sections})


def _section(page: HtmlResponse) -> Contents:
    links = islice(LinkExtractor().extract_links(page), MAX_LINKS)
    urls = (web_url(link.url, page.url) for link in links)
    return Contents([Listed(url) for url in urls if url], {FEED: [*map(Listed, feeds_of(page))]})


def feeds_of(page: HtmlResponse) -> list[str]:
    """The feeds that *page* names in its head, but for those of comments."""
    found = []
    base = get_base_url(page)
    for link in page.xpath("//link[@href][@rel]"):
        # `attrib` raises where any attribute has a control character in its name.
        rel, kind, href = (link.root.get(name, "") for name in ("rel", "type", "href"))
        kind = kind.partition(";")[0].strip().lower()
        if "alternate" not in rel.lower().split() or kind not in FEED_TYPES:
            continue
        url = web_url(href, base)
        if url and "wp-json" not in url and not any(map(url.count, _COMMENTS)):
            found.append(url)
    return list(dict.fromkeys(found))


# --- feeds: RSS and Atom by feedparser, and JSON Feed ---------------------------------------------


def check_feedparser() -> None:
    """Raise an `ImportError` that says what to install if feeds cannot be read."""
    if find_spec("feedparser") is None:
        message = "feeds need feedparser; run: pip install 'scrapy-mss[spiders]'"
        raise ImportError(message, name="feedparser")


def entries(feed: TextResponse) -> list[Listed]:
    """The first articles that *feed* names, in any of the formats; [] if it is not a feed.

    It has no texts for pages of other sites.
    """
    site = site_of(feed.url)
    return [
        each if site_of(each.url) == site else each._replace(text=None) for each in _entries(feed)
    ]


def _entries(feed: TextResponse) -> list[Listed]:
    found = (_of_json if feed.body.lstrip()[:1] == b"{" else _of_xml)(feed)
    joined = (each._replace(url=web_url(each.url, feed.url) or "") for each in found)
    return [each for each in islice(joined, MAX_ENTRIES) if each.url]


def _of_xml(feed: TextResponse) -> Iterator[Listed]:
    import feedparser

    # Given bytes, it would for one wrong byte guess the encoding of all: badly, and for seconds.
    source = decoded(feed.body, header(feed, "Content-Type"))
    beyond = next(islice(_ENTRY.finditer(source), MAX_ENTRIES, None), None)
    # What it would clean and resolve is the text of the entries, of which words alone are read.
    parsed = feedparser.parse(
        BytesIO((source[: beyond.start()] if beyond else source).encode("utf-8", "replace")),
        response_headers={"content-type": "application/xml; charset=utf-8"},
        sanitize_html=False,
        resolve_relative_uris=False,
    )
    for entry in parsed.entries:
        # `get` would give the one for the other, and warn.
        given = {name: entry[name] for name in DATES if name in entry}
        moments = (given.get(f"{name}_parsed") for name in ("published", "updated"))
        minutes = (calendar.timegm(each) // 60 for each in moments if each)
        url = str(entry.get("link") or "")
        listed = Listed.dated(url, given.get("published"), given.get("updated"))
        contents = map(_content, entry.get("content") or ())
        names = (each.get("name") for each in entry.get("authors") or ())
        text = _text(max(contents, key=len, default=""), entry.get("title"), names)
        yield listed._replace(minute=max(minutes, default=0), text=text)


def _of_json(feed: TextResponse) -> Iterator[Listed]:
    try:
        parsed: Any = json.loads(feed.text)
    except (ValueError, RecursionError):
        return
    items = parsed.get("items") if isinstance(parsed, Mapping) else None
    for item in items if isinstance(items, list) else []:
        if isinstance(item, Mapping):
            given = (item.get(name) for name in ("date_published", "date_modified"))
            texts = [each if isinstance(each, str) else None for each in given]
            listed = Listed.dated(str(item.get("url") or ""), *texts)
            html, plain = (item.get(name) for name in ("content_html", "content_text"))
            content = html if isinstance(html, str) else _as_html(plain)
            several = item.get("authors")
            authors = several if isinstance(several, list) else [item.get("author")]
            names = (each.get("name") for each in authors if isinstance(each, Mapping))
            yield listed._replace(text=_text(content, item.get("title"), names))


def _content(content: Mapping[str, Any]) -> str:
    value = content.get("value")
    is_plain = content.get("type") == "text/plain"
    return _as_html(value) if is_plain else str(value or "")


def _as_html(plain: object) -> str:
    lines = plain.splitlines() if isinstance(plain, str) else ()
    return "".join(f"<p>{escape(line)}</p>" for line in lines)


def _text(html: str, title: object, names: Iterable[object]) -> FedText | None:
    texts = (html, title if isinstance(title, str) else "", *islice(names, MAX_AUTHORS))
    # JSON can have halves of surrogate pairs, which are no characters.
    valid = (each.encode("utf-8", "replace").decode() for each in texts if isinstance(each, str))
    html, title, *authors = valid
    return FedText.of(html, title, authors)


# --- robots.txt, sitemaps and their indexes -------------------------------------------------------


def named_in_robots(robots: TextResponse) -> list[str]:
    """The sitemaps that a robots.txt names."""
    named = (web_url(url, robots.url) for url in _IN_ROBOTS.findall(robots.text))
    return [url for url in named if url]


def sitemap_entries(response: Response) -> tuple[list[Listed], list[Listed]]:
    """The pages, and the further sitemaps, that a sitemap names, which may be packed.

    What is no sitemap names nothing. One that is too large raises `TooLargeError`.
    """
    pages: list[Listed] = []
    sitemaps: list[Listed] = []
    root = _sitemap_root(response)
    elements = () if root is None else root.iterchildren("{*}url", "{*}sitemap")
    for element in islice(elements, MAX_LISTED):
        url = web_url(element.findtext("{*}loc") or "", response.url)
        if url:
            texts = [(element.findtext(path) or "").strip() or None for path in _SITEMAP_DATES]
            is_page = etree.QName(element).localname == "url"
            (pages if is_page else sitemaps).append(Listed.dated(url, *texts))
    return pages, sitemaps


def _sitemap_root(response: Response) -> etree._Element | None:
    try:
        body = _unpacked(response) if gzip_magic_number(response) else response.body
        parser = etree.XMLParser(
            recover=True, resolve_entities=False, no_network=True, remove_comments=True
        )
        # None for what has no element at all, which its types do not say.
        return etree.fromstring(body, parser=parser)
    except (etree.LxmlError, OSError, EOFError, ValueError, zlib.error):
        return None


def _unpacked(response: Response) -> bytes:
    try:
        return gunzip(response.body, max_size=MAX_BYTES)
    except ValueError as error:  # Scrapy's class for it is private
        raise TooLargeError(f"unpacked, it has more than {MAX_BYTES} bytes") from error


def _sitemap(response: Response) -> Contents:
    pages, sitemaps = sitemap_entries(response)
    return Contents([each for each in pages if each.minute], {SITEMAP: sitemaps})


_READERS: Final[Mapping[str, Callable[[Any], Contents]]] = {
    FRONT: _front,
    SECTION: _section,
    FEED: lambda feed: Contents(_entries(feed), {}),
    ROBOTS: lambda robots: Contents([], {SITEMAP: [*map(Listed, named_in_robots(robots))]}),
    SITEMAP: _sitemap,
}


# --- the process ----------------------------------------------------------------------------------

# What the process reads before all others: imports and the Public Suffix List take half a second of
# processor time, which is not to be the first list's.
FIRST: Final = About(
    FEED, "https://news.example/rss", "", "news.example", Scope(frozenset({"news.example"})), 0
)
FIRST_BODY: Final = (
    b"<rss><channel><item><link>https://news.example/a</link></item></channel></rss>"
)


@dataclass(frozen=True, slots=True)
class ListAnswer:
    """The contents of a list, as the process sends them, or the *reason* why it is not read."""

    lists: Mapping[str, list[str]]
    off_site: str = ""
    old: Sequence[str] = ()
    seconds: float = 0.0  # of processor time
    packed: Sequence[bytes] = ()
    reason: str = ""
    details: str = ""

    def chunks(self) -> Iterator[list[Listed]]:
        """The articles, some at a time, the newest first."""
        return (unpacked(each, list[Listed]) for each in self.packed)


class ListReader:
    """Reads the lists of a crawl, each within some *seconds* of processor time."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._thread = ThreadPoolExecutor(1, "scrapy-mss-lists")
        self.child = Child(PROCESS, str(seconds))

    def read(self, about: About, body: bytes) -> Future[ListAnswer]:
        """The contents of the list with this *body*, or why it cannot be read."""
        return self._thread.submit(self._read, about, body)

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)
        self.child.close()
        self._thread.shutdown()
        self.child.end()

    def _read(self, about: About, body: bytes) -> ListAnswer:
        if not can_have_workers():
            return answered(about, body)
        try:
            self.child.begin()
            self.child.send(message((about, body)))
            return self.child.receive(ListAnswer)
        except LOST:
            reason = REASONS.get(self.child.end(), CRASH)
            # How long it took is lost with the process: the limit is assumed.
            return ListAnswer({}, seconds=self._seconds, reason=reason, details=reason)


def answered(about: About, body: bytes) -> ListAnswer:
    """The contents of the list with this *body*, or why it cannot be read."""
    started = process_time()
    try:
        contents = read(about, body)
    except MemoryError:
        raise
    except TooLargeError as error:
        return _unread(TOO_LARGE, str(error), started)
    except Exception:  # noqa: BLE001 - the crawl logs it
        return _unread(ERROR, format_exc(), started)
    articles = contents.articles
    chunks = (articles[start : start + CHUNK] for start in range(0, len(articles), CHUNK))
    lists = {kind: [each.url for each in named] for kind, named in contents.lists.items()}
    articles_packed = [*map(packed, chunks)]
    seconds = process_time() - started
    return ListAnswer(lists, contents.off_site, contents.old, seconds, articles_packed)


def _unread(reason: str, details: str, started: float) -> ListAnswer:
    return ListAnswer({}, seconds=process_time() - started, reason=reason, details=details)


def main(seconds: str) -> None:
    """Answer requests from the crawl until it ends."""
    lists, answers = parent()
    limit_memory(MOST_MEMORY)
    read(FIRST, FIRST_BODY)
    with suppress(EOFError, ConnectionError):  # the crawl is over
        while True:
            about, body = receive(lists, tuple[About, bytes])
            signal.setitimer(signal.ITIMER_PROF, float(seconds))
            try:
                answer = answered(about, body)
            except MemoryError:
                os._exit(OUT_OF_MEMORY)
            signal.setitimer(signal.ITIMER_PROF, 0)
            send(answers, answer)
