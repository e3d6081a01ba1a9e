"""One parsed page, as the readers of `rows` look at it.

Strategy: the tree is read and never changed. Each view of it is made when first asked for and
kept: a page whose JSON-LD says everything never has its headings or bylines looked at. Elements
are found by tag or by a compiled XPath, in C; Python sees only those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final, cast

from lxml import etree

from scrapy_mss.metadata import jsonld
from scrapy_mss.metadata.jsonld import Graph, Hint, comparable
from scrapy_mss.metadata.text import HIDDEN, absolute, clean, domain_labels, folded, text_of

Element = etree._Element  # noqa: SLF001 - lxml's class of elements has no other name

MAX_HEADINGS: Final = 20
MAX_FOUND: Final = 40  # elements of one kind; the one that is wanted is among the first
LONGEST_LINE: Final = 120  # characters of a byline or a date line; a teaser has more

_LOWER: Final = "translate({}, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz')"
_WITH_ITEMPROP: Final = etree.XPath("//*[@itemprop]")
_REL_AUTHOR: Final = etree.XPath("//a[contains(@rel, 'author')]|//address//a")


def _with_class(*parts: str) -> etree.XPath:
    """Elements below the body whose class or id contains one of *parts*."""
    name = _LOWER.format("concat(@class, ' ', @id)")
    tests = " or ".join(f"contains({name}, '{part}')" for part in parts)
    return etree.XPath(f"//body//*[(@class or @id) and ({tests})]")


_BYLINES: Final = _with_class("byline", "author", "autor", "auteur")
_DATE_LINES: Final = _with_class("date", "publish", "posted", "timestamp", "time", "meta", "byline")

# Types of microdata whose properties are the page's own; the address ends so.
_OWNERS: Final = ("Article", "Posting", "Page", "CreativeWork", "Report", "Recipe", "Review")
# Where the value of a property stands, first for what machines read.
_VALUE_AT: Final = ("content", "datetime", "href", "src")


class Page:
    """The views of one page; *url* is where it came from, None where that is not known."""

    def __init__(self, root: Element, url: str | None) -> None:
        """Look at the whole tree that *root* is in."""
        self.root = root.getroottree().getroot()
        self.url = url

    @cached_property
    def base(self) -> str | None:
        """What relative addresses are relative to."""
        for element in self.root.iter("base"):
            return absolute(element.get("href") or "", self.url) or self.url
        return self.url

    @cached_property
    def metas(self) -> Mapping[str, list[str]]:
        """The contents of `<meta>` by name or property, lower case, `:` for `.`."""
        found: dict[str, list[str]] = {}
        for element in self.root.iter("meta"):
            content = clean(element.get("content") or "")
            if not content:
                continue
            for attribute in ("property", "name", "itemprop", "http-equiv"):
                name = (element.get(attribute) or "").strip().lower().replace(".", ":")
                if name:
                    found.setdefault(name, []).append(content)
        return found

    @cached_property
    def links(self) -> Mapping[str, list[str]]:
        """The addresses of `<link>` by relation."""
        found: dict[str, list[str]] = {}
        for element in self.root.iter("link"):
            address = element.get("href")
            for relation in (element.get("rel") or "").lower().split():
                if address:
                    found.setdefault(relation, []).append(address)
        return found

    @cached_property
    def declared_language(self) -> str | None:
        """The `lang` of `<html>`, which also decides how numeric dates are read."""
        names = ("lang", "{http://www.w3.org/XML/1998/namespace}lang", "xml:lang")
        return next((value for name in names if (value := self.root.get(name))), None)

    @cached_property
    def sites(self) -> tuple[str, ...]:
        """What the site calls itself, and the parts of its domain."""
        metas = (
            value
            for name in ("og:site_name", "application-name", "apple-mobile-web-app-title")
            for value in self.metas.get(name, ())
        )
        publishers = self.site_texts(("publisher",), ("name", "alternateName"))
        labels = domain_labels(self.url or next(iter(self.links.get("canonical", ())), None))
        host = ".".join(labels)
        return tuple(dict.fromkeys((*metas, *publishers, *labels, host, *self._hosts)))

    @cached_property
    def _hosts(self) -> tuple[str, ...]:
        from urllib.parse import urlsplit

        try:
            host = urlsplit(self.url or "").hostname or ""
        except ValueError:
            return ()
        return (host, host.removeprefix("www."))

    def site_texts(self, of_article: Iterable[str], of_site: Iterable[str]) -> list[str]:
        """What JSON-LD says about the publisher of the article, and about the site."""
        texts = [*self.json_ld(jsonld.ARTICLE, of_article), *self.json_ld(jsonld.SITE, of_site)]
        return [text for text in map(clean, texts) if text]

    @cached_property
    def headings(self) -> list[str]:
        """The first level of headings."""
        texts = (text_of(element) for element in _first(self.root.iter("h1"), MAX_HEADINGS))
        return [text for text in texts if text]

    @cached_property
    def tab_titles(self) -> list[str]:
        """What browsers show in the tab; titles of drawings in the page are none."""
        return [
            text_of(element)
            for element in _first(self.root.iter("title"), 2)
            if not any(parent.tag in HIDDEN for parent in element.iterancestors())
        ]

    @cached_property
    def graph(self) -> Graph:
        """The JSON-LD of the page."""
        return Graph(
            element.text
            for element in self.root.iter("script")
            if "ld+json" in (element.get("type") or "").lower() and element.text
        )

    @cached_property
    def hint(self) -> Hint:
        """What tells this page's node from others."""
        addresses = (self.url, *self.links.get("canonical", ()), *self.metas.get("og:url", ()))
        titles = (*self.metas.get("og:title", ()), *self.headings)
        return Hint(
            frozenset(comparable(address) for address in addresses if address),
            frozenset(folded(title) for title in titles),
        )

    def json_ld(self, kind: str, keys: Iterable[str]) -> Iterator[str]:
        """The texts under *keys* in the likeliest node of *kind* that has any."""
        keys = tuple(keys)
        for node in self.graph.nodes(kind, self.hint)[:1]:
            yield from self.graph.texts(node, keys)

    @cached_property
    def properties(self) -> Mapping[str, list[Element]]:
        """The elements of microdata that describe the page, by property."""
        found: dict[str, list[Element]] = {}
        first: Element | None = None
        for element in _elements(_WITH_ITEMPROP, self.root):
            owner = next(element.iterancestors("*"), None)
            while owner is not None and owner.get("itemscope") is None:
                owner = owner.getparent()
            if owner is not None and not _is_owner(owner):
                continue
            if owner is not None and (owner.get("itemtype") or "").endswith(_OWNERS[:2]):
                first = owner if first is None else first
                if owner is not first:
                    continue
            for name in (element.get("itemprop") or "").lower().split():
                found.setdefault(name, []).append(element)
        return found

    @cached_property
    def times(self) -> list[Element]:
        """The `<time>` elements: those behind the first heading, then those before it."""
        before: list[Element] = []
        behind: list[Element] = []
        chosen = before
        for element in _first(self.root.iter("h1", "time"), 4 * MAX_FOUND):
            if element.tag == "h1":
                chosen = behind
            else:
                chosen.append(element)
        return [*behind, *reversed(before)]

    @cached_property
    def author_links(self) -> list[str]:
        """The texts of links to the author."""
        return _lines(_elements(_REL_AUTHOR, self.root))

    @cached_property
    def bylines(self) -> list[str]:
        """Short texts in what is called a byline or an author."""
        return _lines(_elements(_BYLINES, self.root))

    @cached_property
    def date_lines(self) -> list[str]:
        """Short texts in what is called a date."""
        return _lines(_elements(_DATE_LINES, self.root))


