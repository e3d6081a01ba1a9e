"""One parsed page, in the views that the lookups need.

Strategy: the tree is read and never changed. Each view is computed when it is first needed and
kept: if the `<meta>` and JSON-LD of a page are complete, its text is never visited. Every view
has a bound, and all of them share the budget of `VisibleText`.

Of microdata, an `itemprop` belongs to its nearest ancestor that is an item. Items that are not the
page (a comment, a product, a person) are left out, and of several articles only the first is read,
since the others are teasers. Properties outside any item are kept: templates often forget it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, takewhile
from typing import Final

from scrapy_mss.markup.lazy import lazy
from scrapy_mss.metadata.page_text import HeadingContext, VisibleText, first_group, short_texts
from scrapy_mss.metadata.titles import MAX_TITLE, matching_heading
from scrapy_mss.metadata.tree import Element, PageTree
from scrapy_mss.pages.addresses import absolute_url, is_web_url, names_in_host
from scrapy_mss.pages.declarations import (
    ARTICLE,
    WEB_SITE,
    Graph,
    PageIdentity,
    comparable_url,
)
from scrapy_mss.pages.text import clean, folded, spellings

MAX_VALUES: Final = 60  # per name of `<meta>` or relation; lists of authors are the longest
MAX_HEADINGS: Final = 20
MAX_OF_TAG: Final = 1_000  # the most of 2,526 pages: 211 `<meta>`, 376 `<link>`
MAX_SCRIPTS: Final = 1_000_000  # characters; pages that are applications have that many
MAX_TIMES: Final = 100
MAX_AUTHOR_LINKS: Final = 500  # a page of comments links each of their authors
MAX_SITE_WORDS: Final = 7  # some templates put the headline where the site's name belongs

LANGUAGE_ATTRIBUTES: Final = ("lang", "{http://www.w3.org/XML/1998/namespace}lang", "xml:lang")
TIME_TAGS: Final = frozenset({"h1", "time"})
META_ATTRIBUTES: Final = ("content", "property", "name", "http-equiv")
LINK_ATTRIBUTES: Final = ("href", "rel")
SITE_METAS: Final = ("og:site_name", "application-name", "apple-mobile-web-app-title")


class ParsedPage:
    """The views of one page; *url* is the page's own, None if it is unknown."""

    def __init__(self, tree: PageTree, url: str | None) -> None:
        self.tree = tree
        self.url = url if url and is_web_url(url) else None
        self.visible = VisibleText(tree)

    @lazy
    def base(self) -> str | None:
        """The URL against which relative URLs are resolved."""
        for (href,) in self.tree.values("base", ("href",), 1):
            return absolute_url(href or "", self.url) or self.url
        return self.url

    @lazy
    def metas(self) -> Mapping[str, list[str]]:
        """The contents of `<meta>` by name or property, in lower case and with `:` for `.`."""
        metas: dict[str, list[str]] = {}
        for content, *names in self.tree.values("meta", META_ATTRIBUTES, MAX_OF_TAG):
            if not content:
                continue
            for name in names:
                if name:
                    _add(metas, _meta_name(name), content)
        return metas

    @lazy
    def links(self) -> Mapping[str, list[str]]:
        """The URLs of `<link>` by relation."""
        links: dict[str, list[str]] = {}
        for url, relations in self.tree.values("link", LINK_ATTRIBUTES, MAX_OF_TAG):
            if url and relations:
                for relation in relations.lower().split()[:MAX_VALUES]:
                    _add(links, relation, url)
        return links

    @lazy
    def language(self) -> str | None:
        """The `lang` of `<html>`, which also decides how numeric dates are read."""
        return next(filter(None, map(self.tree.attributes.get, LANGUAGE_ATTRIBUTES)), None)

    @lazy
    def site_names(self) -> frozenset[str]:
        """The spellings of the names that the site gives itself, and of the parts of its host."""
        names = [value for name in SITE_METAS for value in self.metas.get(name, ())]
        names += self.json_ld(ARTICLE, ("publisher",))
        names += self.json_ld(WEB_SITE, ("name", "alternateName"))
        names += names_in_host(self.url or next(iter(self.links.get("canonical", ())), None))
        return frozenset(
            spelling
            for name in map(clean, names)
            if len(name.split()) <= MAX_SITE_WORDS
            for spelling in spellings(name)
        )

    # --- titles and headings ----------------------------------------------------------------------

    @lazy
    def title_texts(self) -> list[str]:
        """The texts of `<title>`; a drawing in the page has a title of its own, which is none."""
        return [
            self.visible.of(element)
            for element in self.tree.find(frozenset({"title"}), 2)
            if not self.tree.is_hidden(element)
        ]

    @lazy
    def _headings(self) -> list[tuple[str, Element]]:
        """The texts and elements of the highest level of headings in the page."""
        for tag in ("h1", "h2"):
            elements = self.tree.find(frozenset({tag}), MAX_HEADINGS)
            texts = ((self.visible.of(element), element) for element in elements)
            headings = [(text, element) for text, element in texts if 0 < len(text) <= MAX_TITLE]
            if headings:
                return headings
        return []

    @lazy
    def headings(self) -> list[str]:
        """The headings of the highest level: `<h1>`, or `<h2>` if there is no `<h1>`."""
        return [text for text, _ in self._headings]

    @lazy
    def h1_headings(self) -> list[str]:
        """The headings that are `<h1>`."""
        return [text for text, element in self._headings if element.tag == "h1"]

    @lazy
    def heading_context(self) -> HeadingContext:
        """The text around the heading with which `<title>` begins, or else the first heading."""
        confirmed = (matching_heading(title, self.headings) for title in self.title_texts)
        chosen = next(filter(None, confirmed), None) or next(iter(self.headings), None)
        element = next((each for text, each in self._headings if text == chosen), None)
        return HeadingContext(element, self.tree, self.visible)

    # --- machine-readable data --------------------------------------------------------------------

    @lazy
    def graph(self) -> Graph:
        """The JSON-LD of the page."""
        return Graph(filter(None, self.tree.scripts(MAX_OF_TAG, json_ld=True)), self.identity)

    @lazy
    def other_scripts(self) -> str:
        """The scripts that are not JSON-LD, up to `MAX_SCRIPTS` characters in all."""
        scripts: list[str] = []
        length = 0
        for text in filter(None, self.tree.scripts(MAX_OF_TAG, json_ld=False)):
            scripts.append(text)
            length += len(text)
            if length >= MAX_SCRIPTS:
                break
        return "\0".join(scripts)[:MAX_SCRIPTS]

    @lazy
    def identity(self) -> PageIdentity:
        """The page's URLs and titles outside JSON-LD."""
        urls = (self.url, *self.links.get("canonical", ()), *self.metas.get("og:url", ()))
        titles = (*map(clean, self.metas.get("og:title", ())), *self.headings)
        return PageIdentity(
            frozenset(comparable_url(url) for url in {*urls} if url),
            frozenset(folded(title) for title in {*titles}),
        )

    def json_ld(self, kind: str, keys: Sequence[str]) -> Iterable[str]:
        """The texts under *keys* in the node of *kind* that most likely describes the page."""
        node = self.graph.best_node(kind)
        return self.graph.texts(node, keys) if node and not node.keys().isdisjoint(keys) else ()

    @lazy
    def properties(self) -> Properties:
        """The microdata of the page."""
        return page_properties(self.tree)

    # --- visible elements -------------------------------------------------------------------------

    @lazy
    def times(self) -> list[Element]:
        """The `<time>` elements: those after the first `<h1>`, then those before it, upwards."""
        before: list[Element] = []
        after: list[Element] = []
        current = before
        for element in islice(self.tree.find(TIME_TAGS, MAX_TIMES), MAX_TIMES):
            if element.tag == "h1":
                current = after
            else:
                current.append(element)
        return [*after, *reversed(before)]

    @lazy
    def author_links(self) -> list[str]:
        """The texts of the first link with `rel=author` and of those next to it."""
        return short_texts(
            first_group(self.tree.related_links("author", MAX_AUTHOR_LINKS)), self.visible
        )


@lru_cache(2**10)  # pages have the same few
def _meta_name(name: str) -> str:
    return name.strip().lower().replace(".", ":")


def _add(values: dict[str, list[str]], name: str, value: str) -> None:
    named = values.setdefault(name, [])
    if len(named) < MAX_VALUES:
        named.append(value)


# --- microdata ------------------------------------------------------------------------------------

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
