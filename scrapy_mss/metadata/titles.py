"""Titles without the name of the site.

Strategy: a title is split at the separators that sites use. The last or first part is removed when
it names the site, as the site itself or its domain spells it, and the last also when it is a date.
No part is removed for being short, and never the whole title. Titles for browsers and social
networks often contain the section as well; there, a heading of the page that the title begins with
shows where it ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from scrapy_mss.metadata import dates
from scrapy_mss.pages.text import folded, spellings

MAX_TITLE: Final = 500  # characters
MAX_SEPARATORS: Final = 20  # where a heading may end; titles have one to three
MIN_HEADING_WORDS: Final = 2  # a heading of one word names a section
MIN_HEADING_LETTERS: Final = 10  # for scripts that do not separate words by spaces
MIN_LABEL_LETTERS: Final = 5  # of a site's name that is searched inside a part: `The Guardian US`
MAX_DATE_WORDS: Final = 4  # of a part that is a date
# With what it begins with ahead, a letter costs one comparison and not one for each way.
_SEPARATOR: Final = re.compile(
    r"(?=[\s|｜│：:])"  # noqa: RUF001
    r"(?:\s+(?:[|–—•·»«›‹:~/>]|-{1,3}|::|\|\|)\s+|\s*[|｜│]\s*|\s*[：:]\s*(?!\d))"  # noqa: RUF001
)

_MAY_SEPARATE: Final = re.compile(r"[|–—•·»«›‹:~/>：｜│-]")  # noqa: RUF001 - one of them


def without_site(text: str, site_names: frozenset[str]) -> str:
    """*text* without the parts at its ends that name the site, in one of its spellings."""
    text = text[:MAX_TITLE]
    if not _separators(text):
        return text
    shorter = _without_last(text, site_names)
    while shorter != text:
        text, shorter = shorter, _without_last(shorter, site_names)
    return _without_first(text, site_names)


def is_site_name(text: str, site_names: frozenset[str]) -> bool:
    """Whether *text* is nothing but a name of the site."""
    return not site_names.isdisjoint(spellings(text))


def _without_last(text: str, site_names: frozenset[str]) -> str:
    separators = _separators(text)
    if not separators or not separators[-1][0]:
        return text
    start, end = separators[-1]
    last = text[end:]
    # As it does not matter which date it is, `05/03/2024` is one, too.
    if _names_site(last, site_names) or (
        len(last.split()) <= MAX_DATE_WORDS and dates.parse(last, day_first=True)
    ):
        return text[:start].rstrip()
    return text


def _without_first(text: str, site_names: frozenset[str]) -> str:
    start, end = next(iter(_separators(text)), (0, len(text)))
    if end < len(text) and is_site_name(text[:start], site_names):
        return text[end:].lstrip()
    return text


@lru_cache(2**6)  # a title is looked at four times, for itself and beside the headings
def _separators(text: str) -> tuple[tuple[int, int], ...]:
    if not _MAY_SEPARATE.search(text):
        return ()
    return tuple(found.span() for found in _SEPARATOR.finditer(text))


def _names_site(part: str, site_names: frozenset[str]) -> bool:
    """Whether *part* is a name of the site, or little more than one."""
    forms = spellings(part)
    if not site_names.isdisjoint(forms):
        return True
    return any(
        name in form and len(name) >= MIN_LABEL_LETTERS and 2 * len(form) <= 3 * len(name)
        for name in site_names
        for form in forms
    )


def matching_heading(text: str, headings: Iterable[str]) -> str | None:
    """The heading that *text* begins with, up to a separator; None if there is none."""
    text = text[: 2 * MAX_TITLE]  # a title, the section and the site
    beginnings: set[str] | None = None
    for each in headlines(headings):
        if each == text:
            return each
        form = folded(each)
        if beginnings is None and form == folded(text):
            return each
        if beginnings is None:
            ends = (start for start, _ in _separators(text)[:MAX_SEPARATORS])
            beginnings = {folded(text), *(folded(text[:end]) for end in ends)}
        if form in beginnings:
            return each
    return None


def headlines(headings: Iterable[str]) -> list[str]:
    """The headings that are long enough to be the headline of an article."""
    return [
        heading
        for heading in headings
        if len(heading.split()) >= MIN_HEADING_WORDS or len(heading) >= MIN_HEADING_LETTERS
    ]
