"""Where each field comes from: one table, in the order in which places are asked.

Strategy: a row is a field, the name of its source, the words that are looked up there and the
reader that does it. The first row whose texts make a value decides; what makes a value of texts
is one function a field (`FINISH`). Deleting a row deletes the place; `docs/metadata.md` shows
this table and a test holds them together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from scrapy_mss.metadata import dates, jsonld, languages
from scrapy_mss.metadata.names import labelled, names, persons, turned, without_sites
from scrapy_mss.metadata.page import Page, marks_of, name_of, neighbours, value_of
from scrapy_mss.metadata.text import absolute, clean, text_of
from scrapy_mss.metadata.titles import heading_in, is_site, long_ones, title_of

Value = str | list[str]
SHORT_LINE: Final = 60  # characters: a date, a time and a few words
CUT: Final = ("...", "…")  # what a title that was too long for a network ends with


class Found(NamedTuple):
    """A value; a *weak* one is used only when no later row has a better one."""

    value: Value
    weak: bool = False


Reader = Callable[[Page, tuple[str, ...]], Iterable[str]]
Finish = Callable[[Page, Iterable[str]], Found | None]


class Row(NamedTuple):
    """One place where a field may stand."""

    field: str
    source: str
    words: tuple[str, ...]
    read: Reader


# --- readers: page and words -> texts -------------------------------------------------------------


def _article(page: Page, words: tuple[str, ...]) -> Iterator[str]:
    return page.json_ld(jsonld.ARTICLE, words)


def _web_page(page: Page, words: tuple[str, ...]) -> Iterator[str]:
    return page.json_ld(jsonld.PAGE, words)


def _web_site(page: Page, words: tuple[str, ...]) -> Iterator[str]:
    return page.json_ld(jsonld.SITE, words)


def _meta(page: Page, words: tuple[str, ...]) -> Iterator[str]:
    return (text for word in words for text in page.metas.get(word.replace(".", ":"), ()))


def _turned_meta(page: Page, words: tuple[str, ...]) -> Iterator[str]:
    return map(turned, _meta(page, words))


def _link(page: Page, words: tuple[str, ...]) -> Iterator[str]:
    return (address for word in words for address in page.links.get(word, ()))


def _property(page: Page, words: tuple[str, ...]) -> Iterator[str]:
    for word in words:
        for element in page.properties.get(word.lower(), ()):
            yield value_of(element)


def _person(page: Page, words: tuple[str, ...]) -> Iterator[str]:
    """The first person and those beside it; others are of teasers."""
    for word in words:
        for element in neighbours(page.properties.get(word.lower(), ())):
            yield from name_of(element)


def _confirmed_heading(page: Page, words: tuple[str, ...]) -> Iterator[str]:
    """The heading that another title is, or begins with before the site's name."""
    headline = page.json_ld(jsonld.ARTICLE, ("headline",))
    for claim in (*_meta(page, words), *headline, *page.tab_titles):
        heading = heading_in(clean(claim), page.headings)
        if heading:
            yield heading


def _heading(page: Page, _: tuple[str, ...]) -> list[str]:
    return long_ones(page.headings)


def _tab(page: Page, _: tuple[str, ...]) -> list[str]:
    return page.tab_titles


def _marked_time(page: Page, words: tuple[str, ...]) -> Iterator[str]:
    """`<time>` that says which time it is, by an attribute or a class that contains a word."""
    for element in page.times:
        marks = marks_of(element)
        if element.get("pubdate") is not None or any(word in marks for word in words):
            yield element.get("datetime") or text_of(element)


def _time(page: Page, words: tuple[str, ...]) -> Iterator[str]:
    """`<time>` that does not say that it is another time."""
    for element in page.times:
        marks = marks_of(element)
        if not any(word in marks for word in words):
            yield element.get("datetime") or text_of(element)


_DAY_IN_URL: Final = re.compile(
    r"[/_-]((?:199|20\d)\d)(?P<s>[/_-]?)(1[0-2]|0[1-9]|(?<=[/_-])[1-9])(?P=s)"
    r"(3[01]|[12]\d|0[1-9]|(?<=[/_-])[1-9])(?!\d)"
)


def _address(page: Page, _: tuple[str, ...]) -> Iterator[str]:
    for match in _DAY_IN_URL.finditer(page.url or ""):
        yield "-".join(part.zfill(2) for part in match.group(1, 3, 4))


def _at_url(read: Reader) -> Reader:
    """What *read* finds, where the address names no other day; one day is lost between zones."""

    def filtered(page: Page, words: tuple[str, ...]) -> Iterator[str]:
        day = next(filter(None, map(dates.read, _address(page, ()))), None)
        for text in read(page, words):
            value = dates.read(clean(text), page.declared_language)
            if value and (day is None or dates.days_between(day, value) <= 1):
                yield value

    return filtered


_UPDATED: Final = re.compile(
    r"\b(?:updated?|modified|revised|aktualisiert|geändert|stand|mise? à jour|modifié|"
    r"actualizad[ao]|aggiornat[ao]|atualizad[ao]|bijgewerkt|oppdatert|uppdaterad|opdateret)\b|更新",
    re.IGNORECASE,
)


def _date_line(page: Page, _: tuple[str, ...]) -> Iterator[str]:
    """A line near the heading that is a date and little else."""
    return _dates_in(page, (line for line in page.near if len(line) <= SHORT_LINE))


