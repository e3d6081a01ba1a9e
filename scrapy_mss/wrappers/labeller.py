"""A wrapper and a page -> which tokens are the article, and the fields that the wrapper selects.

    parse, aligned with the tokens    dom_alignment.AlignedTree
    the alternatives of body, or      the first that selects words is the span,
    of around, in order               from its first node to the end of its last
    exclude                           the elements that it selects are labelled as outside
    trim                              the span begins and ends with a word or a symbol
    title, authors                    of each the first alternative that selects text
    published                         the first alternative that selects a date

The span of ``around`` is where the article is; `reading` asks the model which part of it is text.

No page raises an exception: if nothing is labelled, the reason is a value. A selector that fails on
the page is reported in `Labelling.failures`; if it is one of ``exclude``, nothing is labelled,
since the model would learn as article what was to be excluded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain

import numpy as np
from lxml import etree

from scrapy_mss.markup.rendering import readable
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import OPEN, Bools, Tokens
from scrapy_mss.metadata.dates import find as find_date
from scrapy_mss.wrappers.dom_alignment import AlignedTree
from scrapy_mss.wrappers.rules import Wrapper
from scrapy_mss.wrappers.selectors import FAILURES, Element, Selector, elements_among

FIELDS = ("exclude", "title", "authors", "published")  # those that a wrapper may leave out

# A tag costs as much as thirty words. Beyond that density nothing is labelled: such a page is not
# an article, and would not be learned from. Of 5,100 pages the densest had 35 characters for each.
DENSEST = 25  # characters of source for each start tag
MIN_TAGS = 2_000  # start tags that any page may have: their cost is negligible
# Selectors and the tree walk from an element up to the root, to order two and to free one. Of 3,100
# pages three have elements inside so many others, at most one to 560 characters.
DEEP = 64  # elements around an element
DENSEST_DEEP = 200  # characters of source for each that is as deep
MIN_DEEP = 500  # that any page may have
MAX_VALUES = 500  # nodes whose text is read for one field; nested ones contain one another's

MAX_ADDRESS = 4_096  # characters of a link

_STRING = etree.XPath("string()", smart_strings=False)
_N_DEEP = etree.XPath(f"count(descendant::*[ancestor::*[{DEEP}]])")


class Reason(Enum):
    """Why nothing is labelled; the value is the name in statistics."""

    EMPTY_PAGE = "empty_page"  # it has no element
    NO_MATCH = "no_match"  # the site was redesigned, or the page is of another kind
    NOT_READ = "not_read"  # by the model, which finds no article where `around` says that it is
    NO_WORDS = "no_words"  # what is selected, or what `exclude` leaves of it, is empty
    SELECTOR_FAILED = "selector_failed"
    TOO_MANY_TAGS = "too_many_tags"  # or too deep, for its length; no page of text has so many


@dataclass(frozen=True, slots=True, eq=False)
class Labelling:
    """The labels of a page's tokens, and the fields that the wrapper selects.

    ``inside`` is bool[n_tokens], the tokens of the article; ``text`` is their text. With ``around``
    they are those of the place where the article is, until the model has read it. ``excluded`` is
    bool[n_tokens], what `exclude` selects anywhere on the page. ``reason`` is
    None where anything is labelled. ``published`` is in ISO 8601; the other fields are as the page
    has them, with white space collapsed, and ``next_page`` is not made absolute. ``failures`` are
    the selectors that failed on the page, and ``hits`` those whose selection was taken, each with
    its field; what selects for ``published`` no date is not among them.
    """

    wrapper: Wrapper
    tokens: Tokens
    inside: Bools
    excluded: Bools
    reason: Reason | None = None
    text: str = ""
    title: str = ""
    authors: tuple[str, ...] = ()
    published: str = ""
    next_page: str = ""
    failures: tuple[str, ...] = ()
    hits: frozenset[tuple[str, str]] = frozenset()

    @property
    def field_hits(self) -> dict[str, bool]:
        """Of each field that the wrapper has selectors for, whether one of them hit.

        Empty where nothing is labelled: the page may be of another kind.
        """
        fields = FIELDS if self.reason is None else ()
        hit = {name for name, _ in self.hits}
        return {name: name in hit for name in fields if getattr(self.wrapper, name)}

    @property
    def missed(self) -> tuple[str, ...]:
        return tuple(name for name, hit in self.field_hits.items() if not hit)


def unlabelled(
    wrapper: Wrapper, tokens: Tokens, reason: Reason, failures: Iterable[str] = ()
) -> Labelling:
    """The result for a page of which nothing is labelled."""
    nothing = np.zeros(len(tokens), np.bool_)
    return Labelling(wrapper, tokens, nothing, nothing, reason, failures=tuple(failures))


def label(wrapper: Wrapper, page: str | Tokens) -> Labelling:
    """Label a *page* by *wrapper*, given its HTML or its tokens."""
    tokens = tokenize(page) if isinstance(page, str) else page
    tree = aligned(tokens)
    if isinstance(tree, Reason):
        return unlabelled(wrapper, tokens, tree)
    return label_tree(wrapper, tree)


def label_tree(wrapper: Wrapper, tree: AlignedTree) -> Labelling:
    """Label a page by *wrapper*, given its *tree* from `aligned`."""
    return _Labeller(wrapper, tree).label()


def aligned(tokens: Tokens) -> AlignedTree | Reason:
    """The tree of a page, or why it is rejected: these bounds limit the cost of labels."""
    if np.count_nonzero(tokens.kind == OPEN) > max(MIN_TAGS, len(tokens.source) // DENSEST):
        return Reason.TOO_MANY_TAGS
    tree = AlignedTree(tokens)
    if tree.root is None:
        return Reason.EMPTY_PAGE
    if _N_DEEP(tree.root) > max(MIN_DEEP, len(tokens.source) // DENSEST_DEEP):
        return Reason.TOO_MANY_TAGS
    return tree


class _Labeller:
    """Applies one wrapper to one page."""

    def __init__(self, wrapper: Wrapper, tree: AlignedTree) -> None:
        assert tree.root is not None
        self.wrapper = wrapper
        self.role = wrapper.place_role
        self.tree = tree
        self.root: Element = tree.root
        self.failures: list[str] = []
        self.hits: set[tuple[str, str]] = set()

    def label(self) -> Labelling:
        spans = (
            (body, span) for body in self.wrapper.place if (span := self._span(body)) is not None
        )
        first = next(spans, None)
        if first is None:
            return self._nothing(Reason.SELECTOR_FAILED if self.failures else Reason.NO_MATCH)
        excluded = self._excluded()
        if excluded is None:
            return self._nothing(Reason.SELECTOR_FAILED)
        inside = np.zeros_like(excluded)
        for body, (start, end) in chain([first], spans):
            inside[start:end] = ~excluded[start:end]
            if self._trim(inside):
                self.hits.add((self.role, body.text))
                return self._labelled(inside, excluded)
        return self._nothing(Reason.NO_WORDS)

    def _labelled(self, inside: Bools, excluded: Bools) -> Labelling:
        title, published, authors = map(self._field, ("title", "published", "authors"))
        return Labelling(
            self.wrapper,
            self.tree.tokens,
            inside,
            excluded,
            text=readable(self.tree.tokens, inside),
            title=title[0] if title else "",
            authors=authors,
            published=published[0] if published else "",
            next_page=self._next_page(),
            failures=tuple(self.failures),
            hits=frozenset(self.hits),
        )

    def _nothing(self, reason: Reason) -> Labelling:
        return unlabelled(self.wrapper, self.tree.tokens, reason, self.failures)

    def _trim(self, inside: Bools) -> bool:
        """Drop the tags at both ends of *inside*; return whether anything is left."""
        at = np.flatnonzero(inside & ~self.tree.tokens.is_tag)
        first, after = (int(at[0]), int(at[-1]) + 1) if len(at) else (0, 0)
        inside[:first] = inside[after:] = False
        return bool(len(at))

    def _span(self, body: Selector) -> tuple[int, int] | None:
        nodes = self._elements(body, self.role)
        starts = self.tree.starts(nodes).values()
        return (min(starts), self.tree.end(_outermost_last(nodes))) if starts else None

    def _excluded(self) -> Bools | None:
        """bool[n_tokens], what `exclude` selects; None if one of its selectors fails."""
        n_failures = len(self.failures)
        nodes: list[Element] = []
        for selector in self.wrapper.exclude:
            found = self._elements(selector, "exclude")
            nodes += found
            if found:
                self.hits.add(("exclude", selector.text))
        if len(self.failures) > n_failures:
            return None
        starts = self.tree.starts(nodes)
        excluded = np.zeros(len(self.tree.tokens), np.bool_)
        end = 0
        for node in self._outermost_first(starts):
            start = starts[node]
            if start >= end:  # else it is inside the one before
                end = max(start, self.tree.end(node))
                excluded[start:end] = True
        return excluded

    def _outermost_first(self, starts: Mapping[Element, int]) -> list[Element]:
        """The elements by their *starts*; of those that begin together, the outermost first.

        An element that the parser supplied begins with the first one inside that the page has.
        """
        elements: Iterable[Element] = starts
        if len(set(starts.values())) < len(starts):
            elements = (each for each in self.root.iter("*") if each in starts)
        return sorted(elements, key=starts.__getitem__)

    def _elements(self, selector: Selector, role: str) -> list[Element]:
        return elements_among(self._found(selector, role))

    def _found(self, selector: Selector, role: str) -> list[object]:
        try:
            return selector.select(self.root)
        except FAILURES as error:
            message = " ".join(str(error).split())
            self.failures.append(f"{role}: {selector.text!r}: {type(error).__name__}: {message}")
            return []

    def _field(self, name: str) -> tuple[str, ...]:
        selectors: Iterable[Selector] = getattr(self.wrapper, name)
        for selector in selectors:
            values = distinct_texts(self.tree, self._found(selector, name))
            if name == "published":
                dates = (find_date(text, self.tree.language) for text in values[:1])
                values = tuple(filter(None, dates))
            if values:
                self.hits.add((name, selector.text))
                return values
        return ()

    def _next_page(self) -> str:
        """The address that the first alternative with any has, of a link or a text."""
        for selector in self.wrapper.next_page:
            for each in self._found(selector, "next_page")[:MAX_VALUES]:
                text = each.get("href") if isinstance(each, Element) else each
                if isinstance(text, str) and text.strip():
                    return self.tree.without_numbers(text[:MAX_ADDRESS]).strip()
        return ""


def distinct_texts(tree: AlignedTree, found: Sequence[object]) -> tuple[str, ...]:
    """The texts of what a selector has *found* for a field, each once, with white space collapsed.

    In all they are about as long as the page, and those after that are left out: elements in one
    another contain one another's text, which would be many times the page.
    """
    left = len(tree.tokens.source)
    texts: dict[str, None] = {}
    for each in found[:MAX_VALUES]:
        text = _STRING(each) if isinstance(each, Element) else each
        if isinstance(text, str):
            texts[" ".join(tree.without_numbers(text).split())] = None
            left -= len(text)
        if left < 0:
            break
    return tuple(filter(None, texts))


def _outermost_last(nodes: list[Element]) -> Element:
    """Of *nodes*, in document order, the one that ends last: the last, or one that contains it."""
    last, selected = nodes[-1], set(nodes)
    for ancestor in last.iterancestors():
        if ancestor in selected:
            last = ancestor
    return last
