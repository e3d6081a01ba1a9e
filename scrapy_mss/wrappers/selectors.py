"""Selectors: CSS or XPath, validated when they are made.

A selector is a value of two strings; compiled selectors are in a bounded cache, so that thousands
of wrappers take little memory. A selector is validated by compiling it and evaluating it on a probe
page: two boxes with a box in each, of a tag that no page has, without class or id. A selector that
selects all the text of that page selects all the text of any page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from lxml import etree
from parsel.csstranslator import HTMLTranslator

from scrapy_mss.wrappers.errors import rejected, shown

if TYPE_CHECKING:
    from cssselect.parser import Relation, Token
    from cssselect.parser import Selector as CssSelector
    from cssselect.xpath import XPathExpr

Element: TypeAlias = etree._Element  # noqa: SLF001 - lxml has no public name for it
Evaluate: TypeAlias = Callable[[Element], object]

# The prefixes of Scrapy's own selectors.
NAMESPACES = {"re": "http://exslt.org/regular-expressions", "set": "http://exslt.org/sets"}
CACHED = 1024  # compiled selectors of 2 kB each: those of the last hundred sites or so

_BOX_TAG = "x-unnamed"
_PROBE_TEXT = "-"
_BOX = f"<{_BOX_TAG}>{_PROBE_TEXT}<{_BOX_TAG}>{_PROBE_TEXT}</{_BOX_TAG}></{_BOX_TAG}>"
_PROBE = etree.fromstring(f"<html><head/><body>{_BOX}{_BOX}</body></html>")
_N_BOXES = 4


class Coverage(Enum):
    """How much of a page a selector selects, whatever the page."""

    SOME = "a part of it, or nothing"
    BODY = "its body element"
    ALL = "everything"


@dataclass(frozen=True, slots=True)
class Selector:
    """A selector of one of `KINDS`: ``css`` or ``xpath``."""

    kind: str
    text: str

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise rejected(f"one of {', '.join(KINDS)}", shown(self.kind))
        text: object = self.text  # whatever its annotation
        if not (isinstance(text, str) and text.strip()):
            raise rejected(KINDS[self.kind].expected, shown(text))
        try:
            _coverage(self.kind, self.text)
        except FAILURES as error:
            got = f"{self.text!r}: {' '.join(str(error).split())}"
            raise rejected(KINDS[self.kind].expected, got) from error

    def select(self, root: Element) -> list[object]:
        """What it selects in the tree of *root*: nodes and strings, or a single value.

        A valid expression may still fail on a page, with one of `FAILURES`.
        """
        found = _compiled(self.kind, self.text)(root)
        return found if isinstance(found, list) else [found]

    @property
    def coverage(self) -> Coverage:
        """How much of any page it selects."""
        return _coverage(self.kind, self.text)

    @property
    def selects_text(self) -> bool:
        """Whether it ends in ``/text()``, ``@href``, ``::text`` or the like."""
        return KINDS[self.kind].text_ending.search(self.text) is not None


@dataclass(frozen=True, slots=True)
class Kind:
    """How a kind of selector is compiled, and what its text should be."""

    compile: Callable[[str], Evaluate]
    expected: str
    text_ending: re.Pattern[str]


DESCENDANT: Final = "descendant::"
FOLLOWING: Final = "following-sibling::"
_INSIDE: Final = {" ": DESCENDANT, ">": "", "+": f"{FOLLOWING}*[1]/self::", "~": FOLLOWING}
_OF_SCOPE: Final = "1"  # the condition of `:scope`, which is of no other element
_ANCESTOR: Final = "ancestor::"


class Translator(HTMLTranslator):
    """CSS -> XPath, with siblings that cost no more than a walk along them, nesting little more.

    As it is usual, `a + b` looks at all that follows each `a`, and `a ~ b` collects it: a page of
    1 MB, with twenty thousand siblings, takes minutes. Here `b` looks one step back; or the search
    goes on from the first `a` in each element, since what follows any other one follows that, too:

        a + b    b[preceding-sibling::*[1]/self::a]
        a ~ b    */a[1]/following-sibling::b

    What is inside an `a` is also usually collected from each of them, and compared with all that
    was collected before. Here `b` looks at what is around it, which `labeller` keeps from being
    deep:

        a b      b[ancestor::a]
        a b c    c[ancestor::b[1][ancestor::a]]

    The closest `b` around a `c` is enough, because everything around another one is around that,
    too. To look at each would take a time that grows exponentially with the length of the selector.

    Whether an element is an `a` depends on itself, on elements before it and on those around it,
    and siblings have these in common: what is before `a` in a selector holds for `b` as well.
    So the condition of an element may be what is around it; its other conditions are then in its
    step (`_with_ancestor`).
    """

    def xpath_descendant_combinator(self, left: XPathExpr, right: XPathExpr) -> XPathExpr:
        """What *right* selects inside of what *left* does."""
        if str(right) == "*":  # parsel makes of `a *::text` what is in the `a` itself, too
            return super().xpath_descendant_combinator(left, right)
        if left.path or left.condition == _OF_SCOPE:
            return left.join(f"/{DESCENDANT}", right)
        return _with_ancestor(right, f"{_ANCESTOR}{_closest(left)}")

    def xpath_direct_adjacent_combinator(self, left: XPathExpr, right: XPathExpr) -> XPathExpr:
        """What *right* selects right after what *left* does."""
        if left.condition == _OF_SCOPE:
            return super().xpath_direct_adjacent_combinator(left, right)
        around = left.condition if left.condition.startswith(_ANCESTOR) else ""
        before = left.element if around else _step(left)
        if left.path.endswith(FOLLOWING):  # these, and so not the first itself
            left.path += f"*[1]/{FOLLOWING}"
        left.element, left.condition = right.element, right.condition
        left.add_condition(f"preceding-sibling::*[1]/self::{before}")
        return _with_ancestor(left, around) if around else left

    def xpath_indirect_adjacent_combinator(self, left: XPathExpr, right: XPathExpr) -> XPathExpr:
        """What *right* selects anywhere after what *left* does, in the same element."""
        if left.condition == _OF_SCOPE:
            return super().xpath_indirect_adjacent_combinator(left, right)
        if left.path.endswith(DESCENDANT):  # the first of each element, and not of all
            left.path += f"{_step(left)}/../"
        left.path = f"{left.path or '*/'}{_step(left)}[1]/{FOLLOWING}"
        left.element, left.condition = right.element, right.condition
        return left

    def xpath_relation(self, relation: Relation) -> XPathExpr:
        """What has something inside or behind it: all of that is said of the element itself."""
        selected = self.xpath(relation.selector)
        conditions = [
            f"{_INSIDE[str(combinator.value)]}{self.xpath(inside.parsed_tree)}[1]"
            for combinator, inside in _arguments(relation)
        ]
        selected.element = f"{_step(selected)}[{' or '.join(conditions)}]"
        selected.condition = ""
        return selected


def _arguments(relation: Relation) -> Iterable[tuple[Token, CssSelector]]:
    """What ``:has()`` asks for; before cssselect 1.6 that is a single selector."""
    several: Iterable[tuple[Token, CssSelector]] | None = getattr(relation, "arguments", None)
    return [(relation.combinator, relation.subselector)] if several is None else several


def _step(selected: XPathExpr) -> str:
    """What *selected* says of the element that it selects, without those around it."""
    return f"{selected.element}[{selected.condition}]" if selected.condition else selected.element


def _closest(selected: XPathExpr) -> str:
    """The step to the closest of what *selected* says, if what is around it is all that is left."""
    if selected.condition.startswith(_ANCESTOR):
        return f"{selected.element}[1][{selected.condition}]"
    return _step(selected)


def _with_ancestor(selected: XPathExpr, around: str) -> XPathExpr:
    """*selected* where it is inside of what *around* says, which becomes its only condition."""
    selected.element, selected.condition = _step(selected), around
    return selected


def _css(text: str) -> Evaluate:
    return _xpath(Translator().css_to_xpath(text))


def _xpath(text: str) -> Evaluate:
    return etree.XPath(text, namespaces=NAMESPACES, smart_strings=False)


# Errors that libxml2 finds only when evaluation gets that far on a page, some versions never.
_LITERAL = re.compile(r"""("[^"]*"|'[^']*')""")
_ERRORS = (
    (re.compile(r"^\s*\||\|\s*(?:\||$)"), "an alternative is empty"),
    (re.compile(r"\$"), "there are no variables"),
    (
        re.compile(rf"(?<![\w.:-])(?!(?:{'|'.join(NAMESPACES)}):)[A-Za-z_][\w.-]*:[A-Za-z_*]"),
        f"there are no prefixes but {', '.join(NAMESPACES)}",
    ),
)
_CALL = re.compile(r"(?<![\w.:-])([A-Za-z_][\w.-]*(?::[A-Za-z_][\w.-]*)?)\s*\(")
_OPERATORS = frozenset({"and", "or", "div", "mod"})


