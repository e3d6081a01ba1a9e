"""Sections and tags: the words by which a site has filed its article.

Tags come one to a value or as a list with commas; each is kept once, whatever its case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from scrapy_mss.metadata.page_tree import Element
from scrapy_mss.metadata.parsed_page import ParsedPage
from scrapy_mss.metadata.text import clean

MAX_TERM: Final = 80  # characters; a longer one is a sentence
MAX_TAGS: Final = 50
MAX_PARTS: Final = 500  # between commas, before those that are said twice are left out
MAX_TAG_LINKS: Final = 200  # a page of posts links the tags of each
_SEPARATORS: Final = re.compile(r"[,;|،，、؛]")  # noqa: RUF001 - those of Arabic and Chinese
_NUMBER: Final = re.compile(r"[0-9a-fA-F-]{20,}|[\d\W_]+")  # the key of a record, as no words are


def section_of(texts: Iterable[str]) -> str | None:
    """The first of *texts* that names a section."""
    terms = map(clean, texts)
    return next((term for term in terms if _is_term(term)), None)


def tags_of(texts: Iterable[str]) -> list[str]:
    """The tags in *texts*, each once; without fields of the site's editors (`locale: US`)."""
    parts = (part.strip(" #\"'") for text in texts for part in _SEPARATORS.split(clean(text)))
    tags: dict[str, str] = {}
    for term in filter(_is_term, islice(parts, MAX_PARTS)):
        tags.setdefault(term.casefold(), term)
    found = list(tags.values())
    fields = [term for term in found if ": " in term]
    if len(fields) > 1:  # one may be the name of a film
        found = [term for term in found if term not in fields]
    return found[:MAX_TAGS]


def _is_term(term: str) -> bool:
    is_short = 0 < len(term) <= MAX_TERM
    return is_short and not term.startswith(("http", "{", "[")) and not _NUMBER.fullmatch(term)


def tag_link(page: ParsedPage, _: tuple[str, ...]) -> Iterator[str]:
    """Links with `rel=tag` next to the first of them."""
    found = page.tree.related_links("tag", MAX_TAG_LINKS)
    links = [each for each in found if "tag" in (each.get("rel") or "").lower().split()]
    group = _around(links[0]) if links else None
    for link in links:
        if _around(link) is group:
            yield page.visible.of(link)


def _around(link: Element) -> Element | None:
    """The element that holds *link* and its neighbours, be each in an item of a list or not."""
    around = list(islice(link.iterancestors(), 2))
    is_item = bool(around) and around[0].tag in ("li", "span")
    return next(iter(around[is_item:]), None)