def value_of(element: Element) -> str:
    """The value of a property: what machines read, else the text."""
    for name in _VALUE_AT:
        value = element.get(name)
        if value:
            return value
    return text_of(element)


def name_of(element: Element) -> Iterator[str]:
    """The names in a property that is a person: nested names, else the text."""
    nested = [each for each in element.iterdescendants("*") if each.get("itemprop") == "name"]
    if element.get("content"):
        yield element.get("content") or ""
    elif nested:
        yield from (each.get("content") or text_of(each) for each in nested)
    else:
        yield text_of(element)


def _is_owner(owner: Element) -> bool:
    return (owner.get("itemtype") or "").rstrip("/").endswith(_OWNERS)


def _elements(path: etree.XPath, root: Element) -> Iterator[Element]:
    """What *path* finds, as lxml's own types have it."""
    evaluate = cast("Callable[[Element], list[Element]]", path)
    yield from evaluate(root)


def _first(elements: Iterable[Element], count: int) -> Iterator[Element]:
    for element, _ in zip(elements, range(count), strict=False):
        yield element


def _lines(elements: Iterable[Element]) -> list[str]:
    texts = (text_of(element) for element in _first(elements, MAX_FOUND))
    return [text for text in texts if 0 < len(text) <= LONGEST_LINE]
