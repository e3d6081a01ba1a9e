"""Where each field comes from: one table, in the order in which places are asked.

Strategy: a row is a field, the name of its source, the words that are looked up there and the
reader that does it. The first row whose texts make a value decides; what makes a value of texts
is one function a field (`FINISH`). Deleting a row deletes the place; `docs/metadata.md` shows
this table and a test holds them together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from scrapy_mss.metadata import dates, languages, readers
from scrapy_mss.metadata.names import names, without_sites
from scrapy_mss.metadata.page import Page
from scrapy_mss.metadata.readers import Reader, Words, at_address
from scrapy_mss.metadata.text import absolute, clean
from scrapy_mss.metadata.titles import is_site, title_of

CUT: Final = ("...", "…")  # what a title that was too long for a network ends with


class Found(NamedTuple):
    """A value; a *weak* one is used only when no later row has a better one."""

    value: str | list[str]
    weak: bool = False


Finish = Callable[[Page, Iterable[str]], Found | None]


class Row(NamedTuple):
    """One place where a field may stand."""

    field: str
    source: str
    words: Words
    read: Reader


# --- finishes: texts -> value ---------------------------------------------------------------------


def _title(page: Page, texts: Iterable[str]) -> Found | None:
    for text in map(clean, texts):
        title = title_of(text, page.sites)
        if title:
            return Found(title, weak=title.endswith(CUT) or is_site(title, page.sites))
    return None


def _text(_: Page, texts: Iterable[str]) -> Found | None:
    return next((Found(text) for text in map(clean, texts) if text), None)


def _authors(page: Page, texts: Iterable[str]) -> Found | None:
    found = names(texts)
    others = without_sites(found, page.sites)
    if others:
        return Found(others)
    return Found(found, weak=True) if found else None


def _date(page: Page, texts: Iterable[str]) -> Found | None:
    found = (dates.read(clean(text), page.language) for text in texts)
    return next((Found(value) for value in found if value), None)


def _language(_: Page, texts: Iterable[str]) -> Found | None:
    found = (languages.code(text) for text in texts)
    return next((Found(value) for value in found if value), None)


def _image(page: Page, texts: Iterable[str]) -> Found | None:
    found = (absolute(text, page.base) for text in texts)
    return next((Found(value) for value in found if value), None)


def _canonical(page: Page, texts: Iterable[str]) -> Found | None:
    """An address; not the home page's where the page is another (a common slip of templates)."""
    for text in texts:
        value = absolute(text, page.base)
        if value and (not _is_home(value) or _is_home(page.url or value)):
            return Found(value)
    return None


def _is_home(url: str) -> bool:
    parts = urlsplit(url)
    return parts.path in ("", "/") and not parts.query


FINISH: Final[Mapping[str, Finish]] = {
    "title": _title,
    "authors": _authors,
    "published": _date,
    "modified": _date,
    "language": _language,
    "description": _text,
    "site_name": _text,
    "canonical_url": _canonical,
    "main_image": _image,
}


def _row(field: str, source: str, read: Reader, words: str = "") -> Row:
    return Row(field, source, tuple(words.split()), read)


