"""Microdata: the elements of a page that hold a property of its article.

Strategy: an `itemprop` belongs to its nearest ancestor that is an item. Items that are not the
page (a comment, a product, a person) are left out, and of several articles only the first is read,
since the others are teasers. Properties outside any item are kept: templates often forget it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, takewhile
from typing import Final

from scrapy_mss.metadata.page_tree import Element, PageTree
from scrapy_mss.metadata.visible_text import VisibleText

MAX_PROPERTIES: Final = 500
MAX_OF_NAME: Final = 100  # of one name: what comes later is in teasers and comments
MAX_DESCENDANTS: Final = 200  # elements in a person

# Endings of the types of items that may be the page; those of articles come first.
ARTICLE_TYPES: Final = ("Article", "Posting", "Report")
PAGE_TYPES: Final = (*ARTICLE_TYPES, "Page", "CreativeWork", "Recipe", "Review")
# Attributes that hold the value of a property, machine-readable ones first.
VALUE_ATTRIBUTES: Final = ("content", "datetime", "href", "src")

Properties = Mapping[str, list[Element]]


def page_properties(tree: PageTree) -> Properties:
    """The elements that describe the page, by the lower-cased name of their property."""
    properties: dict[str, list[Element]] = {}
    article: Element | None = None
    items: dict[Element, Element | None] = {}
    for element in tree.properties(MAX_PROPERTIES):
        item = _item_of(element, items)
        item_type = "" if item is None else (item.get("itemtype") or "").rstrip("/")
        is_article = item_type.endswith(ARTICLE_TYPES)
        if is_article and article is None:
            article = item
        is_teaser = is_article and item is not article
        if item is None or (item_type.endswith(PAGE_TYPES) and not is_teaser):
            for name in (element.get("itemprop") or "").lower().split():
                named = properties.setdefault(name, [])
                if len(named) < MAX_OF_NAME:
                    named.append(element)
    return properties


def _item_of(element: Element, items: dict[Element, Element | None]) -> Element | None:
    """The item that the property belongs to; *items* has it for all elements visited before."""
    passed: list[Element] = []
    item: Element | None = None
    for ancestor in element.iterancestors():
        if ancestor in items:
            item = items[ancestor]
            break
        passed.append(ancestor)
        if ancestor.get("itemscope") is not None:
            item = ancestor
            break
    items.update(dict.fromkeys(passed, item))
    return item


def property_value(element: Element, visible: VisibleText) -> str:
    """The machine-readable value of a property, or the text of its element."""
    values = map(element.get, VALUE_ATTRIBUTES)
    return next(filter(None, values), None) or visible.of(element)


def names_of_person(element: Element, visible: VisibleText) -> Iterator[str]:
    """The names in a property that is a person: nested `name` properties, or the text."""
    content = element.get("content")
    if content:
        yield content
        return
    descendants = islice(element.iterdescendants("*"), MAX_DESCENDANTS)
    affordable = takewhile(lambda _: visible.can_visit(), descendants)
    nested = [each for each in affordable if each.get("itemprop") == "name"]
    for each in nested or [element]:
        yield each.get("content") or visible.of(each)
