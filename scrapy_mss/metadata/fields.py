"""The sources of each field: one table, in the order in which they are tried.

Strategy: a row is a field, the name of the source, a lookup and the keys that it looks up. The
first row whose texts contain a valid value decides; what a valid value is, one parser per field
knows (`PARSERS`). To drop a source, delete its row. docs/metadata.md shows this table, and a test
keeps the two equal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from scrapy_mss.metadata import dates, languages, lookups
from scrapy_mss.metadata.authors import author_names, without_site_names
from scrapy_mss.metadata.lookups import Keys, Lookup, consistent_with_url
from scrapy_mss.metadata.parsed_page import ParsedPage
from scrapy_mss.metadata.titles import is_site_name, without_site
from scrapy_mss.pages.addresses import absolute_url
from scrapy_mss.pages.text import clean

ELLIPSES: Final = ("...", "…")  # the end of a title that was truncated for a social network
MAX_TERM: Final = 80  # characters; a longer one is a sentence
MAX_TAGS: Final = 50
MAX_PARTS: Final = 500  # between commas, before those that are said twice are left out
_SEPARATORS: Final = re.compile(r"[,;|،，、؛]")  # noqa: RUF001 - those of Arabic and Chinese
_NUMBER: Final = re.compile(r"[0-9a-fA-F-]{20,}|[\d\W_]+")  # the key of a record, as no words are


class FieldValue(NamedTuple):
    """A value of a field; a *weak* one is used only if no later source has a better one."""

    value: str | bool | list[str]
    weak: bool = False


class FieldSource(NamedTuple):
    """One place of a page where the value of *field* may be."""

    field: str
    name: str
    lookup: Lookup
    keys: Keys


Parser = Callable[[ParsedPage, Iterable[str]], FieldValue | None]

# --- parsers: candidate texts -> value ------------------------------------------------------------


def _title(page: ParsedPage, texts: Iterable[str]) -> FieldValue | None:
    for text in map(clean, texts):
        title = without_site(text, page.site_names)
        if title:
            weak = title.endswith(ELLIPSES) or is_site_name(title, page.site_names)
            return FieldValue(title, weak)
    return None


def _text(_: ParsedPage, texts: Iterable[str]) -> FieldValue | None:
    return _first(map(clean, texts))


def _authors(page: ParsedPage, texts: Iterable[str]) -> FieldValue | None:
    names = author_names(texts)
    others = without_site_names(names, page.site_names)
    if others:
        return FieldValue(others)
    return FieldValue(names, weak=True) if names else None


def _date(page: ParsedPage, texts: Iterable[str]) -> FieldValue | None:
    return _first(dates.parse(clean(text), page.language) for text in texts)


def _language(_: ParsedPage, texts: Iterable[str]) -> FieldValue | None:
    return _first(map(languages.parse, texts))


def _image(page: ParsedPage, texts: Iterable[str]) -> FieldValue | None:
    return _first(absolute_url(text, page.base) for text in texts)


def _canonical_url(page: ParsedPage, texts: Iterable[str]) -> FieldValue | None:
    """A URL; not the home page's unless the page is that (a common mistake of templates)."""
    urls = (absolute_url(text, page.base) for text in texts)
    return _first(url for url in urls if url and (not _is_home(url) or _is_home(page.url or url)))


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


def _section(_: ParsedPage, texts: Iterable[str]) -> FieldValue | None:
    return _first(term for term in map(clean, texts) if _is_term(term))


def _tags(_: ParsedPage, texts: Iterable[str]) -> FieldValue | None:
    tags = tags_of(texts)
    return FieldValue(tags) if tags else None


def _is_free(_: ParsedPage, texts: Iterable[str]) -> FieldValue | None:
    known = (free for text in texts if (free := lookups.is_free(text)) is not None)
    return next(map(FieldValue, known), None)


def _is_home(url: str) -> bool:
    parts = urlsplit(url)
    return parts.path in ("", "/") and not parts.query


