"""Title, authors, dates and the other metadata of a page's article.

Strategy: a page's elements are searched, source by source, in the order of `fields`; the first
source with a valid value decides, and its name is kept next to the value. No content of a page
raises an exception: malformed JSON, invalid URLs and dates that do not exist are skipped. Whatever
is nested in what, nodes are visited within one budget a page (`parsed_page`).

    metadata = read_html(response.text, response.url)
    metadata.published            # 2024-03-05T10:00:00+01:00
    metadata.source("published")  # json-ld
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Tokens
from scrapy_mss.metadata.fields import PARSERS, resolve_field
from scrapy_mss.metadata.lookups import breadcrumbs, declared_media, next_page
from scrapy_mss.metadata.parsed_page import ParsedPage
from scrapy_mss.metadata.tree import PageTree
from scrapy_mss.output.media import Medium


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata of a page; a field without a value is None or an empty list."""

    title: str | None = None
    authors: list[str] = field(default_factory=list)
    published: str | None = None
    modified: str | None = None
    language: str | None = None
    description: str | None = None
    site_name: str | None = None
    canonical_url: str | None = None
    main_image: str | None = None
    section: str | None = None
    tags: list[str] = field(default_factory=list)
    is_accessible_for_free: bool | None = None
    breadcrumbs: list[dict[str, str]] = field(default_factory=list)
    media: list[Medium] = field(default_factory=list)
    next_page: str = ""
    sources: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    def source(self, name: str) -> str | None:
        """The source of the value of field *name*; None if it has no value."""
        if name not in PARSERS:
            raise KeyError(f"unknown field {name!r}; the fields are {', '.join(PARSERS)}")
        return self.sources.get(name)

    def fields(self) -> dict[str, Any]:
        """The fields of `items.Article` that have a value, by name; media come with the text's."""
        trail = {"breadcrumbs": self.breadcrumbs} if self.breadcrumbs else {}
        return {name: getattr(self, name) for name in PARSERS if name in self.sources} | trail


def read_html(html: str, url: str | None = None) -> Metadata:
    """The metadata of the page *html*, for callers without its tokens."""
    return read_tokens(tokenize(html), url)


def read_tokens(tokens: Tokens, url: str | None = None) -> Metadata:
    """The metadata of a page that was read into *tokens* already, at a third of a parse."""
    return read_tree(PageTree(tokens), url)


def read_tree(tree: PageTree, url: str | None = None) -> Metadata:
    """The metadata of the page whose elements are in *tree*."""
    page = ParsedPage(tree, url)
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for name in PARSERS:
        resolved = resolve_field(page, name)
        if resolved:
            found, sources[name] = resolved
            values[name] = found.value
    trail, media = breadcrumbs(page), declared_media(page, values.get("main_image"))
    return Metadata(
        **values, breadcrumbs=trail, media=media, next_page=next_page(page), sources=sources
    )
