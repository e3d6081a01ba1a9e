"""Title, authors, dates and the other metadata of a page's article.

Strategy: a page's elements are searched, source by source, in the order of `fields`; the first
source with a valid value decides, and its name is kept next to the value. No content of a page
raises an exception: malformed JSON, invalid URLs and dates that do not exist are skipped. Whatever
is nested in what, nodes are visited within one budget a page (`parsed_page`).

    metadata = read_html(response.text, response.url)
    metadata.values["published"]   # 2024-03-05T10:00:00+01:00
    metadata.sources["published"]  # json-ld
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Tokens
from scrapy_mss.metadata.completeness import completeness
from scrapy_mss.metadata.fields import FIELDS, resolve_field
from scrapy_mss.metadata.lookups import breadcrumbs, declared_media, next_page
from scrapy_mss.metadata.parsed_page import ParsedPage
from scrapy_mss.output.media import Medium
from scrapy_mss.pages.reservations import META, Reservation, stated


class Metadata(NamedTuple):
    """The *values* of fields of `items.Article`, by name, and the names of their *sources*.

    A field without a value is absent. *next_page* is empty if there is none.
    """

    values: dict[str, Any]
    sources: Mapping[str, str] = MappingProxyType({})
    media: Sequence[Medium] = ()  # that the page declares
    next_page: str = ""
    reservations: tuple[Reservation, ...] = ()  # in its `<meta>`


def read_html(html: str, url: str | None = None) -> Metadata:
    """The metadata of the page *html*, for callers without its tokens."""
    return read_tokens(tokenize(html), url)


def read_tokens(tokens: Tokens, url: str | None = None) -> Metadata:
    """The metadata of a page that was read into *tokens* already, at a third of a parse."""
    return read_page(ParsedPage(tokens, url))


def read_page(page: ParsedPage, text: str = "") -> Metadata:
    """The metadata of a parsed *page*; with the *text* of its article, whether that is complete."""
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for name, field in FIELDS.items():
        value, source = resolve_field(page, field)
        if value is not None:
            values[name], sources[name] = value, source
    trail = breadcrumbs(page)
    if trail:
        values["breadcrumbs"], sources["breadcrumbs"] = trail, "json-ld"
    media = declared_media(page, values.get("main_image"))
    if text:
        values.update(completeness(page, text)._asdict())
    return Metadata(values, sources, media, next_page(page), stated(META, page.metas))