ROWS: Final[tuple[Row, ...]] = (
    _row("title", "heading", readers.confirmed_heading, "og:title twitter:title"),
    _row("title", "opengraph", readers.meta, "og:title"),
    _row("title", "json-ld", readers.article, "headline name"),
    _row(
        "title",
        "meta",
        readers.meta,
        "citation_title parsely-title sailthru.title twitter:title dc.title",
    ),
    _row("title", "microdata", readers.prop, "headline"),
    _row("title", "heading", readers.heading),
    _row("title", "title", readers.tab),
    _row("authors", "json-ld", readers.article, "author creator"),
    _row("authors", "meta", readers.turned_meta, "citation_author"),
    _row("authors", "microdata", readers.person, "author creator"),
    _row("authors", "rel-author", readers.linked_author),
    _row("authors", "label", readers.labelled_name),
    _row(
        "authors", "meta", readers.meta, "author parsely-author sailthru.author byl article:author"
    ),
    _row("authors", "meta", readers.turned_meta, "dc.creator dcterms.creator"),
    _row("authors", "byline", readers.byline),
    _row(
        "published",
        "meta",
        readers.meta,
        "article:published_time og:article:published_time article:published og:published_time "
        "parsely-pub-date sailthru.date citation_publication_date",
    ),
    _row("published", "json-ld", readers.article, "datePublished dateCreated uploadDate"),
    _row("published", "microdata", readers.prop, "datePublished dateCreated"),
    _row("published", "json-ld", readers.web_page, "datePublished"),
    _row(
        "published",
        "meta",
        readers.meta,
        "citation_date dc.date.issued dcterms.date dcterms.created dc.date dc.date.created "
        "datepublished pubdate publish-date publish_date publication_date published_at date",
    ),
    _row(
        "published",
        "time",
        at_address(readers.marked_time),
        "publish pubdate pub-date entry-date posted created",
    ),
    _row(
        "published",
        "script",
        at_address(readers.script),
        "datePublished date_published published publishedAt published_at publishedDate "
        "published_date publishDate publish_date publicationDate publication_date pubDate "
        "firstPublished firstPublishedAt first_published_at",
    ),
    _row("published", "near-heading", at_address(readers.short_line)),
    _row("published", "time", at_address(readers.other_time), "updat modif edit"),
    _row("published", "near-heading", at_address(readers.longer_line)),
    _row("published", "url", readers.address),
    _row("published", "near-heading", readers.changed_line),
    _row("published", "text", readers.far_line),
    _row("modified", "json-ld", readers.article, "dateModified"),
    _row(
        "modified",
        "meta",
        readers.meta,
        "article:modified_time og:article:modified_time article:modified og:updated_time "
        "og:modified_time dcterms.modified dc.date.modified datemodified last-modified",
    ),
    _row("modified", "microdata", readers.prop, "dateModified"),
    _row("modified", "json-ld", readers.web_page, "dateModified"),
    _row("modified", "time", readers.marked_time, "modified updated"),
    _row("modified", "near-heading", readers.changed_line),
    _row("language", "html", readers.declared),
    _row("language", "json-ld", readers.article, "inLanguage"),
    _row("language", "json-ld", readers.web_page, "inLanguage"),
    _row("language", "meta", readers.meta, "content-language language dc.language og:locale"),
    _row("description", "opengraph", readers.meta, "og:description"),
    _row("description", "meta", readers.meta, "description twitter:description dc.description"),
    _row("description", "json-ld", readers.article, "description"),
    _row("description", "microdata", readers.prop, "description"),
    _row("site_name", "opengraph", readers.meta, "og:site_name"),
    _row("site_name", "json-ld", readers.article, "publisher"),
    _row("site_name", "json-ld", readers.web_site, "name"),
    _row(
        "site_name",
        "meta",
        readers.meta,
        "application-name dc.publisher apple-mobile-web-app-title",
    ),
    _row("canonical_url", "link", readers.link, "canonical"),
    _row("canonical_url", "opengraph", readers.meta, "og:url"),
    _row("canonical_url", "json-ld", readers.article, "url mainEntityOfPage"),
    _row("main_image", "opengraph", readers.meta, "og:image og:image:url og:image:secure_url"),
    _row("main_image", "json-ld", readers.article, "image thumbnailUrl"),
    _row("main_image", "meta", readers.meta, "twitter:image twitter:image:src parsely-image-url"),
    _row("main_image", "json-ld", readers.web_page, "primaryImageOfPage image"),
    _row("main_image", "microdata", readers.prop, "image"),
    _row("main_image", "link", readers.link, "image_src"),
)


def field_of(page: Page, name: str) -> tuple[Found, str] | None:
    """The value of the field *name* and its source, None where the page does not say."""
    weak: tuple[Found, str] | None = None
    for row in ROWS_OF[name]:
        found = FINISH[name](page, row.read(page, row.words))
        if found and not found.weak:
            return found, row.source
        if found and not weak:
            weak = found, row.source
    return weak


ROWS_OF: Final[Mapping[str, tuple[Row, ...]]] = {
    name: tuple(row for row in ROWS if row.field == name) for name in FINISH
}
