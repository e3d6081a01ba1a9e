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
from typing import Any, Final, NamedTuple

from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Bools, Tokens
from scrapy_mss.metadata.completeness import Completeness, completeness
from scrapy_mss.metadata.fields import FIELDS, resolve_field
from scrapy_mss.metadata.live_entries import LiveEntry, live_entries
from scrapy_mss.metadata.lookups import breadcrumbs, declared_media, next_page
from scrapy_mss.metadata.parsed_page import ParsedPage
from scrapy_mss.metadata.tree import PageTree
from scrapy_mss.output.media import Medium
from scrapy_mss.pages.reservations import META, Reservation, stated

ACCESS: Final = "is_accessible_for_free"


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


def read_tokens(tokens: Tokens, url: str | None = None, text: str = "") -> Metadata:
    """The metadata of a page that was read into *tokens* already, at a third of a parse.

    With the *text* of its article, also whether that is complete.
    """
    page = ParsedPage(PageTree(tokens), url)
    found = metadata_of(page)
    if text:
        is_accessible = found.values.get(ACCESS)
        read = completeness(page, tokens, text, is_accessible=is_accessible)
        found.values.update(read._asdict())
    return found


def completeness_of(tokens: Tokens, text: str, url: str | None = None) -> Completeness:
    """Whether *text* is all of the article of the page with these *tokens*."""
    page = ParsedPage(PageTree(tokens), url)
    resolved = resolve_field(page, FIELDS[ACCESS])
    is_accessible = bool(resolved[0].value) if resolved else None
    return completeness(page, tokens, text, is_accessible=is_accessible)


def live_entries_of(tokens: Tokens, kept: Bools, url: str | None = None) -> list[LiveEntry]:
    """The entries of the live blog whose text are the *kept* ones of *tokens*."""
    return live_entries(ParsedPage(PageTree(tokens), url), tokens, kept)


def reservations_of(tokens: Tokens) -> tuple[Reservation, ...]:
    """What the page with these *tokens* says on its use by machines."""
    return stated(META, ParsedPage(PageTree(tokens), None).metas)


def metadata_of(page: ParsedPage) -> Metadata:
    """The metadata of a parsed *page*, but for what needs the text of its article."""
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for name, field in FIELDS.items():
        resolved = resolve_field(page, field)
        if resolved:
            found, sources[name] = resolved
            values[name] = found.value
    media = declared_media(page, values.get("main_image"))
    trail = breadcrumbs(page)
    if trail:
        values["breadcrumbs"], sources["breadcrumbs"] = trail, "json-ld"
    return Metadata(values, sources, media, next_page(page), stated(META, page.metas))
