"""One parsed page, in the views that the lookups need.

Strategy: the tree is read and never changed. Each view is computed when it is first needed and
kept: if the `<meta>` and JSON-LD of a page are complete, its text is never visited. Whatever a page
nests in what, the visits to its text are paid from one budget (`tree`): fields may be missing
when that is spent, but the time has a bound, and the same page always gives the same fields.

The text around the heading of an article, where readers look for its author and date, is read from
the heading on, in document order, until the article itself has begun (`MAX_LONG_LINES`). Short
lines up to there are about the article, while the same words further down are about others.

Of microdata, an `itemprop` belongs to its nearest ancestor that is an item. Items that are not the
page (a comment, a product, a person) are left out, and of several articles only the first is read,
since the others are teasers. Properties outside any item are kept: templates often forget it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice, takewhile
from typing import Final

from scrapy_mss.markup.lazy import lazy
from scrapy_mss.markup.tokens import Tokens
from scrapy_mss.metadata.dates import year_in
from scrapy_mss.metadata.titles import MAX_TITLE, matching_heading
from scrapy_mss.output.sanitizing import base_url
from scrapy_mss.pages.addresses import is_web_url, names_in_host
from scrapy_mss.pages.declarations import (
    ARTICLE,
    WEB_SITE,
    Graph,
    Node,
    PageIdentity,
    comparable_url,
)
from scrapy_mss.pages.text import clean, folded, spellings
from scrapy_mss.pages.tree import HIDDEN, Element, Fragment, PageTree

MAX_VALUES: Final = 60  # per name of `<meta>` or relation; lists of authors are the longest
MAX_HEADINGS: Final = 20
MAX_OF_TAG: Final = 1_000  # the most of 2,526 pages: 211 `<meta>`, 376 `<link>`
MAX_TIMES: Final = 100
MAX_SITE_WORDS: Final = 7  # some templates put the headline where the site's name belongs

MAX_ROOTS: Final = 10  # `<html>` tags that are read: one for old browsers, one for others
LANGUAGE_ATTRIBUTES: Final = ("lang", "xml:lang")
TIME_TAGS: Final = frozenset({"h1", "time"})
META_ATTRIBUTES: Final = ("content", "property", "name", "http-equiv")
LINK_ATTRIBUTES: Final = ("href", "rel")

SITE_METAS: Final = ("og:site_name", "application-name", "apple-mobile-web-app-title")


class ParsedPage:
    """The views of the page with these *tokens*; *url* is its own, None if it is unknown."""

    def __init__(self, tokens: Tokens, url: str | None) -> None:
        self.tree = PageTree(tokens)
        self.url = url if url and is_web_url(url) else None
        self._links: dict[str, list[str]] = {}
        self._best_nodes: dict[str, Node | None] = {}
        self._items_of: dict[int, int] = {}

    @lazy
    def base(self) -> str:
        """The URL against which relative URLs are resolved; empty if none is known."""
        return base_url(self.tree.tokens, self.url or "")

    @lazy
    def metas(self) -> Mapping[str, list[str]]:
        """The contents of `<meta>` by name or property, in lower case and with `:` for `.`."""
        metas: dict[str, list[str]] = {}
        rows = self.tree.values("meta", META_ATTRIBUTES, MAX_OF_TAG)
        for content, of_graph, name, header in rows:  # by a star, each would be a list
            if not content:
                continue
            for key in map(meta_name, filter(None, (of_graph, name, header))):
                if key not in metas:
                    metas[key] = [content]
                elif len(known := metas[key]) < MAX_VALUES:
                    known.append(content)
        return metas

    def links(self, relation: str) -> list[str]:
        """The addresses of `<link>` by *relation*."""
        if relation not in self._links:
            found = self.tree.link_values(relation, LINK_ATTRIBUTES, MAX_OF_TAG)
            self._links[relation] = [
                url
                for url, relations in found
                if url and relations and relation in relations.lower().split()[:MAX_VALUES]
            ][:MAX_VALUES]
        return self._links[relation]

    @lazy
    def language(self) -> str | None:
        """The `lang` of `<html>`, which also decides how numeric dates are read."""
        tags = self.tree.values("html", LANGUAGE_ATTRIBUTES, MAX_ROOTS)
        for name in range(len(LANGUAGE_ATTRIBUTES)):  # the first tag with an attribute counts
            if first := next((each[name] for each in tags if each[name] is not None), None):
                return first
        return None

    @lazy
    def site_names(self) -> frozenset[str]:
        """The spellings of the names that the site gives itself, and of the parts of its host."""
        names = [value for name in SITE_METAS for value in self.metas.get(name, ())]
        names += self.json_ld(ARTICLE, ("publisher",))
        names += self.json_ld(WEB_SITE, ("name", "alternateName"))
        names += names_in_host(self.url or next(iter(self.links("canonical")), None))
        once = map(clean, dict.fromkeys(names))
        short = (name for name in once if len(name.split()) <= MAX_SITE_WORDS)
        return frozenset[str]().union(*map(spellings, short))

    # --- titles and headings ----------------------------------------------------------------------

    @lazy
    def title_texts(self) -> list[str]:
        """The texts of `<title>`; the titles of drawings (SVG) are ignored."""
        return [
            element.text
            for element in self.tree.called("title", 2)
            if not self.tree.rows_around(element.row, HIDDEN, 1)
        ]

    @lazy
    def _headings(self) -> list[Element]:
        for tag in ("h1", "h2"):
            elements = self.tree.called(tag, MAX_HEADINGS)
            headings = [element for element in elements if 0 < len(element.text) <= MAX_TITLE]
            if headings:
                return headings
        return []

    @lazy
    def headings(self) -> list[str]:
        """The headings of the highest level: `<h1>`, or `<h2>` if there is no `<h1>`."""
        return [element.text for element in self._headings]

    @lazy
    def h1_headings(self) -> list[str]:
        return [element.text for element in self._headings if element.tag == "h1"]

    @lazy
    def _heading(self) -> Element | None:
        """The heading with which `<title>` begins, or else the first one."""
        if len(self._headings) <= 1:
            return next(iter(self._headings), None)
        confirmed = (matching_heading(title, self.headings) for title in self.title_texts)
        chosen = next(filter(None, confirmed), None) or next(iter(self.headings), None)
        return next((each for each in self._headings if each.text == chosen), None)

    @lazy
    def _runs(self) -> Iterator[Fragment]:
        """The text after the heading, or of a page without one; each view reads on in it."""
        return self.tree.fragments_after(self._heading)

    @lazy
    def _until_body(self) -> list[Fragment]:
        """The lines from the heading to where the article has begun."""
        lines, n_long = list[Fragment](), 0
        for text, row in self._runs if self._heading is not None else ():
            if line := clean(text):
                n_long += len(line) > MAX_LINE
                if n_long > MAX_LONG_LINES:
                    break
                lines.append((line, row))
                if len(lines) == MAX_LINES:
                    break
        return lines

    @lazy
    def following(self) -> list[str]:
        """The short lines after the heading, up to where the article has begun."""
        return [line for line, _ in self._until_body if len(line) <= MAX_LINE]

    @lazy
    def nearby(self) -> list[str]:
        """The short lines after the heading, then those right above it."""
        above = () if self._heading is None else self.tree.above(self._heading)
        return [*self.following, *short_texts(above)]

    @lazy
    def dated(self) -> list[str]:
        """Those of the lines nearby that have a year, as all have that are dates."""
        return list(filter(year_in, self.nearby))

    @lazy
    def distant(self) -> list[str]:
        """The short lines with a year after the heading, or of a page without one."""
        further = (text for text, _ in self._runs if not text.isspace())
        near = (line for line, _ in self._until_body)
        lines = filter(year_in, islice(chain(near, filter(None, further)), MAX_DISTANT_LINES))
        return [line for line in map(clean, lines) if len(line) <= MAX_LINE]

    @lazy
    def bylines(self) -> list[str]:
        """The texts after the heading that are marked as byline or link to an author's page."""
        rows = (row for _, row in self._until_body)
        elements = self.tree.around_texts(rows, BYLINE_LEVELS, BYLINE_MARKERS, _AUTHOR_PAGE)
        return short_texts(filter(_is_byline, elements))

    # --- machine-readable data --------------------------------------------------------------------

    @lazy
    def graph(self) -> Graph:
        scripts = filter(None, self.tree.scripts(MAX_OF_TAG, json_ld=True))
        return Graph(scripts)

    @lazy
    def _identity(self) -> PageIdentity:
        """The page's URLs and titles outside JSON-LD."""
        urls = (self.url, *self.links("canonical"), *self.metas.get("og:url", ()))
        titles = (*map(clean, self.metas.get("og:title", ())), *self.headings)
        return PageIdentity(
            frozenset(comparable_url(url) for url in {*urls} if url),
            frozenset(folded(title) for title in {*titles}),
        )

    def best_node(self, kind: str) -> Node | None:
        """The node of *kind* that most likely describes the page."""
        if kind not in self._best_nodes:
            self._best_nodes[kind] = self.graph.best_node(kind, lambda: self._identity)
        return self._best_nodes[kind]

    def json_ld(self, kind: str, keys: Sequence[str]) -> Iterable[str]:
        """The texts under *keys* in the `best_node` of *kind*."""
        node = self.best_node(kind)
        return self.graph.texts(node, keys) if node and not node.keys().isdisjoint(keys) else ()

    @lazy
    def _properties(self) -> Mapping[str, list[int]]:
        """The rows of all properties in the page's microdata, by their names in lower case."""
        properties: defaultdict[str, list[int]] = defaultdict(list)
        for row, names in islice(self.tree.having("itemprop"), MAX_PROPERTIES):
            # Each once, however often it is said; an empty one tells of an item, too.
            for name in dict.fromkeys(names.lower().split() or ("",)):
                properties[name].append(row)
        return properties

    @lazy
    def _items(self) -> frozenset[int]:
        """The items around properties: few of a page's elements need to be looked at."""
        around = self.tree.rows_above(chain.from_iterable(self._properties.values()))
        return frozenset(row for row, _ in self.tree.having("itemscope", around))

    def _item_of(self, row: int) -> int:
        """The innermost item around the property in a *row*; -1 if it is in none."""
        if row not in self._items_of:
            self._items_of[row] = self.tree.nearest(row, self._items)
        return self._items_of[row]

    def _is_a(self, item: int, types: tuple[str, ...]) -> bool:
        kind = self.tree.element(item).get("itemtype") if item >= 0 else None
        return kind is not None and kind.rstrip("/").endswith(types)

    @lazy
    def _article_item(self) -> int:
        """The first item with a property that is an article; -1 if none is."""
        rows = sorted(set(chain.from_iterable(self._properties.values())))
        items = map(self._item_of, rows)
        return next((item for item in items if self._is_a(item, ARTICLE_TYPES)), -1)

    def properties(self, names: Iterable[str]) -> list[Element]:
        """The elements of the properties of the page with one of *names*, in its microdata."""
        if not self._properties:
            return []
        found = (filter(self._is_of_page, self._properties.get(name.lower(), ())) for name in names)
        rows = chain.from_iterable(islice(each, MAX_OF_NAME) for each in found)
        return list(map(self.tree.element, rows))

    def _is_of_page(self, row: int) -> bool:
        """Whether the property in a *row* is one of the page."""
        item = self._item_of(row)
        if self._is_a(item, ARTICLE_TYPES):
            return item == self._article_item
        return item < 0 or self._is_a(item, PAGE_TYPES)

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


