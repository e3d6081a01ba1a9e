"""The pages of a site as the model reads them, and how far a rule agrees with it.

    pages -> read alone -> what each adds to the site memory -> read again with that of the others

A page never votes on itself: its memory is that of the other pages, as in a crawl. A rule is
compared with this second reading, in words: their place in the page, and which of them the
model keeps. Some pages are excluded from the vote, each with the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scrapy_mss.blocks.page import Page
from scrapy_mss.core.labels import words_of
from scrapy_mss.extractor import Extraction, Extractor
from scrapy_mss.files.stored_pages import StoredPage
from scrapy_mss.markup.lazy import lazy
from scrapy_mss.markup.tokens import Bools, Indices
from scrapy_mss.sites.context import SiteContext
from scrapy_mss.sites.memory import MINUTES_A_DAY, PERIOD_DAYS, SiteMemory
from scrapy_mss.wrappers.dom_alignment import AlignedTree
from scrapy_mss.wrappers.labeller import Labelling, Reason, aligned, label_tree
from scrapy_mss.wrappers.reading import read_at
from scrapy_mss.wrappers.rules import Wrapper
from scrapy_mss.wrappers.selectors import Element

MAX_IN_MEMORY: Final = 24  # pages in the site memory that the others are read with
NO_ARTICLE: Final = "no article"
UNKNOWN: Final = 0.5


@dataclass(frozen=True, eq=False)
class SitePage:
    """A page of the site: how the model read it, and its tree, or why it has none."""

    url: str
    page: Page
    extraction: Extraction
    aligned: AlignedTree | Reason
    kept_alone: Bools  # bool[n_tokens]: what the model keeps that does not know the other pages

    @property
    def left_out(self) -> str:
        """Why the page is not used; empty if it is."""
        if isinstance(self.aligned, Reason):
            return self.aligned.value.replace("_", " ")
        return "" if self.extraction.is_article and self.target.any() else NO_ARTICLE

    @property
    def model_text(self) -> str:
        """The article of the model; empty if it takes the page for another kind."""
        return self.extraction.text if self.extraction.is_article else ""

    @lazy
    def before(self) -> Indices:
        """intp[n_tokens + 1]: the words before each token, and all of them."""
        return np.append(0, self.extraction.tokens.is_word.cumsum()).astype(np.intp)

    @lazy
    def target(self) -> Bools:
        """bool[n_words]: which words the model keeps."""
        target: Bools = self.extraction.kept[self.extraction.tokens.is_word]
        return target

    @lazy
    def alone(self) -> Bools:
        """bool[n_words]: which words the model keeps that does not know the other pages."""
        alone: Bools = self.kept_alone[self.extraction.tokens.is_word]
        return alone

    def by_rule(self, rule: Wrapper) -> Labelling | None:
        """The article by *rule*; None if the page has no tree."""
        if isinstance(self.aligned, Reason):
            return None
        found = label_tree(rule, self.aligned)
        if rule.body or found.reason is not None:
            return found
        return read_at(found, self.page, self.extraction)

    @property
    def tree(self) -> AlignedTree:
        assert isinstance(self.aligned, AlignedTree)
        return self.aligned

    @property
    def root(self) -> Element:
        assert self.tree.root is not None
        return self.tree.root

    @lazy
    def elements(self) -> dict[Element, tuple[int, int]]:
        """The elements in document order: the first word of each, and the one after its last."""
        before, end = self.before, self.tree.end
        return {
            element: (int(before[start]), int(before[max(start, end(element))]))
            for element, start in self.tree.starts(self.root.iter("*")).items()
        }


def read_pages(
    pages: Sequence[StoredPage], extractor: Extractor, memory: SiteMemory | None = None
) -> tuple[SitePage, ...]:
    """Read *pages* of one site; *memory* is what crawls know of it besides."""
    known = memory or SiteMemory()
    minute = known.period * PERIOD_DAYS * MINUTES_A_DAY
    read = [Page.of(page.html, extractor.profile.stem, page.url) for page in pages]
    contexts = [SiteContext(known, minute, page.url) for page in read]
    alone = [
        extractor.extract_page(page, context).kept
        for page, context in zip(read, contexts, strict=True)
    ]
    added = [context.update.added for context in contexts]
    numbers = [n for n, each in enumerate(added) if each.pages][:MAX_IN_MEMORY]
    everything = SiteMemory.total([known, *(added[n] for n in numbers)])
    found = []
    for number, page in enumerate(read):
        others = everything
        if number in numbers:
            others = SiteMemory.total([known, *(added[n] for n in numbers if n != number)])
        extraction = extractor.extract_page(page, SiteContext(others, minute, page.url))
        found.append(SitePage(page.url, page, extraction, aligned(page.tokens), alone[number]))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class PageAgreement:
    """The articles of a rule and of the model; ``agreement`` is the F1 of their words, 0 to 1.

    ``model_text`` is empty if the model takes the page for no article, ``rule_text`` if the rule
    has not ``matched``.
    """

    url: str
    matched: bool
    agreement: float
    rule_text: str
    model_text: str


def agreements(rule: Wrapper, pages: Sequence[SitePage]) -> tuple[PageAgreement, ...]:
    """How far *rule* and the model agree on each of *pages*."""
    return tuple(_agreement(rule, page) for page in pages)


def _agreement(rule: Wrapper, page: SitePage) -> PageAgreement:
    found = page.by_rule(rule)
    text, model_text = found.text if found else "", page.model_text
    return PageAgreement(page.url, bool(text), word_f1(text, model_text), text, model_text)


def word_f1(one: str, other: str) -> float:
    """F1 of the words of two texts, in any order; 1 if both have none."""
    first, second = (Counter(words_of(text.lower())) for text in (one, other))
    n_words = first.total() + second.total()
    return 2 * (first & second).total() / n_words if n_words else 1.0


def expected(total: float, n_seen: int) -> float:
    """The mean to expect after a *total* of *n_seen*, and one more of an unknown value."""
    return (total + UNKNOWN) / (n_seen + 1)
