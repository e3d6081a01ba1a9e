"""Selectors of an element, the shortest and most stable first: by names, and finally by position.

    compounds      the element by its own names: #id, .class, tag.class, tag[attribute]
    candidates     a compound alone, inside one of another element, or by position in it
    selectors_for  those that select the element first on its page, best on the other pages first

A generated name (`post-48213`, `css-1q2w3e`, `sc-bdVaJa`) selects nothing on the next page or after
the next release; stable names are those that `is_stable` accepts and that other pages have too.
Mistaking a name for a generated one costs little: the element or an ancestor has other names. Names
that CSS would have to escape are not used either.

A position (`:nth-of-type`) is used only if there is no name. All lists are short, however many
names an element has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, islice
from typing import Final

from scrapy_mss.wrappers.errors import WrapperError
from scrapy_mss.wrappers.rules import check_selector
from scrapy_mss.wrappers.selectors import FAILURES, Element, Selector, css, elements_among

# Characters: Portals join whole paths to a name, which nobody wants to read.
LONGEST_NAME: Final = 60

_PLAIN: Final = re.compile(r"-?[A-Za-z_][A-Za-z0-9_-]*")
_NUMBER: Final = re.compile(r"\d{4}")  # of a page, a day, an advertisement; no size of a column
# Tools that name by hashing: their prefix, and then something with a digit or a capital letter.
_HASHED: Final = re.compile(
    r"(?:css|sc|jsx|jss|emotion|svelte|ember|react|yui|ext-gen|gen|makeStyles|_?ngcontent|v|e)"
    r"[-_](?=[a-zA-Z]*[0-9A-Z])[A-Za-z0-9_-]{3,}"
)
# The last part of `Article_body__3xTz9`: short, and with a digit among its letters.
_SUFFIX: Final = re.compile(r"(?:__|--)(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9_-]{4,8}")
_HEXADECIMAL: Final = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}", re.IGNORECASE)

MAX_CLASSES: Final = 6  # of an element, that selectors are made of
MAX_COMPOUNDS: Final = 12
MAX_AROUND: Final = 4  # elements around one that are named in a selector of it
MAX_OF_AROUND: Final = 3  # compounds of each of them
MAX_STEPS: Final = 6  # of a path by places
MAX_CANDIDATES: Final = 80
CACHED: Final = 4096  # kinds of elements; a site has some hundred

# The cost of each kind of part: the sum ranks selectors with similar results. Many elements look
# alike: a second attribute makes that less likely.
ID, CLASS, MEANING, TAG, BARE = 1.0, 1.0, 1.0, 0.8, 1.5
LOOK, LOOKS_TWICE = 8.0, 5.0
INSIDE, PLACE = 0.5, 3.0
LETTER: Final = 0.01  # of a selector: of two alike, the shorter

SPEAKING_TAGS: Final = frozenset({"article", "main", "h1", "time", "aside", "figure", "address"})
# Attributes that say what an element is, and those of times before style sheets that say how it
# looks: the only names that pages of those times have.
MEANINGS: Final = ("itemprop", "property", "role", "rel", "name", "data-type", "data-component")
LOOKS: Final = ("width", "bgcolor", "valign", "align", "size", "color", "face", "cellpadding")
LONGEST_VALUE: Final = 40
# A name of these says which page it is, not where on it.
NO_NAMES_OF: Final = frozenset({"html", "body"})


def is_stable(name: str) -> bool:
    """Whether *name*, an id or a class word, can be one of the site's template."""
    return (
        len(name) <= LONGEST_NAME
        and _PLAIN.fullmatch(name) is not None
        and not _NUMBER.search(name)
        and not _HASHED.fullmatch(name)
        and not _SUFFIX.search(name)
        and not _HEXADECIMAL.search(name)
    )


@dataclass(frozen=True, slots=True, order=True)
class Candidate:
    """A selector and what it costs: the less, the likelier it is to hold."""

    cost: float
    text: str

    def __add__(self, other: str) -> Candidate:
        return Candidate(self.cost, self.text + other)


def _candidate(text: str, cost: float) -> Candidate:
    return Candidate(round(cost + LETTER * len(text), 3), text)


def compounds(element: Element) -> tuple[Candidate, ...]:
    """Selectors of *element* by its own names, cheapest first."""
    tag = str(element.tag)
    if not is_stable(tag):  # such as o:p, which CSS has no name for
        return ()
    attributes = ((name, _quotable(element.get(name))) for name in (*MEANINGS, *LOOKS))
    known = tuple((name, value) for name, value in attributes if value)
    return _compounds(tag, element.get("id") or "", element.get("class") or "", known)


@lru_cache(CACHED)
def _compounds(
    tag: str, identifier: str, classes: str, attributes: tuple[tuple[str, str], ...]
) -> tuple[Candidate, ...]:
    speaking = [_candidate(tag, TAG)] if tag in SPEAKING_TAGS else []
    names = () if tag in NO_NAMES_OF else _by_names(tag, identifier, classes, attributes)
    return tuple(sorted([*speaking, *islice(names, MAX_COMPOUNDS)]))


