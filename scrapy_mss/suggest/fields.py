"""Selectors for title, authors and date: where in the tree the metadata's value is.

The metadata module reads pages of any site. Where its values are shown or declared on the pages of
this site, a site-specific selector is reliable. One is suggested if it gives exactly the same value
on most of the pages that have one, and hardly ever another. `FIELDS` defines for each field how a
text becomes a value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from scrapy_mss.metadata import Metadata, read_tokens
from scrapy_mss.metadata.dates import find as find_date
from scrapy_mss.metadata.dates import in_utc
from scrapy_mss.pages.text import clean
from scrapy_mss.suggest.readings import SitePage, expected
from scrapy_mss.suggest.selectors import Candidate, candidates, usable
from scrapy_mss.wrappers.labeller import distinct_texts
from scrapy_mss.wrappers.selectors import FAILURES, Element, Selector

Value = tuple[str, ...]

MAX_WORDS: Final = 40  # of an element that may be a title, a date or an author
MAX_CHARACTERS: Final = 400
VALUE_ATTRIBUTES: Final = "datetime content title data-time data-date data-datetime".split()
MAX_PLACES: Final = 8  # elements of a page that have a value
MAX_TRIED: Final = 120  # selectors of a field
MIN_RIGHT: Final = 0.6  # of the pages with a value, that the selector gives it on
MAX_WRONG: Final = 0.1  # of the pages, that it gives another one on


class _Field(NamedTuple):
    """How a field is read from the metadata, and from the texts that a selector gives."""

    of_metadata: Callable[[Metadata], Value]
    of_texts: Callable[[Value, str | None], Value]  # of a page in that language


def _one(text: str | None) -> Value:
    return (text,) if text else ()


def _names(texts: Value) -> Value:
    return tuple(name for each in texts if (name := clean(each)))


FIELDS: Final[Mapping[str, _Field]] = {
    "title": _Field(
        lambda found: _one(clean(found.values.get("title", ""))), lambda texts, _: _names(texts[:1])
    ),
    "authors": _Field(
        lambda found: tuple(found.values.get("authors", ())), lambda texts, _: _names(texts)
    ),
    "published": _Field(
        lambda found: _one(in_utc(found.values.get("published"))),
        lambda texts, language: _one(in_utc(find_date(texts[0], language))) if texts else (),
    ),
}


@dataclass(frozen=True, slots=True)
class FieldRule:
    """The selector of a field; *confidence* is the share of pages with it right, less for few."""

    selector: Selector
    confidence: float


def field_rules(pages: Sequence[SitePage]) -> dict[str, FieldRule]:
    """The selectors of those fields that there is a good one for."""
    found = [read_tokens(page.extraction.tokens, page.url or None) for page in pages]
    rules = {}
    for name, field in FIELDS.items():
        rule = _field_rule(field, pages, [field.of_metadata(each) for each in found])
        if rule is not None:
            rules[name] = rule
    return rules


def _field_rule(
    field: _Field, pages: Sequence[SitePage], values: Sequence[Value]
) -> FieldRule | None:
    n_known = sum(map(bool, values))
    texts: dict[str, float] = {}
    for page, value in zip(pages, values, strict=True):
        for candidate in _places(field, page, value) if value else ():
            texts.setdefault(candidate.text, candidate.cost)
    rated = []
    for text, cost in sorted(texts.items(), key=lambda row: row[1])[:MAX_TRIED]:
        selector = usable(text, "title")
        if selector is None:
            continue
        given = [field.of_texts(texts_of(selector, page), page.tree.language) for page in pages]
        known = [(one, other) for one, other in zip(given, values, strict=True) if other]
        right = sum(one == other for one, other in known)
        wrong = sum(bool(one) and one != other for one, other in known)
        if right >= MIN_RIGHT * n_known and wrong <= MAX_WRONG * n_known:
            rule = FieldRule(selector, expected(right, n_known))
            rated.append((right - wrong, -cost, rule))
    return max(rated, key=lambda row: row[:2])[2] if rated else None


def _places(field: _Field, page: SitePage, value: Value) -> Iterator[Candidate]:
    for element, ending in islice(_with_value(field, page, value), MAX_PLACES):
        for candidate in candidates(element)[:12]:
            yield candidate + ending


def _with_value(field: _Field, page: SitePage, value: Value) -> Iterator[tuple[Element, str]]:
    left = len(page.extraction.tokens.source)

    def of_text(text: str) -> Value:
        return field.of_texts((text,), page.tree.language)

    for element, (start, end) in page.elements.items():
        for attribute in VALUE_ATTRIBUTES:
            text = element.get(attribute)
            if text and len(text) <= MAX_CHARACTERS and of_text(clean(text)) == value:
                yield element, f"::attr({attribute})"
        if not 0 < end - start <= MAX_WORDS:
            continue
        text = "".join(islice(element.itertext(), MAX_WORDS * 2))
        left -= len(text)
        if left < 0:
            return
        is_short = len(text) <= MAX_CHARACTERS
        if is_short and set(of_text(" ".join(text.split()))) & set(value):
            yield element, ""


def texts_of(selector: Selector, page: SitePage) -> Value:
    """The texts that *selector* gives for a field of the page."""
    try:
        return distinct_texts(page.tree, selector.select(page.root))
    except FAILURES:
        return ()
