"""Titles, freed of the name of the site.

Strategy: a title is cut where sites cut it. A last or first piece that names the site goes, by
the site's own words for itself or by the domain, and so does a date at the end; nothing is
dropped for being short, and never everything. Titles for browsers and networks often carry the
section too; there a heading of the page that they begin with tells where the title ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from scrapy_mss.metadata import dates
from scrapy_mss.metadata.text import folded, spellings

MAX_TITLE: Final = 500
SHORTEST_HEADING: Final = 2  # words: a heading of one word is a section's
MIN_LETTERS: Final = 10  # of a heading in a script that writes no spaces
SHORTEST_LABEL: Final = 5  # letters of a name that are looked for inside a piece: `The Guardian US`
LONGEST_DATE: Final = 4  # words of a piece that is a date
_SEPARATOR: Final = re.compile(
    r"\s+(?:[|–—•·»«›‹:~/>]|-{1,3}|::|\|\|)\s+|\s*[|｜│]\s*|\s*[：:]\s*(?!\d)"  # noqa: RUF001
)


def title_of(text: str, known: frozenset[str]) -> str:
    """*text* without the pieces at its ends that name the site, whose spellings are *known*."""
    text = text[:MAX_TITLE]
    shorter = _without_last(text, known)
    while shorter != text:
        text, shorter = shorter, _without_last(shorter, known)
    return _without_first(text, known)


def is_site(text: str, known: frozenset[str]) -> bool:
    """Whether *text* is nothing but a name of the site."""
    return not known.isdisjoint(spellings(text))


def _without_last(text: str, known: frozenset[str]) -> str:
    cuts = list(_SEPARATOR.finditer(text))
    if not cuts or not cuts[-1].start():
        return text
    piece = text[cuts[-1].end() :]
    drop = _names_site(piece, known) or _is_date(piece)
    return text[: cuts[-1].start()].rstrip() if drop else text


def _without_first(text: str, known: frozenset[str]) -> str:
    cut = _SEPARATOR.search(text)
    if cut and cut.end() < len(text) and is_site(text[: cut.start()], known):
        return text[cut.end() :].lstrip()
    return text


def _names_site(piece: str, known: frozenset[str]) -> bool:
    """Whether *piece* is a name of the site, or is little more than one."""
    forms = spellings(piece)
    if not known.isdisjoint(forms):
        return True
    return any(
        label in form and len(label) >= SHORTEST_LABEL and 2 * len(form) <= 3 * len(label)
        for label in known
        for form in forms
    )


def _is_date(piece: str) -> bool:
    return len(piece.split()) <= LONGEST_DATE and dates.read(piece, "de") is not None


def heading_in(text: str, headings: Iterable[str]) -> str | None:
    """The heading that *text* begins with, up to a separator; None where there is none."""
    text = text[: 2 * MAX_TITLE]  # a title, the section and the site
    beginnings = {folded(text)} | {folded(text[: cut.start()]) for cut in _SEPARATOR.finditer(text)}
    return next((each for each in long_ones(headings) if folded(each) in beginnings), None)


def long_ones(headings: Iterable[str]) -> list[str]:
    """The headings that are long enough to be one of an article."""
    return [h for h in headings if len(h.split()) >= SHORTEST_HEADING or len(h) >= MIN_LETTERS]
