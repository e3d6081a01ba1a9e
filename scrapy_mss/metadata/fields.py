"""The sources of each field: one table, in the order in which they are tried.

Strategy: a field has one parser, which knows what a valid value is, and a row for each source: its
name, a lookup and the keys that it looks up. The first row whose texts contain a valid value
decides. To drop a source, delete its row. docs/metadata.md shows this table, and a test keeps the
two equal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

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
_HOME: Final = re.compile(r"https?://[^/?#]*/?\??(?:#.*)?", re.IGNORECASE)
_NUMBER: Final = re.compile(r"[0-9a-fA-F-]{20,}|[\d\W_]+")  # the key of a record, as no words are


Value: TypeAlias = str | bool | list[str]


class FieldValue(NamedTuple):
    """A value of a field; a *weak* one is used only if no later source has a better one."""

    value: Value
    weak: bool = False


class FieldSource(NamedTuple):
    """One place of a page where the value of a field may be."""

    name: str
    lookup: Lookup
    keys: Keys


Parser = Callable[[ParsedPage, Iterable[str]], FieldValue | None]


class Field(NamedTuple):
    """How a field is read: by *parse* from the texts of the first of *sources* with a value."""

    parse: Parser
    sources: tuple[FieldSource, ...]


# --- parsers: candidate texts -> value ------------------------------------------------------------


def _title(page: ParsedPage, texts: Iterable[str]) -> FieldValue | None:
    for text in map(clean, texts):
        title = without_site(text, page.site_names)
        if title:
            weak = title.endswith(ELLIPSES) or is_site_name(title, page.site_names)
            return FieldValue(title, weak)
    return None


def _first_of(parse: Callable[[ParsedPage, str], Value | None]) -> Parser:
    """The first value that *parse* makes of a text: neither None nor empty; False is a value."""

    def parser(page: ParsedPage, texts: Iterable[str]) -> FieldValue | None:
        for text in texts:
            value = parse(page, text)
            if value or value is False:
                return FieldValue(value)
        return None

    return parser


def _authors(page: ParsedPage, texts: Iterable[str]) -> FieldValue | None:
    names = author_names(texts)
    others = without_site_names(names, page.site_names)
    if others:
        return FieldValue(others)
    return FieldValue(names, weak=True) if names else None


def _date(page: ParsedPage, text: str) -> str | None:
    return dates.parse(clean(text), page.language)


def _canonical_url(page: ParsedPage, text: str) -> str | None:
    """A URL; not the home page's unless the page is that (a common mistake of templates)."""
    url = absolute_url(text, page.base)
    return url if url and (not _is_home(url) or _is_home(page.url or url)) else None


def _section(_: ParsedPage, text: str) -> str | None:
    term = clean(text)
    return term if _is_term(term) else None


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


def _tags(_: ParsedPage, texts: Iterable[str]) -> FieldValue | None:
    tags = tags_of(texts)
    return FieldValue(tags) if tags else None


def _is_home(url: str) -> bool:
    return _HOME.fullmatch(url) is not None


# --- the table ------------------------------------------------------------------------------------


def _field(parse: Parser, *rows: tuple[str, Lookup, str]) -> Field:
    return Field(
        parse, tuple(FieldSource(name, lookup, tuple(keys.split())) for name, lookup, keys in rows)
    )


