"""One parsed page, as the readers look at it.

Strategy: the tree is read and never changed. Each view of it is made when first asked for and
kept: a page whose metadata says everything never has its text looked at. Elements are found by
tag or by a compiled XPath, in C; Python sees only those. Every view has a bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Final, cast

from lxml import etree

from scrapy_mss.metadata import jsonld, microdata
from scrapy_mss.metadata.jsonld import Graph, Hint, comparable
from scrapy_mss.metadata.surroundings import Surroundings, neighbours, short_lines
from scrapy_mss.metadata.text import (
    HIDDEN,
    Element,
    absolute,
    clean,
    folded,
    is_web_address,
    names_in_host,
    spellings,
    text_of,
)
from scrapy_mss.metadata.titles import MAX_TITLE, heading_in

MAX_VALUES: Final = 60  # of one name of `<meta>`, of one relation; lists of authors are the longest
MAX_HEADINGS: Final = 20
MAX_SCRIPTS: Final = 1_000_000  # characters; a page that is an application has as many
MAX_TIMES: Final = 160
LONGEST_SITE: Final = 7  # words; templates put the headline where the site's name belongs

LANGUAGE_AT: Final = ("lang", "{http://www.w3.org/XML/1998/namespace}lang", "xml:lang")
META_NAMES: Final = ("property", "name", "http-equiv")
SITE_METAS: Final = ("og:site_name", "application-name", "apple-mobile-web-app-title")
_REL_AUTHOR: Final = cast(
    "Callable[[Element], list[Element]]", etree.XPath("//a[contains(@rel, 'author')]")
)


class Page:
    """The views of one page; *url* is where it came from, None where that is not known."""

    def __init__(self, root: Element, url: str | None) -> None:
        self.root = root.getroottree().getroot()
        self.url = url if url and is_web_address(url) else None

    @cached_property
    def base(self) -> str | None:
        """What relative addresses are relative to."""
        for element in islice(self.root.iter("base"), 1):
            return absolute(element.get("href") or "", self.url) or self.url
        return self.url

    @cached_property
    def metas(self) -> Mapping[str, list[str]]:
        """The contents of `<meta>`, as they are, by name or property in lower case, `:` for `.`."""
        found: dict[str, list[str]] = {}
        for element in self.root.iter("meta"):
            content = element.get("content")
            if not content:
                continue
            for attribute in META_NAMES:
                name = element.get(attribute)
                if name:
                    _add(found, name.strip().lower().replace(".", ":"), content)
        return found

    @cached_property
    def links(self) -> Mapping[str, list[str]]:
        """The addresses of `<link>` by relation."""
        found: dict[str, list[str]] = {}
        for element in self.root.iter("link"):
            address = element.get("href")
            if address:
                for relation in (element.get("rel") or "").lower().split()[:MAX_VALUES]:
                    _add(found, relation, address)
        return found

    @cached_property
    def language(self) -> str | None:
        """The `lang` of `<html>`, which also decides how numeric dates are read."""
        return next((value for name in LANGUAGE_AT if (value := self.root.get(name))), None)

    @cached_property
    def sites(self) -> frozenset[str]:
        """The spellings of what the site calls itself, and of the parts of its domain."""
        names = [value for name in SITE_METAS for value in self.metas.get(name, ())]
        names += self.json_ld(jsonld.ARTICLE, ("publisher",))
        names += self.json_ld(jsonld.SITE, ("name", "alternateName"))
        names += names_in_host(self.url or next(iter(self.links.get("canonical", ())), None))
        known = (clean(name) for name in names)
        return frozenset(
            each for name in known if len(name.split()) <= LONGEST_SITE for each in spellings(name)
        )

    # --- titles and headings ----------------------------------------------------------------------

    @cached_property
    def tab_titles(self) -> list[str]:
        """What browsers show in the tab; titles of drawings in the page are none."""
        return [
            text_of(element)
            for element in islice(self.root.iter("title"), 2)
            if not any(parent.tag in HIDDEN for parent in element.iterancestors())
        ]

    @cached_property
    def _headings(self) -> list[tuple[str, Element]]:
        """The texts and elements of the highest level of headings that the page has."""
        for tag in ("h1", "h2"):
            elements = islice(self.root.iter(tag), MAX_HEADINGS)
            texts = ((text_of(element), element) for element in elements)
            found = [(text, element) for text, element in texts if 0 < len(text) <= MAX_TITLE]
            if found:
                return found
        return []

    @cached_property
    def headings(self) -> list[str]:
        """The headings of the highest level, `<h2>` where there is no `<h1>`."""
        return [text for text, _ in self._headings]

    @cached_property
    def first_headings(self) -> list[str]:
        """The headings that are `<h1>`."""
        return [text for text, element in self._headings if element.tag == "h1"]

    @cached_property
    def around(self) -> Surroundings:
        """The text around the heading that the tab's title begins with, else the first."""
        agreed = (heading_in(title, self.headings) for title in self.tab_titles)
        chosen = next(filter(None, agreed), None) or next(iter(self.headings), None)
        element = next((each for text, each in self._headings if text == chosen), None)
        return Surroundings(element, self.root)

    # --- what is meant for machines ---------------------------------------------------------------

    @cached_property
    def graph(self) -> Graph:
        """The JSON-LD of the page."""
        return Graph(
            element.text
            for element in self.root.iter("script")
            if "ld+json" in (element.get("type") or "").lower() and element.text
        )

    @cached_property
    def scripts(self) -> list[str]:
        """The other scripts, as far as `MAX_SCRIPTS` characters go."""
        found: list[str] = []
        left = MAX_SCRIPTS
        for element in self.root.iter("script"):
            text = element.text or ""
            if "ld+json" not in (element.get("type") or "").lower():
                found.append(text[:left])
                left -= len(found[-1])
            if not left:
                break
        return found

    @cached_property
    def hint(self) -> Hint:
        """What tells this page's node from others."""
        addresses = (self.url, *self.links.get("canonical", ()), *self.metas.get("og:url", ()))
        titles = (*map(clean, self.metas.get("og:title", ())), *self.headings)
        return Hint(
            frozenset(comparable(address) for address in addresses if address),
            frozenset(folded(title) for title in titles),
        )

    def json_ld(self, kind: str, keys: Sequence[str]) -> Iterator[str]:
        """The texts under *keys* in the likeliest node of *kind*."""
        node = self.graph.node(kind, self.hint)
        return self.graph.texts(node, keys) if node else iter(())

    @cached_property
    def properties(self) -> microdata.Properties:
        """The microdata of the page."""
        return microdata.properties(self.root)

    # --- what is meant for people -----------------------------------------------------------------

    @cached_property
    def times(self) -> list[Element]:
        """The `<time>` elements: those behind the first heading, then those before it."""
        before: list[Element] = []
        behind: list[Element] = []
        chosen = before
        for element in islice(self.root.iter("h1", "time"), MAX_TIMES):
            if element.tag == "h1":
                chosen = behind
            else:
                chosen.append(element)
        return [*behind, *reversed(before)]

    @cached_property
    def author_links(self) -> list[str]:
        """The texts of the first link to an author and of those beside it."""
        return short_lines(neighbours(_REL_AUTHOR(self.root)))


def _add(found: dict[str, list[str]], name: str, value: str) -> None:
    values = found.setdefault(name, [])
    if len(values) < MAX_VALUES:
        values.append(value)
