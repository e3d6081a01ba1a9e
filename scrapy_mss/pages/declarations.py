"""What a page declares of itself, for search engines above all: its types, and its JSON-LD.

Pages of today do. Those that declare nothing are old ones, above all, and must not be lost for
that. Those that declare something without being an article in JSON-LD are of other writing more
often: guides, blogs, services. An `og:type` of `article` is on all of these.

A script of JSON-LD that cannot be parsed is skipped; each is parsed once, whether its types are
asked for or the values in it. A node describes the page if all keys on the way to it are in
`PAGE_KEYS`: an article under any other key (`itemListElement`, `hasPart`, `mentions`) is another
page's. For the types, which are wanted of each page, scripts are found by a look at the source
alone, those in comments among them; for the values, in the parsed page.

All nodes are visited once, breadth first, without recursion and up to a bound; references are
looked up and never followed, so that cycles cost nothing. Of several articles, the best match for
the page wins: by its URL, its headline and the presence of a date. Ties are decided by the order in
the page.
"""

from __future__ import annotations

import json
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, NamedTuple

from scrapy_mss.markup.attributes import TYPE_CUES, graph_types, schema_types
from scrapy_mss.markup.compiled import accelerated
from scrapy_mss.markup.lazy import lazy
from scrapy_mss.markup.references import unescaped
from scrapy_mss.pages.text import folded, remembered

# The longest of 368 scripts on news sites had 34,406 characters.
MAX_SCRIPT: Final = 500_000  # characters of one script
MAX_REMEMBERED: Final = 50_000
MAX_ALL_SCRIPTS: Final = 1_000_000  # characters of all scripts
# Keys under which a node still describes the page.
PAGE_KEYS: Final = frozenset({"@graph", "mainEntity", "mainEntityOfPage", "subjectOf", "article"})

CUE: Final = "ld+json"  # in the opening tag of each script
MAX_TAG: Final = 300  # characters of it behind the cue
MAX_PAGE_SCRIPTS: Final = 50
MAX_PAGE_NODES: Final = 2_000  # objects and lists that describe the page; real pages have some ten
MAX_TYPES: Final = 20  # of one node
MAX_TYPE_NAME: Final = 200
END: Final = re.compile(r"</(?ai:script)(?=[\s/>])")  # as a parser has it: no long s

# The CDATA section or comment that XHTML needed around a script, and how far from the end of the
# script its closing mark is searched.
_OPENING: Final = re.compile(r"(?://|/\*)?\s{0,9}(?:<!\[CDATA\[|<!--)\s{0,9}(?:\*/)?")
_CLOSING: Final = re.compile(r"(?://|/\*)?\s{0,9}(?:\]\]>|-->)\s{0,9}(?:\*/)?$")
MAX_CLOSING: Final = 40
# What is between commas before a closing bracket, in one match if there is no such comma. An
# unclosed string extends to the end: searching it again from each quote would be quadratic.
_P: Final = "+" if sys.version_info >= (3, 11) else ""  # keeps no state a repetition
_STRING: Final = rf'"(?:[^"\\]+{_P}|\\.|\\\Z)*{_P}(?:"|\Z)'
_BETWEEN_COMMAS: Final = re.compile(rf'(?:[^",]+{_P}|{_STRING}|,(?!\s*[\]}}]))+{_P}', re.DOTALL)
_BEGINNING: Final = re.compile(r"[^\s;,]")  # of a value
_DECODER: Final = json.JSONDecoder(strict=False)  # line breaks in strings are a common mistake


# Both the types of a page and its metadata are read from its scripts, one soon after the other.
@remembered(8, MAX_REMEMBERED)
def parse_script(source: str) -> list[Any]:
    """The JSON values in the text of one script, not to be changed; none if it is malformed."""
    if len(source) > MAX_SCRIPT:
        return []
    source = _without_wrapper(source.strip())
    if source.startswith(("{&quot;", "[{&quot;")):
        source = unescaped(source)
    values = _values(source)
    if values is None:
        repaired = "".join(_BETWEEN_COMMAS.findall(source))  # none is left before a bracket
        values = None if repaired == source else _values(repaired)
    return values or []


