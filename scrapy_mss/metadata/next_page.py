"""The address of the next page of an article that is spread over several.

A link with `rel=next` may also lead to the next article of a blog or the next day of an archive. So
it is believed only if its address is that of its own page with the number after it:

    /ferry.html -> /ferry-2.html    /ferry -> /ferry/2 -> /ferry/3    /ferry -> /ferry?page=2
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from scrapy_mss.metadata.parsed_page import ParsedPage
from scrapy_mss.metadata.text import absolute_url

MAX_LINKS: Final = 20
MAX_PARAMETERS: Final = 50
PARAMETERS: Final = frozenset("page p pg seite pagina pageno page_no paged currentpage".split())
_NUMBERED: Final = re.compile(
    r"(?P<stem>/.*?)(?:/(?:page|seite|pagina|p)?[-_/]?|[-_,.](?:page|seite|pagina|p|s)?[-_]?)"
    r"(?P<number>[1-9]\d?)(?P<extension>\.[a-z]{2,5})?/?",
    re.IGNORECASE,
)


class Numbered(NamedTuple):
    """A page of an article: the article's address, and which of its pages it is."""

    article: str
    number: int


def next_page(page: ParsedPage) -> str:
    """Where the next page of the article in *page* is; empty if nothing says that."""
    if not page.url:
        return ""
    links = page.tree.related_links("next", MAX_LINKS)
    named = [each.get("href") or "" for each in links if "next" in (each.get("rel") or "").split()]
    for href in (*page.links.get("next", ())[:MAX_LINKS], *named):
        url = absolute_url(href, page.base)
        if url and follows(url, page.url):
            return url
    return ""


def follows(url: str, before: str) -> bool:
    """Whether *url* is that of the page after *before* in one article."""
    earlier = set(_readings(before))
    return any(Numbered(article, number - 1) in earlier for article, number in _readings(url))


def is_first(url: str, following: str) -> bool:
    """Whether *url* is that of the first page of the article that goes on at *following*."""
    return not articles_begun(url).isdisjoint(articles_continued(following))


def articles_begun(url: str) -> set[str]:
    """The articles that *url* may be the first page of."""
    return {article for article, number in _readings(url) if number <= 1}


def articles_continued(url: str) -> set[str]:
    """The articles that *url* may be a further page of."""
    return {article for article, number in _readings(url) if number > 1}


def _readings(url: str) -> Iterator[Numbered]:
    """What the address of a page may mean: an article of one page, or a page of an article."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    pairs = parse_qsl(parts.query, keep_blank_values=True)[:MAX_PARAMETERS]
    others = [(name, value) for name, value in pairs if name.lower() not in PARAMETERS]
    host = parts.netloc.lower()
    yield Numbered(f"{host}{path}?{urlencode(pairs)}", 1)
    numbers = [value for name, value in pairs if name.lower() in PARAMETERS]
    if len(numbers) == 1 and re.fullmatch(r"\d{1,2}", numbers[0]):
        article = f"{host}{path}?{urlencode(others)}"
        yield Numbered(article, int(numbers[0]))
        yield Numbered(article, int(numbers[0]) + 1)  # some count from zero
    found = _NUMBERED.fullmatch(parts.path)
    if found is not None:
        stem = f"{found['stem']}{found['extension'] or ''}".rstrip("/")
        yield Numbered(f"{host}{stem}?{urlencode(pairs)}", int(found["number"]))