FIELDS: Final[Mapping[str, Field]] = {
    "title": _field(
        _title,
        ("heading", lookups.confirmed_heading, "og:title twitter:title"),
        ("opengraph", lookups.meta, "og:title"),
        ("json-ld", lookups.json_ld_article, "headline name"),
        (
            "meta",
            lookups.meta,
            "citation_title parsely-title sailthru.title twitter:title dc.title",
        ),
        ("microdata", lookups.microdata_property, "headline"),
        ("heading", lookups.h1_heading, ""),
        ("title", lookups.title_element, ""),
    ),
    "authors": _field(
        _authors,
        ("json-ld", lookups.json_ld_article, "author creator"),
        ("meta", lookups.meta_inverted_name, "citation_author"),
        ("microdata", lookups.microdata_person, "author creator"),
        ("rel-author", lookups.author_link, ""),
        ("label", lookups.labelled_name, ""),
        ("meta", lookups.meta, "author parsely-author sailthru.author byl article:author"),
        ("meta", lookups.meta_inverted_name, "dc.creator dcterms.creator"),
        ("byline", lookups.byline, ""),
    ),
    "published": _field(
        _first_of(_date),
        (
            "meta",
            lookups.meta,
            """article:published_time og:article:published_time article:published
            og:published_time parsely-pub-date sailthru.date citation_publication_date""",
        ),
        ("json-ld", lookups.json_ld_article, "datePublished dateCreated uploadDate"),
        ("microdata", lookups.microdata_property, "datePublished dateCreated"),
        ("json-ld", lookups.json_ld_page, "datePublished"),
        (
            "meta",
            lookups.meta,
            """citation_date dc.date.issued dcterms.date dcterms.created dc.date dc.date.created
            datepublished pubdate publish-date publish_date publication_date published_at date""",
        ),
        (
            "time",
            consistent_with_url(lookups.marked_time),
            "publish pubdate pub-date entry-date posted created",
        ),
        (
            "script",
            consistent_with_url(lookups.script_value),
            """datePublished date_published published publishedAt published_at publishedDate
            published_date publishDate publish_date publicationDate publication_date pubDate
            firstPublished firstPublishedAt first_published_at""",
        ),
        ("near-heading", consistent_with_url(lookups.date_line), ""),
        ("time", consistent_with_url(lookups.other_time), "updat modif edit"),
        ("near-heading", consistent_with_url(lookups.line_with_date), ""),
        ("url", lookups.url_day, ""),
        ("near-heading", lookups.update_line, ""),
        ("text", lookups.distant_date_line, ""),
    ),
    "modified": _field(
        _first_of(_date),
        ("json-ld", lookups.json_ld_article, "dateModified"),
        (
            "meta",
            lookups.meta,
            """article:modified_time og:article:modified_time article:modified og:updated_time
            og:modified_time dcterms.modified dc.date.modified datemodified last-modified""",
        ),
        ("microdata", lookups.microdata_property, "dateModified"),
        ("json-ld", lookups.json_ld_page, "dateModified"),
        ("time", lookups.marked_time, "modified updated"),
        ("near-heading", lookups.update_line, ""),
    ),
    "language": _field(
        _first_of(lambda _, text: languages.parse(text)),
        ("html", lookups.html_language, ""),
        ("json-ld", lookups.json_ld_article, "inLanguage"),
        ("json-ld", lookups.json_ld_page, "inLanguage"),
        ("meta", lookups.meta, "content-language language dc.language og:locale"),
    ),
    "description": _field(
        _first_of(lambda _, text: clean(text)),
        ("opengraph", lookups.meta, "og:description"),
        ("meta", lookups.meta, "description twitter:description dc.description"),
        ("json-ld", lookups.json_ld_article, "description"),
        ("microdata", lookups.microdata_property, "description"),
    ),
    "site_name": _field(
        _first_of(lambda _, text: clean(text)),
        ("opengraph", lookups.meta, "og:site_name"),
        ("json-ld", lookups.json_ld_article, "publisher"),
        ("json-ld", lookups.json_ld_site, "name"),
        ("meta", lookups.meta, "application-name dc.publisher apple-mobile-web-app-title"),
    ),
    "canonical_url": _field(
        _first_of(_canonical_url),
        ("link", lookups.link, "canonical"),
        ("opengraph", lookups.meta, "og:url"),
        ("json-ld", lookups.json_ld_article, "url mainEntityOfPage"),
    ),
    "main_image": _field(
        _first_of(lambda page, text: absolute_url(text, page.base)),
        ("opengraph", lookups.meta, "og:image og:image:url og:image:secure_url"),
        ("json-ld", lookups.json_ld_article, "image thumbnailUrl"),
        ("meta", lookups.meta, "twitter:image twitter:image:src parsely-image-url"),
        ("json-ld", lookups.json_ld_page, "primaryImageOfPage image"),
        ("microdata", lookups.microdata_property, "image"),
        ("link", lookups.link, "image_src"),
    ),
    "section": _field(
        _first_of(_section),
        ("opengraph", lookups.meta, "article:section og:article:section"),
        ("json-ld", lookups.json_ld_article, "articleSection"),
        ("meta", lookups.meta, "parsely-section sailthru.section section"),
        ("microdata", lookups.microdata_property, "articleSection"),
    ),
    "tags": _field(
        _tags,
        ("opengraph", lookups.meta, "article:tag og:article:tag"),
        ("json-ld", lookups.json_ld_article, "keywords"),
        ("meta", lookups.meta, "news_keywords parsely-tags sailthru.tags"),
        ("microdata", lookups.microdata_property, "keywords"),
        ("rel-tag", lookups.tag_link, ""),
        ("meta", lookups.meta, "keywords"),
    ),
    "is_accessible_for_free": _field(
        _first_of(lambda _, text: lookups.is_free(text)),
        ("json-ld", lookups.article_flag, "isAccessibleForFree"),
        ("json-ld", lookups.part_flag, "isAccessibleForFree"),
        ("json-ld", lookups.page_flag, "isAccessibleForFree"),
        ("microdata", lookups.microdata_property, "isAccessibleForFree"),
        ("opengraph", lookups.meta, "article:content_tier"),
    ),
}


def resolve_field(page: ParsedPage, field: Field) -> tuple[Value | None, str]:
    """The value of *field* and the name of its source; None if no source has one."""
    weak: tuple[Value | None, str] = None, ""
    for source in field.sources:
        texts = source.lookup(page, source.keys)
        found = field.parse(page, texts) if texts else None
        if found and not found.weak:
            return found.value, source.name
        if found and weak[0] is None:
            weak = found.value, source.name
    return weak