def _without_wrapper(source: str) -> str:
    opening = _OPENING.match(source)
    if not opening:
        return source
    body, end = source[opening.end() : -MAX_CLOSING], source[-MAX_CLOSING:]
    return body + _CLOSING.sub("", end) if body else _CLOSING.sub("", source[opening.end() :])


def _values(source: str) -> list[Any] | None:
    """The JSON values in *source*, None if it is malformed or nested thousands of levels deep."""
    values: list[Any] = []
    position = 0
    try:
        while found := _BEGINNING.search(source, position):
            value, position = _DECODER.raw_decode(source, found.start())
            values.append(value)
    except (ValueError, RecursionError):
        return None
    return values


def page_types(source: str, places: Iterable[int]) -> set[str]:
    """The types of the nodes that describe the page, in the scripts with ``CUE`` at *places*."""
    scripts = map(parse_script, _scripts(source, islice(places, MAX_PAGE_SCRIPTS)))
    return {
        kind for node in _nodes(scripts, MAX_PAGE_NODES, of_page=True) for kind in _types_of(node)
    }


def _nodes(scripts: Iterable[list[Any]], most: int, *, of_page: bool) -> Iterator[Node]:
    """The nodes in the values of *scripts*, or those that describe the page, breadth first."""
    left = most
    for values in scripts:
        queue: deque[Any] = deque(values)
        while queue and left > 0:
            left -= 1
            inner = value = queue.popleft()
            if isinstance(value, dict):
                yield value
                if of_page and PAGE_KEYS.isdisjoint(value):
                    continue
                inner = [value[key] for key in value if key in PAGE_KEYS or not of_page]
            elif not isinstance(value, list):
                continue
            queue.extend(each for each in islice(inner, most) if isinstance(each, NESTED))


def _scripts(source: str, places: Iterable[int]) -> Iterator[str]:
    """The texts of the scripts in whose opening tags the *places* are, up to a bound in all."""
    left = MAX_ALL_SCRIPTS
    for place in places:
        start = source.find(">", place, place + MAX_TAG) + 1
        if not start:
            continue
        tag = source.find("<", start)  # in a tenth of the time
        end = END.search(source, max(tag, start), start + left)
        if end is None:
            return  # the last one that is read: what is behind it is part of it
        yield source[start : end.start()]
        left -= end.start() - start


def listed(value: object, most: int = MAX_TYPES) -> list[Any]:
    """The first values of a list, or the only value."""
    return value[:most] if isinstance(value, list) else [value]


def _types_of(node: Mapping[str, Any]) -> Iterator[str]:
    """The names of the types of *node*, without the vocabulary that they are from."""
    for each in listed(node.get("@type")):
        if isinstance(each, str):
            name = each[:MAX_TYPE_NAME]
            yield name[max(map(name.rfind, "/#:")) + 1 :]


# --- types and cues in the source -----------------------------------------------------------------

ARTICLE_TYPES: Final = ("article", "blogposting", "report")  # endings: NewsArticle …
SHOP_TYPES: Final = frozenset(
    {"Product", "Offer", "product", "SoftwareApplication", "LocalBusiness"}
)
FORUM_TYPES: Final = frozenset(
    {"DiscussionForumPosting", "QAPage", "Question", "Comment", "Answer"}
)

AUTHOR_CUES: Final = ('"author"', "'author'", "byline", "article:author")
PRICE_CUES: Final = ('"price"', "add-to-cart", "add_to_cart", "addtocart")
FORUM_CUES: Final = ("forum", "thread", "reply")
AMP_PICTURE: Final = "<amp-img"
ALL_CUES: Final = (*TYPE_CUES, CUE, *AUTHOR_CUES, *PRICE_CUES, *FORUM_CUES, AMP_PICTURE)


@accelerated()
def occurrences(text: str, wanted: Sequence[str]) -> list[list[int]]:
    """The offsets of each of the *wanted* ASCII strings in *text*, as `str.count` counts them.

    The compiled function looks at the text once for all of them, by blocks of some characters.
    """
    return [[found.start() for found in re.finditer(re.escape(each), text)] for each in wanted]