def _validated_xpath(text: str) -> Evaluate:
    bare = _LITERAL.sub("''", text)
    for pattern, message in _ERRORS:
        if pattern.search(bare):
            raise ValueError(message)
    for name in sorted(set(_CALL.findall(bare)) - _OPERATORS):
        try:
            _xpath(f"{name}()")(_PROBE)
        except etree.XPathEvalError as error:
            if "Unregistered function" in str(error):
                raise ValueError(f"there is no function {name}") from error
        except FAILURES:
            continue  # it exists, and needs arguments
    return _xpath(text)


# Only of an expression without alternatives, since another one may select elements.
_TEXT_ENDING = re.compile(r"^[^|]*(?:\btext\(\)|@[\w:.-]+)\s*$")


KINDS = {
    "css": Kind(_css, "a CSS selector", re.compile(r"::(?:text|attr)\b")),
    "xpath": Kind(_validated_xpath, "an XPath expression", _TEXT_ENDING),
}

# What compiling and evaluating raise: the errors of XPath; those of cssselect, which are subclasses
# of SyntaxError and RuntimeError; those of functions on their arguments, as a pattern of re:test.
FAILURES = (etree.LxmlError, SyntaxError, RuntimeError, ValueError, TypeError, re.error)


@lru_cache(CACHED)
def _compiled(kind: str, text: str) -> Evaluate:
    return KINDS[kind].compile(text)


@lru_cache(CACHED)
def _coverage(kind: str, text: str) -> Coverage:
    """The coverage of the probe page; raises one of `FAILURES`."""
    found = _compiled(kind, text)(_PROBE)
    if not isinstance(found, list):
        return Coverage.SOME
    elements = [item for item in found if isinstance(item, Element)]
    if [element.tag for element in elements] == ["body"]:
        return Coverage.BODY
    covered = {inner for element in elements for inner in element.iter(_BOX_TAG)}
    everything = _N_BOXES in (len(covered), found.count(_PROBE_TEXT))
    return Coverage.ALL if everything else Coverage.SOME


def elements_among(found: Iterable[object]) -> list[Element]:
    """The elements in what a selector has *found*, without comments and the like."""
    return [each for each in found if isinstance(each, Element) and isinstance(each.tag, str)]


def css(text: str) -> Selector:
    """A CSS selector, with Scrapy's ``::text`` and ``::attr(name)``."""
    return Selector("css", text)


def xpath(text: str) -> Selector:
    """An XPath expression, with Scrapy's ``has-class`` and ``re:test``."""
    return Selector("xpath", text)