def _first(values: Iterable[str | None]) -> FieldValue | None:
    return next((FieldValue(value) for value in values if value), None)


PARSERS: Final[Mapping[str, Parser]] = {
    "title": _title,
    "authors": _authors,
    "published": _date,
    "modified": _date,
    "language": _language,
    "description": _text,
    "site_name": _text,
    "canonical_url": _canonical_url,
    "main_image": _image,
    "section": _section,
    "tags": _tags,
    "is_accessible_for_free": _is_free,
}

# --- the table ------------------------------------------------------------------------------------


def _source(field: str, name: str, lookup: Lookup, keys: str = "") -> FieldSource:
    return FieldSource(field, name, lookup, tuple(keys.split()))


FIELD_SOURCES: Final[tuple[FieldSource, ...]] = (
    _source("title", "heading", lookups.confirmed_heading, "og:title twitter:title"),
    _source("title", "opengraph", lookups.meta, "og:title"),
    _source("title", "json-ld", lookups.json_ld_article, "headline name"),
    _source(
        "title",
        "meta",
        lookups.meta,
        "citation_title parsely-title sailthru.title twitter:title dc.title",
    ),
    _source("title", "microdata", lookups.microdata_property, "headline"),
    _source("title", "heading", lookups.h1_heading),
    _source("title", "title", lookups.title_element),
    _source("authors", "json-ld", lookups.json_ld_article, "author creator"),
    _source("authors", "meta", lookups.meta_inverted_name, "citation_author"),
    _source("authors", "microdata", lookups.microdata_person, "author creator"),
    _source("authors", "rel-author", lookups.author_link),
    _source("authors", "label", lookups.labelled_name),
    _source(
        "authors", "meta", lookups.meta, "author parsely-author sailthru.author byl article:author"
    ),
    _source("authors", "meta", lookups.meta_inverted_name, "dc.creator dcterms.creator"),
    _source("authors", "byline", lookups.byline),
    _source(
        "published",
        "meta",
        lookups.meta,
        "article:published_time og:article:published_time article:published og:published_time "
        "parsely-pub-date sailthru.date citation_publication_date",
    ),
    _source(
        "published", "json-ld", lookups.json_ld_article, "datePublished dateCreated uploadDate"
    ),
    _source("published", "microdata", lookups.microdata_property, "datePublished dateCreated"),
    _source("published", "json-ld", lookups.json_ld_page, "datePublished"),
    _source(
        "published",
        "meta",
        lookups.meta,
        "citation_date dc.date.issued dcterms.date dcterms.created dc.date dc.date.created "
        "datepublished pubdate publish-date publish_date publication_date published_at date",
    ),
    _source(
        "published",
        "time",
        consistent_with_url(lookups.marked_time),
        "publish pubdate pub-date entry-date posted created",
    ),
    _source(
        "published",
        "script",
        consistent_with_url(lookups.script_value),
        "datePublished date_published published publishedAt published_at publishedDate "
        "published_date publishDate publish_date publicationDate publication_date pubDate "
        "firstPublished firstPublishedAt first_published_at",
    ),
    _source("published", "near-heading", consistent_with_url(lookups.date_line)),
    _source("published", "time", consistent_with_url(lookups.other_time), "updat modif edit"),
    _source("published", "near-heading", consistent_with_url(lookups.line_with_date)),
    _source("published", "url", lookups.url_day),
    _source("published", "near-heading", lookups.update_line),
    _source("published", "text", lookups.distant_date_line),
    _source("modified", "json-ld", lookups.json_ld_article, "dateModified"),
    _source(
        "modified",
        "meta",
        lookups.meta,
        "article:modified_time og:article:modified_time article:modified og:updated_time "
        "og:modified_time dcterms.modified dc.date.modified datemodified last-modified",
    ),
    _source("modified", "microdata", lookups.microdata_property, "dateModified"),
    _source("modified", "json-ld", lookups.json_ld_page, "dateModified"),
    _source("modified", "time", lookups.marked_time, "modified updated"),
    _source("modified", "near-heading", lookups.update_line),
    _source("language", "html", lookups.html_language),
    _source("language", "json-ld", lookups.json_ld_article, "inLanguage"),
    _source("language", "json-ld", lookups.json_ld_page, "inLanguage"),
    _source("language", "meta", lookups.meta, "content-language language dc.language og:locale"),
    _source("description", "opengraph", lookups.meta, "og:description"),
    _source("description", "meta", lookups.meta, "description twitter:description dc.description"),
    _source("description", "json-ld", lookups.json_ld_article, "description"),
    _source("description", "microdata", lookups.microdata_property, "description"),
    _source("site_name", "opengraph", lookups.meta, "og:site_name"),
    _source("site_name", "json-ld", lookups.json_ld_article, "publisher"),
    _source("site_name", "json-ld", lookups.json_ld_site, "name"),
    _source(
        "site_name",
        "meta",
        lookups.meta,
        "application-name dc.publisher apple-mobile-web-app-title",
    ),
    _source("canonical_url", "link", lookups.link, "canonical"),
    _source("canonical_url", "opengraph", lookups.meta, "og:url"),
    _source("canonical_url", "json-ld", lookups.json_ld_article, "url mainEntityOfPage"),
    _source("main_image", "opengraph", lookups.meta, "og:image og:image:url og:image:secure_url"),
    _source("main_image", "json-ld", lookups.json_ld_article, "image thumbnailUrl"),
    _source(
        "main_image", "meta", lookups.meta, "twitter:image twitter:image:src parsely-image-url"
    ),
    _source("main_image", "json-ld", lookups.json_ld_page, "primaryImageOfPage image"),
    _source("main_image", "microdata", lookups.microdata_property, "image"),
    _source("main_image", "link", lookups.link, "image_src"),
    _source("section", "opengraph", lookups.meta, "article:section og:article:section"),
    _source("section", "json-ld", lookups.json_ld_article, "articleSection"),
    _source("section", "meta", lookups.meta, "parsely-section sailthru.section section"),
    _source("section", "microdata", lookups.microdata_property, "articleSection"),
    _source("tags", "opengraph", lookups.meta, "article:tag og:article:tag"),
    _source("tags", "json-ld", lookups.json_ld_article, "keywords"),
    _source("tags", "meta", lookups.meta, "news_keywords parsely-tags sailthru.tags"),
    _source("tags", "microdata", lookups.microdata_property, "keywords"),
    _source("tags", "rel-tag", lookups.tag_link),
    _source("tags", "meta", lookups.meta, "keywords"),
    _source("is_accessible_for_free", "json-ld", lookups.article_flag, "isAccessibleForFree"),
    _source("is_accessible_for_free", "json-ld", lookups.part_flag, "isAccessibleForFree"),
    _source("is_accessible_for_free", "json-ld", lookups.page_flag, "isAccessibleForFree"),
    _source(
        "is_accessible_for_free", "microdata", lookups.microdata_property, "isAccessibleForFree"
    ),
    _source("is_accessible_for_free", "opengraph", lookups.meta, "article:content_tier"),
)


SOURCES_BY_FIELD: Final[Mapping[str, tuple[FieldSource, ...]]] = {
    field: tuple(source for source in FIELD_SOURCES if source.field == field) for field in PARSERS
}


def resolve_field(page: ParsedPage, field: str) -> tuple[FieldValue, str] | None:
    """The value of *field* and the name of its source; None if no source has one."""
    weak: tuple[FieldValue, str] | None = None
    parser = PARSERS[field]
    for source in SOURCES_BY_FIELD[field]:
        texts = source.lookup(page, source.keys)
        found = parser(page, texts) if texts else None
        if found and not found.weak:
            return found, source.name
        if found and not weak:
            weak = found, source.name
    return weak
