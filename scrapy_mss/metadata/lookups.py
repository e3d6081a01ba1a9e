"""Readers: a page and the words of a row, to the texts that stand there, best first.

Strategy: a reader finds and does not judge; whether a text is a title or a date is for the
field's finish in `rows` to say. So one reader serves several fields, and a row can use any.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, wraps
from typing import Final

from scrapy_mss.metadata import dates, jsonld, microdata
from scrapy_mss.metadata.names import labelled, persons, turned
from scrapy_mss.metadata.page import Page
from scrapy_mss.metadata.surroundings import marks_of, neighbours
from scrapy_mss.metadata.text import Element, clean, text_of
from scrapy_mss.metadata.titles import heading_in, long_ones

Words = tuple[str, ...]
Reader = Callable[[Page, Words], Iterable[str]]

# --- what is meant for machines -------------------------------------------------------------------


def article(page: Page, words: Words) -> Iterator[str]:
    """JSON-LD of the article."""
    return page.json_ld(jsonld.ARTICLE, words)


def web_page(page: Page, words: Words) -> Iterator[str]:
    """JSON-LD of the page."""
    return page.json_ld(jsonld.PAGE, words)


def web_site(page: Page, words: Words) -> Iterator[str]:
    """JSON-LD of the site."""
    return page.json_ld(jsonld.SITE, words)


def meta(page: Page, words: Words) -> Iterator[str]:
    """`<meta>` by name or property."""
    return (text for word in words for text in page.metas.get(word.replace(".", ":"), ()))


def turned_meta(page: Page, words: Words) -> Iterator[str]:
    """`<meta>` with names as libraries write them."""
    return map(turned, meta(page, words))


def link(page: Page, words: Words) -> Iterator[str]:
    """`<link>` by relation."""
    return (address for word in words for address in page.links.get(word, ()))


def prop(page: Page, words: Words) -> Iterator[str]:
    """Microdata."""
    return map(microdata.value_of, _properties(page, words))


def person(page: Page, words: Words) -> Iterator[str]:
    """The first person in the microdata and those beside it; others are of teasers."""
    for element in neighbours(_properties(page, words)):
        yield from microdata.names_of(element)


def _properties(page: Page, words: Words) -> Iterator[Element]:
    return (each for word in words for each in page.properties.get(word.lower(), ()))


def declared(page: Page, _: Words) -> Iterator[str]:
    """The language of `<html>`."""
    return iter([page.language] if page.language else [])


# --- titles ---------------------------------------------------------------------------------------


def confirmed_heading(page: Page, words: Words) -> Iterator[str]:
    """The heading that another title is, or begins with before the site's name."""
    headline = page.json_ld(jsonld.ARTICLE, ("headline",))
    for claim in (*meta(page, words), *headline, *page.tab_titles):
        heading = heading_in(clean(claim), page.headings)
        if heading:
            yield heading


def heading(page: Page, _: Words) -> list[str]:
    """The headings of the first level."""
    return long_ones(page.first_headings)


def tab(page: Page, _: Words) -> list[str]:
    """`<title>`."""
    return page.tab_titles


# --- dates ----------------------------------------------------------------------------------------

SHORT_LINE: Final = 60  # characters: a date, a time and a few words
NEAR_DAYS: Final = 1  # a day in an address is the site's, a time may be another zone's

_DAY_IN_URL: Final = re.compile(
    r"[/_-]((?:199|20\d)\d)(?P<s>[/_-]?)(1[0-2]|0[1-9]|(?<=[/_-])[1-9])(?P=s)"
    r"(3[01]|[12]\d|0[1-9]|(?<=[/_-])[1-9])(?!\d)"
)
_CHANGED: Final = re.compile(
    r"\b(?:updated?|modified|revised|aktualisiert|geändert|stand|mise? à jour|modifié|"
    r"actualizad[ao]|aggiornat[ao]|atualizad[ao]|bijgewerkt|oppdatert|uppdaterad|opdateret)\b|更新",
    re.IGNORECASE,
)


def marked_time(page: Page, words: Words) -> Iterator[str]:
    """`<time>` with a class, id or attribute that contains a word."""
    for element in page.times:
        marks = f"{marks_of(element)} {'pubdate' if 'pubdate' in element.attrib else ''}"
        if any(word in marks for word in words):
            yield element.get("datetime") or text_of(element)


def other_time(page: Page, words: Words) -> Iterator[str]:
    """`<time>` without a class, id or property that contains a word."""
    for element in page.times:
        marks = marks_of(element)
        if not any(word in marks for word in words):
            yield element.get("datetime") or text_of(element)


def script(page: Page, words: Words) -> Iterator[str]:
    """Values in other scripts, under a key that is one of the words."""
    pattern = _values_under(words)
    return (match[1] for text in page.scripts for match in pattern.finditer(text))


@lru_cache
def _values_under(words: Words) -> re.Pattern[str]:
    keys = "|".join(map(re.escape, words))
    return re.compile(rf'\\?"(?:{keys})\\?"\s{{0,3}}:\s{{0,3}}\\?"([^"\\]{{8,40}})', re.IGNORECASE)


def address(page: Page, _: Words) -> Iterator[str]:
    """The days in the page's address."""
    for match in _DAY_IN_URL.finditer(page.url or ""):
        yield "-".join(part.zfill(2) for part in match.group(1, 3, 4))


def short_line(page: Page, _: Words) -> Iterator[str]:
    """Lines near the heading that are a date and little else."""
    return _dates_in(page, (line for line in page.around.near if len(line) <= SHORT_LINE))


def longer_line(page: Page, _: Words) -> Iterator[str]:
    """Lines near the heading with a date and more words."""
    return _dates_in(page, (line for line in page.around.near if len(line) > SHORT_LINE))


def far_line(page: Page, _: Words) -> Iterator[str]:
    """Lines anywhere behind the heading that are a date and little else."""
    return _dates_in(page, (line for line in page.around.far if len(line) <= SHORT_LINE))


def changed_line(page: Page, _: Words) -> Iterator[str]:
    """Lines near the heading that say when the page was changed."""
    for line in page.around.near:
        changed = _CHANGED.search(line)
        found = changed and dates.find(line[changed.start() :], page.language)
        if found:
            yield found


def _dates_in(page: Page, lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        found = dates.find(line, page.language)
        if found and not _CHANGED.search(line):
            yield found


def at_address(read: Reader) -> Reader:
    """The dates that *read* finds, but for those on another day than the page's address has."""

    @wraps(read)
    def agreeing(page: Page, words: Words) -> Iterator[str]:
        day = next(filter(None, map(dates.read, address(page, ()))), None)
        for text in read(page, words):
            value = dates.read(clean(text), page.language)
            if value and (day is None or dates.days_between(day, value) <= NEAR_DAYS):
                yield value

    agreeing.__doc__ = (
        f"{(read.__doc__ or '').rstrip('.')}, if not on another day than the address."
    )
    return agreeing


# --- authors --------------------------------------------------------------------------------------


def linked_author(page: Page, _: Words) -> list[str]:
    """Links with `rel=author`."""
    return persons(page.author_links)


def labelled_name(page: Page, _: Words) -> list[str]:
    """`By Ann Lee` behind the heading, in one piece or in several."""
    return _first_persons(labelled(page.around.behind))


def byline(page: Page, _: Words) -> list[str]:
    """A byline behind the heading, known by its class, or a link to an author's page."""
    return _first_persons(page.around.bylines)


def _first_persons(texts: Iterable[str]) -> list[str]:
    """What the first text with names of persons says; the next are other people's teasers."""
    return next((found for text in texts if (found := persons([text]))), [])