@lru_cache(2**10)  # pages have the same few
def meta_name(name: str) -> str:
    """The key in `ParsedPage.metas` of what is called *name*."""
    return name.strip().lower().replace(".", ":")


# --- microdata ------------------------------------------------------------------------------------

MAX_PROPERTIES: Final = 500
MAX_OF_NAME: Final = 100  # of one name: what comes later is in teasers and comments
MAX_DESCENDANTS: Final = 200  # elements in a person

# Endings of the types of items that may be the page; those of articles come first.
ARTICLE_TYPES: Final = ("Article", "Posting", "Report")
PAGE_TYPES: Final = (*ARTICLE_TYPES, "Page", "CreativeWork", "Recipe", "Review")
# Attributes that hold the value of a property, machine-readable ones first.
VALUE_ATTRIBUTES: Final = ("content", "datetime", "href", "src")


def property_value(element: Element) -> str:
    """The machine-readable value of a property, or the text of its element."""
    values = map(element.get, VALUE_ATTRIBUTES)
    return next(filter(None, values), None) or element.text


def names_of_person(element: Element) -> Iterator[str]:
    """The names in a property that is a person: nested `name` properties, or the text."""
    content = element.get("content")
    if content:
        yield content
        return
    descendants = islice(element.iterdescendants(), MAX_DESCENDANTS)
    affordable = takewhile(lambda _: element.tree.pay(), descendants)
    nested = [each for each in affordable if each.get("itemprop") == "name"]
    for each in nested or [element]:
        yield each.get("content") or each.text


