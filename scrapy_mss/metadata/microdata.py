"""Microdata: the elements of a page that say which property of its article they hold.

Strategy: an `itemprop` belongs to the next element around it that is an item. Items that are not
the page (a comment, a product, a person) are left out, and of several articles only the first
is read: the others are teasers. Properties outside any item are taken, templates forget it often.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Final, cast

from lxml import etree

from scrapy_mss.metadata.text import Element, text_of

MAX_PROPERTIES: Final = 500
MAX_DESCENDANTS: Final = 200  # elements in a person

# Last letters of the types of items that may be the page, first those that are an article.
ARTICLES: Final = ("Article", "Posting", "Report")
OWNERS: Final = (*ARTICLES, "Page", "CreativeWork", "Recipe", "Review")
# Where the value of a property stands, first for what machines read.
VALUE_AT: Final = ("content", "datetime", "href", "src")

_WITH_ITEMPROP: Final = cast("Callable[[Element], list[Element]]", etree.XPath("//*[@itemprop]"))

Properties = Mapping[str, list[Element]]


def properties(root: Element) -> Properties:
    """The elements that describe the page, by the lower-cased name of their property."""
    found: dict[str, list[Element]] = {}
    article: Element | None = None
    for element in _WITH_ITEMPROP(root)[:MAX_PROPERTIES]:
        owner = _owner(element)
        kind = "" if owner is None else (owner.get("itemtype") or "").rstrip("/")
        if kind.endswith(ARTICLES):
            article = owner if article is None else article
        if owner is None or (kind.endswith(OWNERS) and not _is_other(owner, kind, article)):
            for name in (element.get("itemprop") or "").lower().split():
                found.setdefault(name, []).append(element)
    return found


def _is_other(owner: Element, kind: str, article: Element | None) -> bool:
    return kind.endswith(ARTICLES) and owner is not article


def _owner(element: Element) -> Element | None:
    """The item that the property is of."""
    around = element.iterancestors()
    return next((each for each in around if each.get("itemscope") is not None), None)


def value_of(element: Element) -> str:
    """The value of a property: what machines read, else the text."""
    return next((value for name in VALUE_AT if (value := element.get(name))), "") or text_of(
        element
    )


def names_of(element: Element) -> Iterator[str]:
    """The names in a property that is a person: nested names, else the text."""
    content = element.get("content")
    if content:
        yield content
        return
    inside = islice(element.iterdescendants("*"), MAX_DESCENDANTS)
    nested = [each for each in inside if each.get("itemprop") == "name"]
    for each in nested or [element]:
        yield each.get("content") or text_of(each)
