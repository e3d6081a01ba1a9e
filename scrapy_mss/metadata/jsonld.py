"""JSON-LD: the scripts of a page, and the nodes in them that describe the page.

Strategy: each script is read on its own; one that cannot be read is passed over. All objects in
it are visited once, breadth first and without recursion, up to a bound: cyclic references cost
nothing since references are looked up and not followed. An object speaks of the page when it is
reached through `DESCENT` alone; an article under any other key (`itemListElement`, `hasPart`,
`mentions`) is somebody else's.

Of several articles that remain, the one is taken that says it is this page: by its type, its
address, its headline. The order in the page decides the rest.
"""

from __future__ import annotations

import html
import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from scrapy_mss.metadata.text import folded

# The longest of 368 scripts on news sites had 34,406 characters.
MAX_SCRIPT: Final = 500_000  # characters of one script
MAX_SCRIPTS: Final = 1_000_000  # characters of all scripts
MAX_NODES: Final = 20_000  # objects and lists, of all scripts
MAX_CANDIDATES: Final = 100  # objects of one kind
MAX_STEPS: Final = 2_000  # values that are looked at for one text
MAX_LIST: Final = 200
MAX_DEPTH: Final = 4  # name of an author in an author in an author; real pages need 2

Node = Mapping[str, Any]

# Keys under which an object still speaks of the page.
DESCENT: Final = frozenset({"@graph", "mainEntity", "mainEntityOfPage", "subjectOf", "article"})

# What an object may be, best first. A type is known by its last letters.
ARTICLE: Final = "article"
PAGE: Final = "page"
SITE: Final = "site"
KINDS: Final[tuple[tuple[str, str], ...]] = (
    ("CollectionPage", "other"),
    ("Article", ARTICLE),
    ("BlogPosting", ARTICLE),
    ("Posting", ARTICLE),
    ("Report", ARTICLE),
    ("Review", ARTICLE),
    ("Recipe", ARTICLE),
    ("HowTo", ARTICLE),
    ("VideoObject", "other"),
    ("WebPage", PAGE),
    ("Page", PAGE),
    ("CreativeWork", PAGE),
    ("WebSite", SITE),
)

# What XHTML asked for around a script, and how far from its ends it is looked for.
_OPENING: Final = re.compile(r"(?://|/\*)?\s{0,9}(?:<!\[CDATA\[|<!--)\s{0,9}(?:\*/)?")
_CLOSING: Final = re.compile(r"(?://|/\*)?\s{0,9}(?:\]\]>|-->)\s{0,9}(?:\*/)?$")
WRAPPER_LENGTH: Final = 40
# A string that is never closed goes to the end: looking for its end again and again would not.
_STRING_OR_COMMA: Final = re.compile(r'("(?:[^"\\]|\\.|\\\Z)*(?:"|\Z))|,(?=\s*[\]}])', re.DOTALL)
_BETWEEN: Final = re.compile(r"[\s;,]*")
_DECODER: Final = json.JSONDecoder(strict=False)  # a line break in a string is a common slip


def documents(source: str) -> list[Any]:
    """What the text of one script says: as many values as it holds, none where it is broken."""
    if len(source) > MAX_SCRIPT:
        return []
    source = _unwrapped(source.strip())
    if source.startswith(("{&quot;", "[{&quot;")):
        source = html.unescape(source)
    for text in (source, None):
        try:
            return list(_values(text if text is not None else _without_commas(source)))
        except (ValueError, RecursionError):  # broken, or nested thousands deep
            continue
    return []


def _unwrapped(source: str) -> str:
    opening = _OPENING.match(source)
    if not opening:
        return source
    body, end = source[opening.end() : -WRAPPER_LENGTH], source[-WRAPPER_LENGTH:]
    return body + _CLOSING.sub("", end) if body else _CLOSING.sub("", source[opening.end() :])


def _without_commas(source: str) -> str:
    """The source without commas before a closing bracket, strings left as they are."""
    return _STRING_OR_COMMA.sub(lambda match: match[1] or "", source)


def _values(source: str) -> Iterator[Any]:
    end = len(source)
    place = _end_of_gap(source, 0)
    while place < end:
        value, place = _DECODER.raw_decode(source, place)
        yield value
        place = _end_of_gap(source, place)


def _end_of_gap(source: str, place: int) -> int:
    match = _BETWEEN.match(source, place)
    return match.end() if match else place


class Hint(NamedTuple):
    """What is known of the page from elsewhere, to tell its article from others."""

    urls: frozenset[str]
    titles: frozenset[str]