# --- around the heading ---------------------------------------------------------------------------

MAX_LINES: Final = 60  # after a heading; 30, 60 and 120 gave the same dates
MAX_DISTANT_LINES: Final = 600  # when no other place has a date
MAX_BYLINES: Final = 40
BYLINE_LEVELS: Final = 3  # a line's element and its ancestors that may be marked as byline
MAX_LONG_LINES: Final = 2  # on many pages, a standfirst and a caption are above the date
MAX_LINE: Final = 120  # characters of a byline or a line with a date; a teaser has more
SEPARATOR: Final = " | "  # between the lines of one element

BYLINE_MARKERS: Final = ("byline", "author", "autor", "auteur")
_AUTHOR_PAGE: Final = re.compile(
    r"/(?:authors?|autor(?:en|es|i)?|auteurs?|by|contributors?|journalists?|people|profiles?|"
    r"redaktion|staff|team|writers?)/[^/]",
    re.IGNORECASE,
)


def short_texts(elements: Iterable[Element]) -> list[str]:
    """The texts of *elements* that are as short as a byline, with their lines separated."""
    texts = map(_separated, islice(elements, MAX_BYLINES))
    return [text for text in texts if 0 < len(text) <= MAX_LINE]


def _separated(element: Element) -> str:
    """The lines in *element*, separated: names in adjacent links have no space between them."""
    lines, length = list[str](), 0
    texts = (clean(text) for text, _ in element.tree.fragments(element))
    for line in islice(filter(None, texts), MAX_LINES):
        lines.append(line)
        length += len(line)
        if length > MAX_LINE:  # it is not short
            break
    return SEPARATOR.join(lines)


def _is_byline(element: Element) -> bool:
    """Whether *element* is marked as a byline, or links to the page of an author."""
    if any(map(markers_of(element).__contains__, BYLINE_MARKERS)):
        return True
    return element.tag == "a" and bool(_AUTHOR_PAGE.search(element.get("href") or ""))


def markers_of(element: Element) -> str:
    """The class, id and property of an element, in lower case."""
    value = element.attrib.get
    return f"{value('class', '')} {value('id', '')} {value('itemprop', '')}".lower()


def first_group(elements: Iterable[Element]) -> Iterator[Element]:
    """The first element, and the others that share its parent or its parent's parent."""
    first_ancestors: set[Element] | None = None
    for element in elements:
        ancestors = set(islice(element.iterancestors(), 2))
        first_ancestors = ancestors if first_ancestors is None else first_ancestors
        if not first_ancestors.isdisjoint(ancestors):
            yield element
