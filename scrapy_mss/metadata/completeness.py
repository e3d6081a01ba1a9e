"""Whether the text of a page is the whole article, as far as the page says so.

Most pages say nothing, and nothing is guessed of them. An end that offers to go on is nearly
certain: of 2,142 labelled texts, which are whole, four have one. An ellipsis is only where the text
is short or a paywall is on the page, as writers use it, too. A declared `wordCount` is that of the
text for all but one in fifty pages. That an article is not free says little by itself, nor does it
that no element has the selector of the paid part: servers send the whole text to crawlers, and
templates name selectors that most of their pages lack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

import numpy as np

from scrapy_mss.metadata.fields import FIELDS, resolve_field
from scrapy_mss.metadata.lookups import MAX_PARTS, is_free
from scrapy_mss.metadata.parsed_page import ParsedPage
from scrapy_mss.pages.declarations import ARTICLE, listed
from scrapy_mss.pages.walls import OF_TEASER, breaks_off, has_ellipsis, offer_at_end, paywall_mark

PAYWALL, CUT_END, WORD_COUNT = "paywall", "cut_end", "word_count"  # why a text is not complete

# Parts of the declared words. Of 158 labelled pages that declare some, the texts of four have less
# than .6, of which one page is cut, one counts characters, and of one the text is not found; three
# have .7 to .85.
ENOUGH: Final = 0.85
TOO_FEW: Final = 0.6
CHARACTERS: Final = 0.1  # how far the number of characters may be from a number that is meant so
LONGEST_WORD: Final = 15  # characters, of all text by its words: beyond, no spaces are between them
CHARACTERS_A_WORD: Final = 2  # of such a text
PAID: Final = 0.5  # of the words, in the part that is not free: it is there
MAX_NAMES: Final = 20  # of paid parts: for each, the page is searched
MAX_ELEMENTS: Final = 50  # that a selector may select
_NUMBER: Final = re.compile(r"\d{1,7}")
_NAME: Final = re.compile(r"\s*[.#]([\w-]{1,100})\s*")  # of a class or an identifier


class Completeness(NamedTuple):
    """Whether a text is complete, None if nothing says that, and why it is not."""

    is_complete: bool | None = None
    incomplete_reason: str | None = None


def completeness(page: ParsedPage, text: str) -> Completeness:
    """Whether *text* is all of the article of *page*."""
    free, _ = resolve_field(page, FIELDS["is_accessible_for_free"])
    is_accessible = None if free is None else bool(free)
    is_paid, declared = is_accessible is False, _declared_words(page, text)
    source = page.tree.tokens.source
    if not (declared or is_paid or has_ellipsis(text) or offer_at_end(text)):
        return Completeness(is_accessible)  # as of most pages: no words are counted
    n_words = text.count(" ") + text.count("\n\n") + 1  # as single ones are between them
    has_spaces = len(text) <= LONGEST_WORD * n_words
    declared = declared if has_spaces else 0
    if declared and n_words >= ENOUGH * declared:
        return Completeness(True)
    n_words = n_words if has_spaces else len(text) // CHARACTERS_A_WORD
    if _is_cut(source, text, is_short=n_words < OF_TEASER, is_paid=is_paid):
        return Completeness(False, PAYWALL if is_paid or paywall_mark(source) else CUT_END)
    if declared and n_words < TOO_FEW * declared:
        return Completeness(False, PAYWALL if is_paid else WORD_COUNT)
    has_all = is_accessible or (is_paid and _paid_words(page) >= PAID * n_words)
    return Completeness(True if has_all else None)


def _is_cut(source: str, text: str, *, is_short: bool, is_paid: bool) -> bool:
    if offer_at_end(text):
        return True
    if is_short and is_paid:
        return breaks_off(text)
    return has_ellipsis(text) and (is_short or is_paid or paywall_mark(source) is not None)


def _declared_words(page: ParsedPage, text: str) -> int:
    """The `wordCount` of the article; 0 if there is none, or if it counts characters."""
    node = page.best_node(ARTICLE)
    value = node.get("wordCount") if node else None
    is_plain = isinstance(value, str | int) and not isinstance(value, bool)
    found = _NUMBER.fullmatch(str(value).strip().replace(",", "")) if is_plain else None
    number = int(found[0]) if found else 0
    is_of_characters = abs(number - len(text)) <= CHARACTERS * number
    return 0 if is_of_characters else number


def _paid_words(page: ParsedPage) -> int:
    """The words in the elements that JSON-LD names for the parts of the article that are not free.

    As search engines ask for it, a selector is a class; an identifier is read, too.
    """
    tokens = page.tree.tokens
    inside = np.zeros(len(tokens) + 1, np.int64)
    matches = map(_NAME.fullmatch, _paid_selectors(page))
    names = dict.fromkeys(found[1] for found in matches if found)
    for name in islice(names, MAX_NAMES):
        for element in page.tree.named(name, MAX_ELEMENTS):
            first, last = page.tree.tokens_in(element)
            inside[first] += 1
            inside[last] -= 1
    return int(np.count_nonzero(tokens.is_word & (inside.cumsum()[:-1] > 0)))


def _paid_selectors(page: ParsedPage) -> Iterator[str]:
    node = page.best_node(ARTICLE)
    for part in listed(node.get("hasPart") if node else None, MAX_PARTS):
        selector = part.get("cssSelector") if isinstance(part, dict) else None
        if selector and is_free(str(part.get("isAccessibleForFree"))) is False:
            yield from str(selector).split(",")[:MAX_PARTS]