class Graph:
    """All objects of a page's scripts."""

    def __init__(self, sources: Iterable[str]) -> None:
        """Read *sources*, the texts of the scripts."""
        self._by_id: dict[str, Node] = {}
        self._nodes: dict[str, list[Node]] = {}
        self._chosen: dict[str, Node | None] = {}
        self._left = MAX_NODES
        characters = 0
        for source in sources:
            characters += len(source)
            if characters > MAX_SCRIPTS:
                break
            self._visit(documents(source))

    def _visit(self, values: list[Any]) -> None:
        queue: deque[tuple[Any, bool]] = deque((value, True) for value in values)
        while queue and self._left > 0:
            self._left -= 1
            value, ours = queue.popleft()
            if isinstance(value, list):
                queue.extend((each, ours) for each in value if isinstance(each, dict | list))
            elif isinstance(value, dict):
                self._add(value, ours=ours)
                queue.extend(
                    (each, ours and key in DESCENT)
                    for key, each in value.items()
                    if isinstance(each, dict | list)
                )

    def _add(self, node: Node, *, ours: bool) -> None:
        name = node.get("@id")
        if isinstance(name, str) and len(node) > len(self._by_id.get(name, {"@id": ""})):
            self._by_id[name] = node
        if ours:
            self._nodes.setdefault(kind_of(node), []).append(node)

    def node(self, kind: str, hint: Hint) -> Node | None:
        """The object of *kind* that is likeliest the page's; a graph is of one page, as a hint."""
        if kind not in self._chosen:
            nodes = self._nodes.get(kind, [])[:MAX_CANDIDATES]
            self._chosen[kind] = min(nodes, key=lambda node: self._rank(node, hint), default=None)
        return self._chosen[kind]

    def _rank(self, node: Node, hint: Hint) -> tuple[bool, bool, bool]:
        """Compares as less what is likelier this page's."""
        addresses = {key for name in ("url", "mainEntityOfPage", "@id") for key in _ids(node, name)}
        titles = {folded(text) for text in self.texts(node, ("headline", "name"))}
        return (
            not addresses & hint.urls,
            not titles & hint.titles,
            "datePublished" not in node,
        )

    def texts(self, node: Node, keys: Sequence[str]) -> Iterator[str]:
        """The texts of *node* under *keys*; objects give their own text, by `TEXT_KEYS`."""
        for key in keys:
            yield from self._texts(node.get(key), TEXT_KEYS.get(key, NAME))

    def _texts(self, value: object, keys: Sequence[str]) -> Iterator[str]:
        """The texts in *value*, in order; an object stands for the first of *keys* that it has."""
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
                known = self._resolved(value)
                inner = next((known[key] for key in keys if known.get(key)), None)
                stack.append((inner, depth + 1))

    def _resolved(self, node: Node) -> Node:
        """The object that *node* refers to, *node* itself where it refers to none."""
        name = node.get("@id")
        return self._by_id.get(name, node) if isinstance(name, str) else node


# Which texts stand for an object, by the key it is under; `NAME` for all other keys.
NAME: Final = ("name", "@value", "legalName", "alternateName")
TEXT_KEYS: Final[Mapping[str, Sequence[str]]] = {
    "image": ("url", "contentUrl", "@id", "@list", "@value"),
    "thumbnailUrl": ("url", "@id", "@value"),
    "primaryImageOfPage": ("url", "contentUrl", "@value"),
    "inLanguage": ("alternateName", "@value", "@id", "name"),
    "url": ("@id", "@value"),
    "mainEntityOfPage": ("@id", "url"),
}


def kind_of(node: Node) -> str:
    """What *node* is by its `@type`, the first row of `KINDS` counts."""
    value = node.get("@type")
    types = value if isinstance(value, list) else [value]
    names = [each for each in types[:20] if isinstance(each, str)]
    for ending, kind in KINDS:
        if any(name.endswith(ending) for name in names):
            return kind
    return "other"


def _ids(node: Node, key: str) -> Iterator[str]:
    value = node.get(key)
    if isinstance(value, dict):
        value = value.get("@id") or value.get("url")
    if isinstance(value, str):
        yield comparable(value)


def comparable(url: str) -> str:
    """An address without what often differs between two mentions of a page."""
    bare = re.split(r"[?#]", url.strip(), maxsplit=1)[0]
    return re.sub(r"^https?://(www\.)?", "", bare).rstrip("/").lower()
