"""The pages of a site as read by the model, each with what the others tell about the site.

    pages -> read alone -> what each teaches -> read again with what the others teach

A page never votes on itself: its memory is that of the other pages, as in a crawl. A rule is
compared with this second reading, in words: their place in the page, and which of them the
model keeps. Some pages are excluded from the vote, each with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scrapy_mss.blocks.page import Page
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

MAX_TEACHERS: Final = 24  # pages whose memory the others are read with: more change nothing
NO_ARTICLE: Final = "no article"


@dataclass(frozen=True, eq=False)
class SitePage:
    """A page of the site: how the model read it, and its tree, or why it has none."""

    url: str
    page: Page
    extraction: Extraction
    tree: AlignedTree | Reason
    kept_alone: Bools  # bool[n_tokens]: what the model keeps that does not know the other pages

    @property
    def left_out(self) -> str:
        """Why the page has no vote; empty if it has one."""
        if isinstance(self.tree, Reason):
            return self.tree.value.replace("_", " ")
        return "" if self.extraction.is_article and self.target.any() else NO_ARTICLE

    @property
    def model_text(self) -> str:
        """What the model takes for the article; nothing if it takes the page for none."""
        return self.extraction.text if self.extraction.is_article else ""

    @lazy
    def before(self) -> Indices:
        """intp[n_tokens + 1]: the words before each token, and all of them."""
        is_word = self.extraction.tokens.is_word
        return np.append(0, is_word.cumsum()).astype(np.intp)

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
        """The article by *rule*; None of a page that has no tree."""
        if isinstance(self.tree, Reason):
            return None
        found = label_tree(rule, self.tree)
        if rule.body or found.reason is not None:
            return found
        return read_at(found, self.page, self.extraction)

    @property
    def root(self) -> Element:
        """The root of the tree, of a page that has one."""
        assert isinstance(self.tree, AlignedTree)
        assert self.tree.root is not None
        return self.tree.root

    @property
    def language(self) -> str | None:
        """What the page declares, of a page that has a tree."""
        assert isinstance(self.tree, AlignedTree)
        return self.tree.language

    @lazy
    def elements(self) -> dict[Element, tuple[int, int]]:
        """The elements in document order: the first word of each, and the one after its last."""
        assert isinstance(self.tree, AlignedTree)
        starts = self.tree.starts(self.root.iter("*"))
        before, end = self.before, self.tree.end
        return {
            element: (int(before[start]), int(before[max(start, end(element))]))
            for element, start in starts.items()
        }


def read_pages(
    pages: Sequence[StoredPage], extractor: Extractor, memory: SiteMemory | None = None
) -> tuple[SitePage, ...]:
    """Read *pages* of one site; *memory* is what crawls know of it besides."""
    known = memory or SiteMemory()
    minute = known.period * PERIOD_DAYS * MINUTES_A_DAY
    read = [Page.of(page.html, extractor.profile.stem, page.url) for page in pages]
    visits = [SiteContext(known, minute, page.url) for page in read]
    alone = [
        extractor.extract_page(page, visit).kept for page, visit in zip(read, visits, strict=True)
    ]
    lessons = [visit.update.added for visit in visits]
    teachers = [n for n, update in enumerate(lessons) if update.pages][:MAX_TEACHERS]
    of_all = SiteMemory.total([known, *(lessons[n] for n in teachers)])
    found = []
    for number, page in enumerate(read):
        others = of_all
        if number in teachers:
            rest = (lessons[n] for n in teachers if n != number)
            others = SiteMemory.total([known, *rest])
        extraction = extractor.extract_page(page, SiteContext(others, minute, page.url))
        tree = aligned(page.tokens)
        found.append(SitePage(page.url, page, extraction, tree, alone[number]))
    return tuple(found)