@dataclass(frozen=True, eq=False)
class Declarations:
    """The declarations in the *source* of a page; each is looked for once, when first asked for."""

    source: str

    @lazy
    def places(self) -> dict[str, list[int]]:
        """Where in the source each of ``ALL_CUES`` occurs."""
        return dict(zip(ALL_CUES, occurrences(self.source, ALL_CUES), strict=True))

    @lazy
    def types(self) -> set[str]:
        """The types of all that the page mentions, by schema.org and OpenGraph."""
        return self.graph_types | schema_types(self.source, self.places["@type"])

    @lazy
    def graph_types(self) -> set[str]:
        """The types that it gives itself by OpenGraph."""
        return graph_types(self.source, self.places["og:type"])

    @lazy
    def own_types(self) -> set[str]:
        """The types of what describes the page itself, by schema.org."""
        return page_types(self.source, self.places[CUE])

    @lazy
    def has_article_type(self) -> bool:
        return any(kind.lower().endswith(ARTICLE_TYPES) for kind in self.own_types)

    @lazy
    def declare_no_article(self) -> bool:
        """Whether the page declares a type, and no article in JSON-LD."""
        declared = self.own_types or self.graph_types or self.mention(SHOP_TYPES | FORUM_TYPES)
        return bool(declared) and not self.has_article_type

    def mention(self, types: frozenset[str]) -> bool:
        return not self.types.isdisjoint(types)


# --- nodes of JSON-LD -----------------------------------------------------------------------------

MAX_NODES: Final = 20_000  # objects and lists in all scripts
MAX_CANDIDATES: Final = 100  # nodes of one kind
MAX_STEPS: Final = 2_000  # values that are visited for the texts of one key
MAX_LIST: Final = 200
MAX_DEPTH: Final = 4  # name of an author in an author in an author; real pages need 2

Node = Mapping[str, Any]
NESTED: Final = (dict, list)  # a union, as in `dict | list`, would be created at each use

# The kinds of nodes by the ending of their type; of several types the first row decides.
ARTICLE: Final = "article"
WEB_PAGE: Final = "web page"
WEB_SITE: Final = "web site"
OTHER: Final = "other"
KINDS: Final[tuple[tuple[str, str], ...]] = (
    ("CollectionPage", OTHER),
    ("Article", ARTICLE),
    ("Posting", ARTICLE),
    ("Report", ARTICLE),
    ("Review", ARTICLE),
    ("Recipe", ARTICLE),
    ("HowTo", ARTICLE),
    ("VideoObject", OTHER),
    ("Page", WEB_PAGE),
    ("CreativeWork", WEB_PAGE),
    ("WebSite", WEB_SITE),
    ("", OTHER),
)
_AFTER_PATH: Final = re.compile(r"[?#]")
_BEFORE_HOST: Final = re.compile(r"^https?://(www\.)?")


class PageIdentity(NamedTuple):
    """URLs (see `comparable_url`) and folded titles by which a page's own article is recognized."""

    urls: frozenset[str] = frozenset()
    titles: frozenset[str] = frozenset()


