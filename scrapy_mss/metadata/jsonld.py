"""JSON-LD: the scripts of a page, and the nodes in them that describe the page.

Strategy: each script is parsed on its own, and one that cannot be parsed is skipped. All nodes in
it are visited once, breadth first, without recursion and up to a bound; references are looked up
and never followed, so that cycles cost nothing. A node describes the page if all keys on the way
to it are in `PAGE_KEYS`; an article under any other key (`itemListElement`, `hasPart`, `mentions`)
is another page's.

Of several articles that remain, the best match for the page wins: by its URL, its headline and the
presence of a date. Ties are decided by the order in the page.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from scrapy_mss.markup.linked_data import MAX_ALL_SCRIPTS, MAX_TYPES, PAGE_KEYS, parse_script
from scrapy_mss.metadata.text import folded

MAX_NODES: Final = 20_000  # objects and lists in all scripts
MAX_CANDIDATES: Final = 100  # nodes of one kind
MAX_STEPS: Final = 2_000  # values that are visited for the texts of one key
MAX_LIST: Final = 200
MAX_DEPTH: Final = 4  # name of an author in an author in an author; real pages need 2

Node = Mapping[str, Any]
NESTED: Final = (dict, list)  # a union, as in `dict | list`, would be made anew at each use

# The kinds of nodes by the ending of their type; of several types the first row decides.
ARTICLE: Final = "article"
WEB_PAGE: Final = "web page"
WEB_SITE: Final = "web site"
OTHER: Final = "other"
KINDS: Final[tuple[tuple[str, str], ...]] = (
    ("CollectionPage", OTHER),
    ("Article", ARTICLE),
    ("BlogPosting", ARTICLE),
    ("Posting", ARTICLE),
    ("Report", ARTICLE),
    ("Review", ARTICLE),
    ("Recipe", ARTICLE),
    ("HowTo", ARTICLE),
    ("VideoObject", OTHER),
    ("WebPage", WEB_PAGE),
    ("Page", WEB_PAGE),
    ("CreativeWork", WEB_PAGE),
    ("WebSite", WEB_SITE),
)
_ENDINGS: Final = tuple(ending for ending, _ in KINDS)  # most nodes have none of them
_AFTER_PATH: Final = re.compile(r"[?#]")
_BEFORE_HOST: Final = re.compile(r"^https?://(www\.)?")


class PageIdentity(NamedTuple):
    """URLs (see `comparable_url`) and folded titles by which a page's own article is recognized."""

    urls: frozenset[str] = frozenset()
    titles: frozenset[str] = frozenset()


class Graph:
    """All nodes in the scripts of one page, which *identity* describes."""

    def __init__(self, sources: Iterable[str], identity: PageIdentity) -> None:
        """Parse *sources*, the texts of the scripts."""
        self._identity = identity
        self._by_id: dict[str, Node] = {}
        self._by_kind: dict[str, list[Node]] = {}
        self._best: dict[str, Node | None] = {}
        self._nodes_left = MAX_NODES
        characters = 0
        for source in sources:
            characters += len(source)
            if characters > MAX_ALL_SCRIPTS:
                break
            self._visit(parse_script(source))

    def _visit(self, values: list[Any]) -> None:
        queue: deque[tuple[Any, bool]] = deque((value, True) for value in values)
        while queue and self._nodes_left > 0:
            self._nodes_left -= 1
            value, of_page = queue.popleft()
            if isinstance(value, list):
                queue.extend((each, of_page) for each in value if isinstance(each, NESTED))
            elif isinstance(value, dict):
                self._add(value, of_page=of_page)
                for key, each in value.items():
                    if isinstance(each, NESTED):
                        queue.append((each, of_page and key in PAGE_KEYS))

    def _add(self, node: Node, *, of_page: bool) -> None:
        identifier = node.get("@id")
        if isinstance(identifier, str):
            known = self._by_id.get(identifier)
            if len(node) > (1 if known is None else len(known)):  # an `@id` alone is a reference
                self._by_id[identifier] = node
        if of_page:
            self._by_kind.setdefault(kind_of(node), []).append(node)

    def nodes(self, kind: str) -> Sequence[Node]:
        """The nodes of *kind* that describe the page, up to a bound."""
        return self._by_kind.get(kind, [])[:MAX_CANDIDATES]

    def best_node(self, kind: str) -> Node | None:
        """The node of *kind* that most likely describes the page."""
        if kind not in self._best:
            self._best[kind] = min(self.nodes(kind), key=self._mismatch, default=None)
        return self._best[kind]

    def _mismatch(self, node: Node) -> tuple[bool, bool, bool]:
        """A sort key: the least belongs to the node that most likely describes the page."""
        urls = {url for key in ("url", "mainEntityOfPage", "@id") for url in _urls(node, key)}
        titles = {folded(text) for text in self.texts(node, ("headline", "name"))}
        return (
            urls.isdisjoint(self._identity.urls),
            titles.isdisjoint(self._identity.titles),
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
    value = node.get("@type")
    types = value if isinstance(value, list) else [value]
    names = [
        each for each in types[:MAX_TYPES] if isinstance(each, str) and each.endswith(_ENDINGS)
    ]
    if not names:
        return OTHER
    return next(kind for ending, kind in KINDS if any(name.endswith(ending) for name in names))


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
