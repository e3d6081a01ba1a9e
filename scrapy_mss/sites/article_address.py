"""The probability that an address is that of an article: a prior plus what is known of the site.

The prior is a table of general features of addresses: a date, a headline in words, a page of
a list. Its log-odds were set by hand; `research.studies.link_priority` measures them. The
site's pages with addresses of the same shape are then counted in addition to the number of
pages for which the prior stands: first those of the general shape, finally those of the exact one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import exp, log
from typing import Final, NamedTuple

from scrapy_mss.sites.addresses import (
    DATE,
    IDENTIFIER,
    NUMBER,
    SLUG,
    WORD,
    YEAR,
    Address,
    AddressCounts,
    address_of,
)

START: Final = -1.0  # log-odds of an address that no row of the table tells anything of
START_PAGES: Final = 2.0  # how many pages the start, and each more general shape, counts as
MIN_PAGES: Final = 3.0  # below that, a shape says nothing of a page
MOST: Final = 4.0  # log-odds of a share of pages, as certain as one in 55
LONG_NUMBER: Final = 4  # digits
LONG_SLUG: Final = 5  # separators, so six words

_SEPARATORS = re.compile(r"[-_]+")

_STORIES = frozenset(
    "article articles articulo artikel blog blogs nachrichten news nieuws noticia noticias "
    "novosti post posts press stories story".split()
)
_LISTS = frozenset(
    "archiv archive archives archivo auteur author authors autor autoren browse categoria "
    "categories category collection collections directory etiqueta index kategorie label list "
    "listing listings magazine page pages razdel ressort rubrik rubrique search section "
    "sections suche tag tags tema thema topic topics".split()
)
_SERVICES = frozenset(
    "about account agb app apps bbs careers cart checkout company contact datenschutz doc docs "
    "documentation download downloads event events faq forum forums guide help home impressum "
    "info jobs kontakt legal login logout manual member members newsletter pricing privacy "
    "product products register service services shop signin signup store subscribe support "
    "terms thread threads user users".split()
)
_MEDIA = frozenset(
    "audio bilder foto fotos galerie galleries gallery image images photo photos pictures "
    "podcast podcasts slideshow video videos watch".split()
)
_FILES = frozenset(
    ".css .csv .doc .docx .gif .ico .jpeg .jpg .js .json .mov .pdf .png .ppt .rss .svg .txt "
    ".webp .xls .xml .zip".split()
)
_PAGES = frozenset(".asp .aspx .htm .html .php .shtml".split())


class Sign(NamedTuple):
    """Something that an address tells: what it is, its log-odds, and whether an address has it."""

    name: str
    log_odds: float
    is_of: Callable[[Address], bool]


def _has_word(words: frozenset[str]) -> Callable[[Address], bool]:
    return lambda address: not words.isdisjoint(address.words)


def _last_is(*kinds: str) -> Callable[[Address], bool]:
    return lambda address: bool(address.parts) and address.parts[-1].kind in kinds


def _has_long_headline(address: Address) -> bool:
    return _last_is(SLUG)(address) and len(_SEPARATORS.findall(address.parts[-1].text)) >= LONG_SLUG


def _has_date(address: Address) -> bool:
    kinds = [part.kind for part in address.parts]
    return DATE in kinds or YEAR in kinds[:-1]


def _has_long_number(address: Address) -> bool:
    last = (address.value or address.parts[-1]) if address.parts else None
    return last is not None and sum(each.isdigit() for each in last.text) >= LONG_NUMBER


SIGNS: Final = (
    Sign("the front page", -3.0, lambda address: not address.parts and not address.key),
    Sign("a headline at the end", 2.0, _last_is(SLUG)),
    Sign("a long headline at the end", 0.5, _has_long_headline),
    Sign("a date", 2.0, _has_date),
    Sign("a single word at the end", -1.0, _last_is(WORD)),
    Sign("a number at the end", 0.5, _last_is(NUMBER, IDENTIFIER)),
    Sign("a long number in the last part", 1.0, _has_long_number),
    Sign("an ending of pages", 0.5, lambda address: address.ending in _PAGES),
    Sign("an ending of files", -6.0, lambda address: address.ending in _FILES),
    Sign("a word for stories", 1.0, _has_word(_STORIES)),
    Sign("a word for lists", -2.5, _has_word(_LISTS)),
    Sign("a word for services", -2.5, _has_word(_SERVICES)),
    Sign("a word for pictures", -2.0, _has_word(_MEDIA)),
)


def is_section(url: str) -> bool:
    """Whether *url* may be the front page of a section: a single word, of no service."""
    address = address_of(url)
    if address is None or len(address.parts) != 1 or address.key or address.ending in _FILES:
        return False
    return address.parts[0].kind == WORD and address.words.isdisjoint(_SERVICES | _MEDIA)


class Guess(NamedTuple):
    """How probably a page is an article, and how many pages at such addresses were read."""

    probability: float
    pages: float


UNREADABLE: Final = Guess(0.0, 0.0)  # of an address that cannot be read


def guess(url: str, known: AddressCounts) -> Guess:
    """What the page at *url*, which was not read yet, is by what is *known* of its site."""
    address = address_of(url)
    if address is None:
        return UNREADABLE
    probability = _logistic(START + sum(s.log_odds for s in SIGNS if s.is_of(address)))
    for shape in dict.fromkeys(address.shapes):
        seen = known.find(shape)
        articles = seen.articles + START_PAGES * probability
        probability = articles / (seen.pages + START_PAGES)
    return Guess(probability, known.find(address.shapes.place).pages)


def with_address(url: str, known: AddressCounts, probability: float) -> float:
    """The *probability* that the page at *url*, which is read, is an article, with what is *known*.

    It moves towards what pages of the most exact shape were that enough are known of: as for
    containers, further, the more pages there are and the more these agree.
    """
    address = address_of(url) if known else None
    shapes = address.shapes if address else None
    for shape in (shapes.exact, shapes.place) if shapes else ():
        seen = known.find(shape)
        if seen.pages >= MIN_PAGES:
            share = seen.articles / seen.pages
            agreement = (2 * share - 1) ** 2 * seen.pages / (seen.pages + 2)
            odds = _log_odds(probability)
            return _logistic(odds + agreement * (_log_odds(share) - odds))
    return probability


def _logistic(log_odds: float) -> float:
    return 1 / (1 + exp(-log_odds))


def _log_odds(probability: float) -> float:
    least = _logistic(-MOST)
    bounded = min(max(probability, least), 1 - least)
    return log(bounded) - log(1 - bounded)
