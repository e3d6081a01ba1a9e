"""Selectors: CSS, XPath, or a piece of a class or an id, checked when they are made.

A selector is a value of two strings; what it compiles to is kept in a bounded cache beside it, so
that thousands of rules cost no memory until their site is crawled. Checking is compiling it and
asking a probe page: two boxes with a box in each, of a name that no page has, without a class
or an id. What selects all the text of that page would select all the text of every page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import TypeAlias

from lxml import etree
from parsel.csstranslator import HTMLTranslator

from scrapy_mss.wrappers.errors import is_text, refuse, shown

Element: TypeAlias = etree._Element  # noqa: SLF001 - lxml gives the class of its elements no other name
Evaluate: TypeAlias = Callable[[Element], object]

# The prefixes that Scrapy's own selectors know.
NAMESPACES = {
    "re": "http://exslt.org/regular-expressions",
    "set": "http://exslt.org/sets",
}
CACHED = 1024  # compiled selectors, 2 kB each: those of the hundred sites crawled last

_UNNAMED = "x-unnamed"
_PROBE_TEXT = "-"
_BOX = f"<{_UNNAMED}>{_PROBE_TEXT}<{_UNNAMED}>{_PROBE_TEXT}</{_UNNAMED}></{_UNNAMED}>"
_PROBE = etree.fromstring(f"<html><head/><body>{_BOX}{_BOX}</body></html>")
_N_UNNAMED = 4


class Reach(Enum):
    """How much of a page a selector selects, whatever the page."""

    SOME = "some of it, if anything"
    BODY = "its body element"
    ALL = "everything"


@dataclass(frozen=True, slots=True)
class Selector:
    """A selector of one of `KINDS`: ``css``, ``xpath`` or ``class_or_id``."""

    kind: str
    text: str

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise refuse(f"one of {', '.join(KINDS)}", shown(self.kind))
        if not is_text(self.text):
            raise refuse(KINDS[self.kind].expected, shown(self.text))
        try:
            _reach(self.kind, self.text)
        except FAILURES as error:
            got = f"{self.text!r}: {' '.join(str(error).split())}"
            raise refuse(KINDS[self.kind].expected, got) from error

    def select(self, root: Element) -> object:
        """What it selects in the page of *root*: a list of nodes or strings, or a single value.

        An expression may still fail on a page; see `FAILURES`.
        """
        return _compiled(self.kind, self.text)(root)

    @property
    def reach(self) -> Reach:
        """How much of the text of any page it selects."""
        return _reach(self.kind, self.text)

    @property
    def selects_text(self) -> bool:
        """Whether its ending, ``/text()``, ``@href`` and the like, selects no elements."""
        ending = KINDS[self.kind].text_ending
        return ending is not None and ending.search(self.text) is not None


@dataclass(frozen=True, slots=True)
class Kind:
    """How a kind of selector is compiled, and what its text should be."""

    compile: Callable[[str], Evaluate]
    check: Callable[[str], Evaluate]  # the same, with a closer look
    expected: str
    text_ending: re.Pattern[str] | None = None


def _css(text: str) -> Evaluate:
    return _xpath(HTMLTranslator().css_to_xpath(text))


def _xpath(text: str) -> Evaluate:
    return etree.XPath(text, namespaces=NAMESPACES, smart_strings=False)


# What libxml2 finds out only when a page brings evaluation that far, or never in some versions.
_LITERAL = re.compile(r"""("[^"]*"|'[^']*')""")
_NEVER_RIGHT = (
    (re.compile(r"^\s*\||\|\s*(?:\||$)"), "an alternative is empty"),
    (re.compile(r"\$"), "there are no variables"),
    (
        re.compile(rf"(?<![\w.:-])(?!(?:{'|'.join(NAMESPACES)}):)[A-Za-z_][\w.-]*:[A-Za-z_*]"),
        f"there are no prefixes but {', '.join(NAMESPACES)}",
    ),
)
_CALL = re.compile(r"(?<![\w.:-])([A-Za-z_][\w.-]*(?::[A-Za-z_][\w.-]*)?)\s*\(")
_OPERATORS = frozenset({"and", "or", "div", "mod"})


def _checked_xpath(text: str) -> Evaluate:
    bare = _LITERAL.sub("''", text)
    for pattern, fault in _NEVER_RIGHT:
        if pattern.search(bare):
            raise ValueError(fault)
    for name in sorted(set(_CALL.findall(bare)) - _OPERATORS):
        try:
            _xpath(f"{name}()")(_PROBE)
        except etree.XPathEvalError as error:
            if "Unregistered function" in str(error):
                raise ValueError(f"there is no function {name}") from error
        except FAILURES:
            continue  # it is there, and asks for arguments
    return _xpath(text)


# Of an expression without alternatives, one of which may end otherwise.
_TEXT_ENDING = re.compile(r"^[^|]*(?:\btext\(\)|@[\w:.-]+)\s*$")


def _class_or_id(text: str) -> Evaluate:
    return lambda root: having_class_or_id(root, [text])


KINDS = {
    "css": Kind(_css, _css, "a CSS selector", re.compile(r"::(?:text|attr)\b")),
    "xpath": Kind(_xpath, _checked_xpath, "an XPath expression", _TEXT_ENDING),
    "class_or_id": Kind(_class_or_id, _class_or_id, "a piece of a class or an id"),
}

# What compiling and evaluating raise: XPath's own errors; cssselect's, which are these two of
# Python's; and what a function of an expression makes of its arguments (a bad pattern in re:test).
FAILURES = (etree.LxmlError, SyntaxError, RuntimeError, ValueError, TypeError, re.error)


@lru_cache(CACHED)
def _compiled(kind: str, text: str) -> Evaluate:
    return KINDS[kind].compile(text)


@lru_cache(CACHED)
def _reach(kind: str, text: str) -> Reach:
    """The answer of the probe page; raises one of `FAILURES`."""
    found = KINDS[kind].check(text)(_PROBE)
    if not isinstance(found, list):
        return Reach.SOME
    elements = [item for item in found if isinstance(item, Element)]
    if [element.tag for element in elements] == ["body"]:
        return Reach.BODY
    covered = {inner for element in elements for inner in element.iter(_UNNAMED)}
    everything = _N_UNNAMED in (len(covered), found.count(_PROBE_TEXT))
    return Reach.ALL if everything else Reach.SOME


def having_class_or_id(root: Element, pieces: Iterable[str]) -> list[Element]:
    """The elements of whose class or id any of *pieces* is a part, in document order."""
    has_piece = re.compile("|".join(map(re.escape, pieces))).search
    return [
        element
        for element in root.iter("*")
        if has_piece(element.get("class", "")) or has_piece(element.get("id", ""))
    ]


def css(text: str) -> Selector:
    """A CSS selector, with Scrapy's ``::text`` and ``::attr(name)``."""
    return Selector("css", text)


def xpath(text: str) -> Selector:
    """An XPath expression, with Scrapy's ``has-class`` and ``re:test``."""
    return Selector("xpath", text)


def class_or_id(piece: str) -> Selector:
    """What has *piece* somewhere in its class or in its id."""
    return Selector("class_or_id", piece)