def _by_names(
    tag: str, identifier: str, classes: str, attributes: tuple[tuple[str, str], ...]
) -> Iterator[Candidate]:
    if is_stable(identifier):
        yield _candidate(f"#{identifier}", ID)
    for name, value in attributes:
        if name in MEANINGS:
            yield _candidate(f'{tag}[{name}="{value}"]', MEANING)
    words = list(dict.fromkeys(filter(is_stable, classes.split()[: 2 * MAX_CLASSES])))
    for word in words[:MAX_CLASSES]:
        yield _candidate(f".{word}", CLASS)
        yield _candidate(f"{tag}.{word}", CLASS)
    for one, other in combinations(words[:3], 2):
        yield _candidate(f".{one}.{other}", 2 * CLASS)
    looks = [] if words else [row for row in attributes if row[0] in LOOKS][:3]
    for name, value in looks:
        yield _candidate(f'{tag}[{name}="{value}"]', LOOK)
    for (one, first), (other, second) in combinations(looks, 2):
        yield _candidate(f'{tag}[{one}="{first}"][{other}="{second}"]', LOOKS_TWICE)


def _quotable(value: str | None) -> str:
    """*value* of an attribute, if a selector can have it between quotes and be read."""
    is_plain = value and len(value) <= LONGEST_VALUE and value.isascii() and value.isprintable()
    return value if value and is_plain and not {'"', "\\"} & {*value} else ""


def candidates(element: Element) -> list[Candidate]:
    """Selectors of *element*, cheapest first; those by place only where it has no name."""
    own = compounds(element)
    found = [*own, *islice(_inside(element, own), MAX_CANDIDATES)]
    if not own:
        found += _by_place(element)
    return sorted(set(found))[:MAX_CANDIDATES]


def _inside(element: Element, own: Sequence[Candidate]) -> Iterator[Candidate]:
    """The element inside one that has a name: by a name of its own, or by its tag."""
    tag = str(element.tag)
    if not is_stable(tag):
        return
    mine = [*own[:MAX_OF_AROUND], _candidate(tag, BARE)]
    parent = element.getparent()
    for around in islice(filter(compounds, element.iterancestors()), MAX_AROUND):
        joint = " > " if around is parent else " "
        for outer in compounds(around)[:MAX_OF_AROUND]:
            for inner in mine:
                text = f"{outer.text}{joint}{inner.text}"
                yield _candidate(text, outer.cost + inner.cost + INSIDE)


def _by_place(element: Element) -> Iterator[Candidate]:
    """The path to *element* from the nearest element with a name, or from ``body``."""
    steps: list[str] = []
    cost = 0.0
    node: Element | None = element
    while node is not None and len(steps) < MAX_STEPS:
        names = compounds(node)
        if names or node.tag == "body":
            outer = names[0] if names else _candidate("body", TAG)
            if steps:
                text = " > ".join([outer.text, *reversed(steps)])
                yield _candidate(text, outer.cost + cost)
            return
        tag = str(node.tag)
        if not is_stable(tag):
            return
        position = 1 + sum(1 for _ in node.itersiblings(tag, preceding=True))
        steps.append(f"{tag}:nth-of-type({position})")
        cost += PLACE
        node = node.getparent()


def selectors_for(element: Element, documents: Sequence[Element]) -> list[str]:
    """Selectors of *element*, best first, by the roots of the pages in *documents*.

    Each of them selects *element* first on its own page. Best are those that select something on
    most of the pages, then those that select one thing there, then the cheapest.
    """
    own = element.getroottree().getroot()
    others = [root for root in documents if root is not own]
    found = []
    for candidate in candidates(element):
        here = selected(candidate.text, own)
        if here[:1] != [element]:
            continue
        counts = [len(selected(candidate.text, root)) for root in others]
        hits, single = sum(map(bool, counts)), sum(count == 1 for count in (*counts, len(here)))
        found.append((-hits, -single, candidate))
    return [candidate.text for _, _, candidate in sorted(found)]


def selected(text: str, root: Element) -> list[Element]:
    """The elements that the CSS selector *text* selects in *root*; none if it is not valid."""
    try:
        return elements_of(css(text), root)
    except WrapperError:
        return []


def usable(text: str, role: str) -> Selector | None:
    """The CSS selector *text*, if a wrapper can have it in the field *role*."""
    try:
        selector = css(text)
        check_selector(role, selector)
    except WrapperError:
        return None
    return selector


def elements_of(selector: Selector, root: Element) -> list[Element]:
    """The elements that *selector* selects in the tree of *root*; none where it fails."""
    try:
        return elements_among(selector.select(root))
    except FAILURES:
        return []