def _line_with_date(page: Page, _: tuple[str, ...]) -> Iterator[str]:
    return _dates_in(page, (line for line in page.near if len(line) > SHORT_LINE))


def _far_line(page: Page, _: tuple[str, ...]) -> Iterator[str]:
    return _dates_in(page, (line for line in page.far if len(line) <= SHORT_LINE))


def _updated_line(page: Page, _: tuple[str, ...]) -> Iterator[str]:
    lines = (line for line in page.near if _UPDATED.search(line))
    return filter(None, (dates.find(line, page.declared_language) for line in lines))


def _dates_in(page: Page, lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        found = dates.find(line, page.declared_language)
        if found and not _UPDATED.search(line):
            yield found


def _declared(page: Page, _: tuple[str, ...]) -> Iterator[str]:
    return iter([page.declared_language] if page.declared_language else [])


def _labelled_name(page: Page, _: tuple[str, ...]) -> list[str]:
    """`By Ann Lee` behind the heading, in one piece or in several."""
    return next((found for text in labelled(page.lines) if (found := persons([text]))), [])


def _linked_author(page: Page, _: tuple[str, ...]) -> list[str]:
    return persons(page.author_links)


def _byline(page: Page, _: tuple[str, ...]) -> list[str]:
    """What the first byline with names of persons says; the next are other people's teasers."""
    return next((found for line in page.bylines if (found := persons([line]))), [])


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
    found = (dates.read(clean(text), page.declared_language) for text in texts)
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
    _row("title", "h1", _confirmed_heading, "og:title twitter:title"),
    _row("title", "opengraph", _meta, "og:title"),
    _row("title", "json-ld", _article, "headline name"),
    _row(
        "title", "meta", _meta, "citation_title parsely-title sailthru.title twitter:title dc.title"
    ),
    _row("title", "microdata", _property, "headline"),
    _row("title", "h1", _heading),
    _row("title", "title", _tab),
    _row("authors", "json-ld", _article, "author creator"),
    _row("authors", "meta", _turned_meta, "citation_author"),
    _row("authors", "microdata", _person, "author creator"),
    _row("authors", "rel-author", _linked_author),
    _row("authors", "label", _labelled_name),
    _row("authors", "meta", _meta, "author parsely-author sailthru.author byl article:author"),
    _row("authors", "meta", _turned_meta, "dc.creator dcterms.creator"),
    _row("authors", "byline", _byline),
    _row(
        "published",
        "meta",
        _meta,
        "article:published_time og:article:published_time article:published og:published_time "
        "parsely-pub-date sailthru.date citation_publication_date",
    ),
    _row("published", "json-ld", _article, "datePublished dateCreated uploadDate"),
    _row("published", "microdata", _property, "datePublished dateCreated"),
    _row("published", "json-ld", _web_page, "datePublished"),
    _row(
        "published",
        "meta",
        _meta,
        "citation_date dc.date.issued dcterms.date dcterms.created dc.date dc.date.created "
        "datepublished pubdate publish-date publish_date publication_date published_at date",
    ),
    _row("published", "time", _at_url(_marked_time), "publish pub-date entry-date posted created"),
    _row("published", "near", _at_url(_date_line)),
    _row("published", "time", _at_url(_time), "updat modif edit"),
    _row("published", "near", _at_url(_line_with_date)),
    _row("published", "url", _address),
    _row("published", "near", _updated_line),
    _row("published", "text", _far_line),
    _row("modified", "json-ld", _article, "dateModified"),
    _row(
        "modified",
        "meta",
        _meta,
        "article:modified_time og:article:modified_time article:modified og:updated_time "
        "og:modified_time dcterms.modified dc.date.modified datemodified last-modified",
    ),
    _row("modified", "microdata", _property, "dateModified"),
    _row("modified", "json-ld", _web_page, "dateModified"),
    _row("modified", "time", _marked_time, "modified updated"),
    _row("language", "html", _declared),
    _row("language", "json-ld", _article, "inLanguage"),
    _row("language", "json-ld", _web_page, "inLanguage"),
    _row("language", "meta", _meta, "content-language language dc.language og:locale"),
    _row("description", "opengraph", _meta, "og:description"),
    _row("description", "meta", _meta, "description twitter:description dc.description"),
    _row("description", "json-ld", _article, "description"),
    _row("description", "microdata", _property, "description"),
    _row("site_name", "opengraph", _meta, "og:site_name"),
    _row("site_name", "json-ld", _article, "publisher"),
    _row("site_name", "json-ld", _web_site, "name"),
    _row("site_name", "meta", _meta, "application-name dc.publisher apple-mobile-web-app-title"),
    _row("canonical_url", "link", _link, "canonical"),
    _row("canonical_url", "opengraph", _meta, "og:url"),
    _row("canonical_url", "json-ld", _article, "url mainEntityOfPage"),
    _row("main_image", "opengraph", _meta, "og:image og:image:url og:image:secure_url"),
    _row("main_image", "json-ld", _article, "image thumbnailUrl"),
    _row("main_image", "meta", _meta, "twitter:image twitter:image:src parsely-image-url"),
    _row("main_image", "json-ld", _web_page, "primaryImageOfPage image"),
    _row("main_image", "microdata", _property, "image"),
    _row("main_image", "link", _link, "image_src"),
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
