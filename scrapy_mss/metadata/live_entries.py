"""The entries of a live blog: each with its time, its headline and its text.

JSON-LD has them under `liveBlogUpdate`. On a page they are elements of one tag and class, each with
a time; so are the lines of its summary, but more of the text is in the entries. Everything is
text: markup is dropped, and so is what was not kept of the page. What a page can name is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

import numpy as np

from scrapy_mss.markup.rendering import readable
from scrapy_mss.markup.tokens import Bools
from scrapy_mss.metadata import dates
from scrapy_mss.metadata.parsed_page import ParsedPage
from scrapy_mss.pages.declarations import ARTICLE, Node, listed
from scrapy_mss.pages.text import clean
from scrapy_mss.pages.tree import Element

UPDATES: Final = "liveBlogUpdate"
MAX_ENTRIES: Final = 200  # the first; a day of a busy one has a hundred
MAX_ENTRY: Final = 20_000  # characters
MAX_PARAGRAPHS: Final = 100  # of an entry
MAX_TIME: Final = 60  # characters of a time that is no date: `10:42`, `2 hours ago`
LEVELS: Final = 8  # from a time to the element of its entry
MAX_INSIDE: Final = 60  # elements of an entry among which its headline is
NEARLY_ALL: Final = 0.9  # of the kept words in any elements alike: days, and the entries in them
HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_BREAKS: Final = re.compile(r"\n|</?(?:p|br|div|li|ul|ol|blockquote|h[1-6])\b[^<>]{0,500}>")


class LiveEntry(NamedTuple):
    """An entry of a live blog; what is unknown is empty.

    A time is ISO 8601 as precise as on the page, or as the page shows it.
    """

    time: str
    headline: str
    text: str


def live_entries(page: ParsedPage, kept: Bools) -> list[LiveEntry]:
    """The entries of *page*, in its order, whose article are the *kept* ones of its tokens."""
    declared = list(_declared(page))
    if any(entry.text for entry in declared):
        return declared
    return list(_shown(page, kept)) or declared


# --- JSON-LD --------------------------------------------------------------------------------------


def _declared(page: ParsedPage) -> Iterator[LiveEntry]:
    nodes = (node for node in page.graph.nodes(ARTICLE) if UPDATES in node)
    blog: Node = next(nodes, {})
    for value in listed(blog.get(UPDATES), MAX_ENTRIES):
        if isinstance(value, dict):
            node = page.graph.resolved(value)
            moments = page.graph.texts(node, ("datePublished", "dateCreated", "dateModified"))
            headline = next(page.graph.texts(node, ("headline", "name")), "")
            body = next(page.graph.texts(node, ("articleBody", "text", "description")), "")
            entry = LiveEntry(_time(page, next(moments, "")), clean(headline), _paragraphs(body))
            if entry.headline or entry.text:
                yield entry


def _paragraphs(body: str) -> str:
    """The text of a *body*, which may be HTML, with blank lines between its paragraphs."""
    lines = map(clean, _BREAKS.split(body[:MAX_ENTRY]))
    return "\n\n".join(islice(filter(None, lines), MAX_PARAGRAPHS))


def _time(page: ParsedPage, text: str) -> str:
    text = clean(text)
    return dates.parse(text, page.language) or text[:MAX_TIME]


# --- markup ---------------------------------------------------------------------------------------


class _Container(NamedTuple):
    """An element with a *time*: the tokens from *first* to before *last*."""

    element: Element
    time: Element
    first: int
    last: int


def _shown(page: ParsedPage, kept: Bools) -> Iterator[LiveEntry]:
    tokens = page.tree.tokens
    for entry in _entries(page, kept & tokens.is_word)[:MAX_ENTRIES]:
        elements = islice(entry.element.iterdescendants(), MAX_INSIDE)
        heading = next((each for each in elements if each.tag in HEADINGS), None)
        inside = kept[entry.first : entry.last].copy()
        for part in filter(None, (entry.time, heading)):
            first, last = page.tree.tokens_in(part)
            inside[first - entry.first : last - entry.first] = False
        # Alone, since to number its items all of a page are counted.
        text = readable(tokens.part(entry.first, entry.last), inside)[:MAX_ENTRY]
        shown = entry.time.get("datetime") or entry.time.text
        headline = heading.text if heading is not None else ""
        yield LiveEntry(_time(page, shown), headline, text)


def _entries(page: ParsedPage, is_kept_word: Bools) -> list[_Container]:
    """The elements of one tag and class that hold nearly all words, and are as many as possible."""
    before = np.concatenate(([0], is_kept_word.cumsum()))
    groups = [
        [each for each in group if before[each.last] > before[each.first]] for group in _alike(page)
    ]
    words = [sum(int(before[e.last] - before[e.first]) for e in group) for group in groups]
    several = [(len(g), n, g) for g, n in zip(groups, words, strict=True) if len(g) > 1]
    least = NEARLY_ALL * max((n for _, n, _ in several), default=0)
    found = (row for row in several if row[1] >= least)
    return max(found, key=lambda row: row[:2], default=(0, 0, []))[2]


def _alike(page: ParsedPage) -> Iterator[list[_Container]]:
    """Elements with a time in them, those of each tag and class, none inside of another."""
    groups: dict[tuple[str, str], dict[int, _Container]] = {}
    for time in page.tree.called("time", 2 * MAX_ENTRIES):
        for element in islice(time.iterancestors(), LEVELS):
            if element.row >= 0:
                group = groups.setdefault((element.tag, element.get("class") or ""), {})
                if element.row not in group:
                    bounds = page.tree.tokens_in(element)
                    group[element.row] = _Container(element, time, *bounds)
    for group in groups.values():
        outer: list[_Container] = []
        for each in sorted(group.values(), key=lambda each: each.first):
            if not outer or each.first >= outer[-1].last:
                outer.append(each)
        yield outer