class Graph:
    """All nodes in the scripts of one page."""

    def __init__(self, sources: Iterable[str]) -> None:
        """Parse *sources*, the texts of the scripts."""
        self._by_kind: dict[str, list[Node]] = {}
        self._scripts: list[list[Any]] = []
        characters = 0
        for source in sources:
            characters += len(source)
            if characters > MAX_ALL_SCRIPTS:
                break
            self._scripts.append(parse_script(source))
        for node in _nodes(self._scripts, MAX_NODES, of_page=True):
            self._by_kind.setdefault(kind_of(node), []).append(node)

    @lazy
    def _by_id(self) -> dict[str, Node]:
        """All nodes that others may refer to; on most pages none does."""
        found: dict[str, Node] = {}
        for node in _nodes(self._scripts, MAX_NODES, of_page=False):
            identifier = node.get("@id")
            if isinstance(identifier, str):
                known = found.get(identifier)
                if len(node) > (1 if known is None else len(known)):  # an `@id` alone refers
                    found[identifier] = node
        return found

    def nodes(self, kind: str) -> Sequence[Node]:
        """The nodes of *kind* that describe the page, up to a bound."""
        return self._by_kind.get(kind, [])[:MAX_CANDIDATES]

    def best_node(self, kind: str, identity: Callable[[], PageIdentity]) -> Node | None:
        """The node of *kind* that most likely describes the page.

        Of several it is told by the *identity* of the page.
        """
        nodes = self.nodes(kind)
        if len(nodes) <= 1:
            return next(iter(nodes), None)
        page = identity()
        return min(nodes, key=lambda node: self._mismatch(node, page))

    def _mismatch(self, node: Node, page: PageIdentity) -> tuple[bool, bool, bool]:
        """A sort key: the least belongs to the node that most likely describes the *page*."""
        urls = {url for key in ("url", "mainEntityOfPage", "@id") for url in _urls(node, key)}
        titles = {folded(text) for text in self.texts(node, ("headline", "name"))}
        return (
            urls.isdisjoint(page.urls),
            titles.isdisjoint(page.titles),
            "datePublished" not in node,
        )

    def texts(self, node: Node, keys: Sequence[str]) -> Iterator[str]:
        """The texts of *node* under *keys*; a nested node is represented as in `TEXT_KEYS`."""
        for key in keys:
            yield from self._texts(node.get(key), TEXT_KEYS.get(key, NAME_KEYS))

    def _texts(self, value: object, keys: Sequence[str]) -> Iterator[str]:
        """The texts in *value*, in order; a node is represented by the first of *keys* it has."""
        stack = [(value, 0)]
        for _ in range(MAX_STEPS):
            if not stack:
                return
            value, depth = stack.pop()
            if isinstance(value, str):
                yield value
            elif isinstance(value, int | float) and not isinstance(value, bool):
                yield str(value)
            elif isinstance(value, list) and depth < MAX_DEPTH:
                stack.extend((each, depth + 1) for each in reversed(value[:MAX_LIST]))
            elif isinstance(value, dict) and depth < MAX_DEPTH:
                node = self.resolved(value)
                inner = next((node[key] for key in keys if node.get(key)), None)
                stack.append((inner, depth + 1))

    def resolved(self, node: Node) -> Node:
        """The node that *node* refers to, or *node* itself if it is no reference."""
        identifier = node.get("@id")
        return self._by_id.get(identifier, node) if isinstance(identifier, str) else node


# Keys whose value represents a nested node, by the key of the nested node; else `NAME_KEYS`.
NAME_KEYS: Final = ("name", "@value", "legalName", "alternateName")
TEXT_KEYS: Final[Mapping[str, Sequence[str]]] = {
    "image": ("url", "contentUrl", "@id", "@list", "@value"),
    "thumbnailUrl": ("url", "@id", "@value"),
    "primaryImageOfPage": ("url", "contentUrl", "@value"),
    "inLanguage": ("alternateName", "@value", "@id", "name"),
    "url": ("@id", "@value"),
    "mainEntityOfPage": ("@id", "url"),
}


def kind_of(node: Node) -> str:
    """The kind of *node* by its `@type`; the first matching row of `KINDS` decides."""
    rows = [_row_of(each) for each in listed(node.get("@type")) if isinstance(each, str)]
    return KINDS[min(rows, default=-1)][1]


@remembered(2**8)  # pages have the same few types
def _row_of(name: str) -> int:
    return next(row for row, (ending, _) in enumerate(KINDS) if name.endswith(ending))


def _urls(node: Node, key: str) -> Iterator[str]:
    value = node.get(key)
    if isinstance(value, dict):
        value = value.get("@id") or value.get("url")
    if isinstance(value, str):
        yield comparable_url(value)


def comparable_url(url: str) -> str:
    """*url* without the parts in which two mentions of the same page often differ."""
    bare = _AFTER_PATH.split(url.strip(), maxsplit=1)[0]
    return _BEFORE_HOST.sub("", bare).rstrip("/").lower()
