"""A wrapper and a page -> which tokens are the article, and the fields that the rule tells.

    number the start tags, parse      numbering.NumberedPage
    body's alternatives, in order     the first that selects words makes the span,
                                      from its first node to the end of its last
    exclude                           what it selects inside is labelled out
    trim                              the span begins and ends with a word or a sign
    title, authors, published         of each the first alternative that selects text

Nothing that a page can hold makes it fail: where nothing is labelled the reason is a value. A
selector that fails on this page is told in `Labelling.failures`; where it is one of ``exclude``
nothing is labelled, since what it was to take out would be taught as article.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from itertools import chain

import numpy as np
from lxml import etree

from scrapy_mss.markup.rendering import render
from scrapy_mss.markup.tokenizer import tokenize
from scrapy_mss.markup.tokens import Bools, Tokens
from scrapy_mss.wrappers.numbering import NumberedPage
from scrapy_mss.wrappers.rules import Between, Body, Wrapper
from scrapy_mss.wrappers.selectors import FAILURES, Element, Selector, having_class_or_id

_NOT_PLAIN = re.compile(r"[^\w-]")  # what a page may write as a reference
_STRING = etree.XPath("string()", smart_strings=False)


class Reason(Enum):
    """Why nothing is labelled; the value is the name in statistics."""

    EMPTY_PAGE = "empty_page"  # no element in it
    NO_MATCH = "no_match"  # the page has changed, or is none of this kind
    NO_WORDS = "no_words"  # what is selected, or what `exclude` leaves of it, is empty
    SELECTOR_FAILED = "selector_failed"


@dataclass(frozen=True, slots=True, eq=False)
class Labelling:
    """What a wrapper says of a page.

    ``inside`` is bool[n_tokens], the tokens of the article; ``text`` is what they read as.
    ``reason`` is None where anything is labelled. The fields are as they stand in the page, with
    blanks collapsed; a date is not interpreted.
    """

    wrapper: Wrapper
    tokens: Tokens
    inside: Bools
    reason: Reason | None = None
    text: str = ""
    title: str = ""
    authors: tuple[str, ...] = ()
    published: str = ""
    failures: tuple[str, ...] = ()

    @property
    def span(self) -> tuple[int, int]:
        """The first token of the article and the one behind its last."""
        at = np.flatnonzero(self.inside)
        return (int(at[0]), int(at[-1]) + 1) if len(at) else (0, 0)


def label(wrapper: Wrapper, source: str, tokens: Tokens | None = None) -> Labelling:
    """The labels that *wrapper* gives the page of *source*, whose *tokens* may be at hand."""
    if tokens is None:
        tokens = tokenize(source)
    elif tokens.source != source:
        raise ValueError("the tokens are not those of the source: leave them out to have them made")
    page = NumberedPage(tokens)
    root = page.root
    if root is None:
        return Labelling(wrapper, tokens, np.zeros(len(tokens), np.bool_), Reason.EMPTY_PAGE)
    return _Labeller(wrapper, page, root).label()


class _Labeller:
    """One wrapper at work on one page."""

    def __init__(self, wrapper: Wrapper, page: NumberedPage, root: Element) -> None:
        self.wrapper = wrapper
        self.page = page
        self.root = root
        self.failures: list[str] = []

    def label(self) -> Labelling:
        spans = (span for body in self.wrapper.body if (span := self._span(body)) is not None)
        first = next(spans, None)
        if first is None:
            return self._nothing(Reason.SELECTOR_FAILED if self.failures else Reason.NO_MATCH)
        excluded = self._excluded()
        if excluded is None:
            return self._nothing(Reason.SELECTOR_FAILED)
        inside = np.zeros_like(excluded)
        for start, end in chain([first], spans):
            inside[start:end] = ~excluded[start:end]
            if self._trim(inside):
                return self._labelled(inside)
        return self._nothing(Reason.NO_WORDS)

    def _labelled(self, inside: Bools) -> Labelling:
        title, published = self._field("title"), self._field("published")
        return Labelling(
            self.wrapper,
            self.page.tokens,
            inside,
            text=render(self.page.tokens, inside),
            title=title[0] if title else "",
            authors=self._field("authors"),
            published=published[0] if published else "",
            failures=tuple(self.failures),
        )

    def _nothing(self, reason: Reason) -> Labelling:
        tokens = self.page.tokens
        nothing = np.zeros(len(tokens), np.bool_)
        return Labelling(self.wrapper, tokens, nothing, reason, failures=tuple(self.failures))

    def _trim(self, inside: Bools) -> bool:
        """Take tags off both ends of *inside*; whether anything is left."""
        at = np.flatnonzero(inside & ~self.page.tokens.is_tag)
        first, behind = (int(at[0]), int(at[-1]) + 1) if len(at) else (0, 0)
        inside[:first] = inside[behind:] = False
        return bool(len(at))

    def _span(self, body: Body) -> tuple[int, int] | None:
        if isinstance(body, Between):
            starts = self._starts(self._elements(body.start, "body"))
            ends = self._starts(self._elements(body.end, "body"))
            end = next((end for end in ends if starts and end > starts[0]), None)
            return None if end is None else (starts[0], end)
        nodes = self._elements(body, "body")
        starts = self._starts(nodes)
        return (starts[0], self.page.end(_outermost_last(nodes))) if starts else None

    def _starts(self, nodes: list[Element]) -> list[int]:
        starts = map(self.page.start, nodes)
        return sorted(start for start in starts if start is not None)

    def _excluded(self) -> Bools | None:
        """bool[n_tokens]: what `exclude` selects; None if that cannot be known."""
        n_failures = len(self.failures)
        excluded = np.zeros(len(self.page.tokens), np.bool_)
        # One walk through the tree for all pieces, and none for those that the page does not have.
        has = self.page.tokens.clean.__contains__
        pieces = [each.text for each in self.wrapper.exclude if each.kind == "class_or_id"]
        pieces = [text for text in pieces if has(text) or _NOT_PLAIN.search(text)]
        nodes = having_class_or_id(self.root, pieces) if pieces else []
        for selector in self.wrapper.exclude:
            if selector.kind != "class_or_id":
                nodes += self._elements(selector, "exclude")
        if len(self.failures) > n_failures:
            return None
        begins = [(start, node) for node in nodes if (start := self.page.start(node)) is not None]
        last, behind = -1, 0
        for start, node in sorted(begins, key=_by_start):
            if start >= behind or start == last:  # else it is inside the one before
                last, behind = start, max(behind, self.page.end(node))
                excluded[last:behind] = True
        return excluded

    def _elements(self, selector: Selector, role: str) -> list[Element]:
        found = self._found(selector, role)
        return [node for node in found if isinstance(node, Element) and isinstance(node.tag, str)]

    def _found(self, selector: Selector, role: str) -> list[object]:
        try:
            found = selector.select(self.root)
        except FAILURES as error:
            said = " ".join(str(error).split())
            self.failures.append(f"{role}: {selector.text!r}: {type(error).__name__}: {said}")
            return []
        return found if isinstance(found, list) else [found]

    def _field(self, name: str) -> tuple[str, ...]:
        selectors: Iterable[Selector] = getattr(self.wrapper, name)
        for selector in selectors:
            texts = map(self._text, self._found(selector, name))
            values = tuple(dict.fromkeys(filter(None, texts)))
            if values:
                return values
        return ()

    def _text(self, found: object) -> str:
        text = _STRING(found) if isinstance(found, Element) else found
        return " ".join(self.page.without_numbers(text).split()) if isinstance(text, str) else ""


def _by_start(pair: tuple[int, Element]) -> int:
    return pair[0]


def _outermost_last(nodes: list[Element]) -> Element:
    """Of *nodes*, in document order, the one that ends last: no later node ends behind it."""
    last, chosen = nodes[-1], set(nodes)
    for around in last.iterancestors():
        if around in chosen:
            last = around
    return last
